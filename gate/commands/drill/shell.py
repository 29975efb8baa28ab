"""What becomes of perfgate's exit code in the script of a step: told of plain scripts, and of no others.

A plain script runs perfgate outside of `if`, loops, functions and subshells. POSIX.1-2024, Shell Command Language, and
the manual of bash ("The Set Builtin", of -e and pipefail) are the sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

Fate = Literal["kept", "lost", "goes on", "piped", "not understood"]
"""The script fails as perfgate does; it ends with 0; so it does for want of -e, or of pipefail; nobody knows."""

_HEREDOC = re.compile(r"<<-?[ ]*['\"\\]?(\w+)['\"]?(.*)\n(?:.*\n)*?\s*\1$", re.MULTILINE)
_TOKEN = re.compile(
    r"""[ \t\r]+|\\\n|(?<![^\s;&|()])\#[^\n]*"""
    r"""|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\$\([^()]*\)|\d*[<>]+[&|]?|&>+|[^\s;&|()'"`\\])+)"""
    r"""|(?P<operator>&&|\|[|&]?|;;&?|;&|[;&()\n])""",
    re.DOTALL,
)
_LOOPS = ("for", "while", "until", "select")
_CLOSES = {"fi": ("if",), "done": _LOOPS, "esac": ("case",), "}": ("{",), ")": ("(",)}
_OPENS = frozenset(word for words in _CLOSES.values() for word in words)
_INNER = frozenset(["then", "elif", "else", "do", "in"])
_SUCCEED = frozenset(["true", "/bin/true", ":", "echo", "printf"])


class _Command(NamedTuple):
    before: str
    words: list[str]
    after: str
    nested: bool
    end: int
    """Where in the script it has ended."""


def fate(script: str, decides: Callable[[Sequence[str]], bool], *, stops: bool, pipefail: bool) -> Fate:
    """Return what becomes of the failure of a command in a script for bash or sh, taking it that all others succeed.

    Args:
        decides: whether these words, quoted as they are written, are that command.
        stops: the shell is started with -e.
        pipefail: it is started with -o pipefail.
    """
    text = _HEREDOC.sub(r"\2", script) + "\n"
    commands = _commands(text)
    now, found = {"errexit": stops, "pipefail": pipefail}, False
    for number, command in enumerate(commands):
        if _is_beyond(command, decides, found=found):
            return "not understood"
        if command.words[0] == "set":
            for option, value in zip(command.words[1:], [*command.words[2:], ""], strict=False):
                if re.fullmatch(r"[-+][a-zA-Z]+", option):
                    names = {"errexit" if "e" in option else "", value if option[-1] == "o" else ""}
                    now |= dict.fromkeys(names & {*now}, option[0] == "-")
        elif decides(command.words):
            found = True
            last = number
            while commands[last].after in ("|", "|&"):
                last += 1
            ends = _ends(commands[number], commands[last:], now, piped=last > number)
            if ends != "kept":
                # a script that looks at its status may still end with it
                looks = re.search(r"\$\?|PIPESTATUS", text[commands[last].end :])
                of_shell = stops if ends == "goes on" else pipefail
                return "not understood" if looks else "lost" if of_shell and ends != "not understood" else ends
    return "kept" if found else "not understood"


def _is_beyond(command: _Command, decides: Callable[[Sequence[str]], bool], *, found: bool) -> bool:
    """Return whether a command may do to the rest of a script, or hide in itself, what nothing here follows."""
    name, text = command.words[0], " ".join(command.words)
    if name == "set":
        return command.nested
    if (name == "trap" and "exit" in text) or (name == "exit" and not found and not _fails(command.words)):
        return True
    inner = (re.split(r"\s+", word.strip("\"'`$()")) for word in command.words if re.search(r"\s", word))
    return (name not in ("echo", "printf") or re.search(r"\$\(|`", text) is not None) and any(map(decides, inner))


def _ends(gate: _Command, rest: Sequence[_Command], now: Mapping[str, bool], *, piped: bool) -> Fate:
    """Say what becomes of a failure; rest: from the last command of its pipe on."""
    last, *others = rest
    if gate.nested or last.nested or gate.before == "||" or last.after in ("&", "&&", "("):
        return "not understood"
    if gate.words[0] == "!":
        return "lost"
    if piped and not now["pipefail"]:
        return "piped"
    if last.after == "||":
        instead = others[0].words
        if _fails(instead) and others[0].after in ("\n", ";"):
            return "kept"
        succeeds = not others[0].nested and (instead[0] in _SUCCEED or instead == ["exit", "0"])
        return "lost" if succeeds else "not understood"
    return "kept" if now["errexit"] or not others else "goes on"


def _fails(words: Sequence[str]) -> bool:
    return words[0] == "exit" and re.fullmatch(r"|[1-9]\d*|\"?\$\?\"?", " ".join(words[1:])) is not None


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
        sign = (match["word"] or match["operator"] or "").replace("\\\n", "")
        if match["operator"]:
            if words:
                found.append(_Command(before, words, sign, bool(opened), at))
            before, words = (sign if words or sign != "\n" else before), []
        reserved = match["operator"] or not words
        if reserved and sign in _OPENS:
            opened.append(sign)
        elif reserved and sign in _CLOSES:
            # a pattern of `case` ends with one, too
            if not (sign == ")" and opened[-1:] == ["case"]) and (not opened or opened.pop() not in _CLOSES[sign]):
                return []
        elif match["word"] and not (reserved and sign in _INNER):
            words.append(sign)
    return [] if opened or before in ("&&", "||", "|", "|&") else found
