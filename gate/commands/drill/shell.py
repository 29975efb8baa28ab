"""What becomes of perfgate's exit code in the script of a step: told where it is a command outside of all constructs.

POSIX.1-2024, Shell Command Language, and the manual of bash ("The Set Builtin", of -e and pipefail) are the sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

Fate = Literal["kept", "lost", "goes-on", "piped", "unknown"]
"""The script fails as perfgate does; it ends with 0; so it does for want of -e, or of pipefail; nobody knows."""

_HEREDOC = re.compile(r"<<-?[ ]*['\"\\]?(\w+)['\"]?(.*)\n(?:.*\n)*?\s*\1$", re.MULTILINE)
_TOKEN = re.compile(
    r"""[ \t\r]+|\\\n|(?<![^\s;&|()])\#[^\n]*"""
    r"""|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\$\([^()]*\)|\d*[<>]+[&|]?|&>+|[^\s;&|()'"`\\])+)"""
    r"""|(?P<operator>&&|\|[|&]?|;;&?|;&|[;&()\n])""",
    re.DOTALL,
)
_CLOSED_BY = dict.fromkeys(("for", "while", "until", "select"), "done")
_CLOSED_BY |= {"if": "fi", "case": "esac", "{": "}", "(": ")"}
_JOINTS = ("&&", "||", "|", "|&")
_PARTS = frozenset(["then", "elif", "else", "do"])
_SUCCEEDS = re.compile(r"(true|/bin/true|:|echo|printf)( .*)?|exit 0")
_FAILS = re.compile(r"exit( [1-9]\d*| \$\?)?")


class _Command(NamedTuple):
    before: str
    """The operator in front of it."""
    words: list[str]
    after: str
    depth: int
    """Constructs (`if`, `{`, ...) that it stands in."""


def fate(script: str, decides: Callable[[Sequence[str]], bool], *, stops: bool, pipefail: bool) -> Fate:
    """Return what becomes of the failure of a command in a script for bash or sh, taking it that all others succeed.

    Args:
        decides: whether these words, quoted as they are written, are that command.
        stops: the shell is started with -e.
        pipefail: it is started with -o pipefail.
    """
    commands = _commands(_HEREDOC.sub(r"\2", script) + "\n")
    now, found = {"errexit": stops, "pipefail": pipefail}, False
    for number, command in enumerate(commands):
        words, text = command.words, " ".join(command.words)
        name, gate = words[0], decides(words)
        inner = (re.split(r"\s+", word.strip("\"'`$()")) for word in words if re.search(r"\s", word))
        hides = (name not in ("echo", "printf") or re.search(r"\$\(|`", text)) and any(map(decides, inner))
        # what ends the script, or changes how it ends, elsewhere than here is not followed
        ends = name == "exit" and not found and not _FAILS.fullmatch(text)
        if hides or ends or (name == "trap" and "exit" in text) or (command.depth and (gate or name == "set")):
            return "unknown"
        if name == "set":
            for option, value in zip(words[1:], [*words[2:], ""], strict=False):
                if re.fullmatch(r"[-+][a-zA-Z]+", option):
                    names = {"errexit" if "e" in option else "", value if option[-1] == "o" else ""}
                    now |= dict.fromkeys(names & {*now}, option[0] == "-")
        if gate:
            found, end = True, _end(commands[number:], now)
            if end != "kept":
                # it was switched off
                return "lost" if (end == "goes-on" and stops) or (end == "piped" and pipefail) else end
    return "kept" if found else "unknown"


def _end(commands: Sequence[_Command], now: Mapping[str, bool]) -> Fate:
    """Say what becomes of the failure of the first command; now: options of the shell."""
    gate, last = commands[0], next(n for n, each in enumerate(commands) if each.after not in ("|", "|&"))
    after, rest = commands[last].after, commands[last + 1 :]
    plain = gate.before in ("\n", ";", "&&") and after in ("\n", ";", "&&", "||") and not commands[last].depth
    if not plain:
        return "unknown"
    if gate.words[0] == "!":
        return "lost"
    # a script that looks at its status may still end with it
    looks = any(re.search(r"\$\?|PIPESTATUS", " ".join(each.words)) for each in rest)
    if last and not now["pipefail"]:
        return "unknown" if looks else "piped"
    if after == "||":
        instead = "" if rest[0].depth or rest[0].after not in ("\n", ";") else " ".join(rest[0].words)
        return "kept" if _FAILS.fullmatch(instead) else "lost" if _SUCCEEDS.fullmatch(instead) else "unknown"
    if after == "&&":
        return "unknown" if any(each.before != "&&" for each in rest) else "kept"
    return "kept" if now["errexit"] or not rest else "unknown" if looks else "goes-on"


def _commands(text: str) -> list[_Command]:
    """Split a script into its simple commands; []: it is none, or its syntax is not known here."""
    found: list[_Command] = []
    opened: list[str] = []
    words: list[str] = []
    before, at = "\n", 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return []
        at = match.end()
        word, operator = (match["word"] or "").replace("\\\n", ""), match["operator"]
        if operator and words:
            found.append(_Command(before, words, operator, len(opened)))
        if operator:
            # a line may end behind what joins commands
            before, words = (before if operator == "\n" and not words and before in _JOINTS else operator), []
        sign = operator or ("" if words else word)
        if sign in _CLOSED_BY:
            opened.append(_CLOSED_BY[sign])
        elif opened and sign == opened[-1]:
            opened.pop()
        elif sign in _CLOSED_BY.values():
            # a pattern of `case` ends with a parenthesis, too
            if sign != ")" or opened[-1:] != ["esac"]:
                return []
        elif word and not (sign in _PARTS and opened):
            words.append(word)
            continue
        before = sign if word else before
    return [] if opened or before in _JOINTS else found
