"""Whether the script of a step ends with perfgate's exit code: seen of plain scripts, and of no others.

A plain script runs perfgate outside of functions, substitutions and the background, and looks at its status in one of
the usual ways (`if`, `|| { ...; exit 1; }`, `rc=$?` and later `exit $rc`). POSIX.1-2024, Shell Command Language, and
the manual of bash ("The Set Builtin", of -e and pipefail) are the sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_HEREDOC = re.compile(r"<<-?[ ]*['\"\\]?(\w+)['\"]?(.*)\n(?:.*\n)*?\s*\1$", re.MULTILINE)
_TOKEN = re.compile(
    r"""[ \t\r]+|\\\n|(?<![^\s;&|()])\#[^\n]*"""
    r"""|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\$\([^()]*\)|\d*[<>]+[&|]?|&>+|[^\s;&|()'"`\\])+)"""
    r"""|(?P<operator>&&|\|[|&]?|;;&?|;&|[;&()\n])""",
    re.DOTALL,
)
_LOOPS = ("for", "while", "until", "select")
_CLOSES = {"fi": ("then", "else", "elif"), "done": ("do",), "esac": ("case",), "}": ("{",), ")": ("(",)}
_OPENS = frozenset(["if", "case", "{", "(", *_LOOPS])
_RESERVED = frozenset([*_OPENS, *_CLOSES, "then", "elif", "else", "do"])
_JOINTS = frozenset(["&&", "||", "|", "|&"])
_FOLLOWED = frozenset(["then", "else", "do", "case", "{", "("])
_TAKEN = re.compile(r"(?:(?:^|[;\s])(?:fi|done|esac|\})|\))[ \t]*(?:[|&<>]|\d[<>])", re.MULTILINE)
"""What takes the status of a whole construct."""

_FAILED = r"(?:\[\[?|test) \"?{}\"? (?:-ne|-gt|!=) \"?0\"?(?: \]\]?)?"
_NEVER = "(?!)"


class _Command(NamedTuple):
    before: str
    """The operator or the reserved word."""
    words: list[str]
    after: str
    inside: list[tuple[str, int]]
    """The parts of constructs around it: reserved word, with a "?" if more is done to the status, and a number."""
    end: int
    """Where in the script it has ended."""


def keeps(script: str, decides: Callable[[Sequence[str]], bool], *, stops: bool, pipefail: bool) -> bool:
    """Return whether a script for bash or sh fails as a command in it does, if all others succeed; False: who knows.

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
            return False
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
            taken = _TAKEN.search(text, command.end) is not None
            if not _ends(command, commands[last:], now, piped=last > number, taken=taken):
                return False
    return found


def _is_beyond(command: _Command, decides: Callable[[Sequence[str]], bool], *, found: bool) -> bool:
    """Return whether a command may do to the rest of a script, or hide in itself, what nothing here follows."""
    name, text = command.words[0], " ".join(command.words)
    if name == "set":
        return command.inside != []
    if (name == "trap" and "exit" in text) or (name == "exit" and not found and not _fails(command.words, r"\$\?")):
        return True
    inner = (re.split(r"\s+", word.strip("\"'`$()")) for word in command.words if re.search(r"\s", word))
    return (name not in ("echo", "printf") or re.search(r"\$\(|`", text) is not None) and any(map(decides, inner))


def _ends(gate: _Command, rest: Sequence[_Command], now: Mapping[str, bool], *, piped: bool, taken: bool) -> bool:
    """Say whether a failure ends the script; rest: from the last command of its pipe on."""
    last, *others = rest
    inverted, asked = gate.words[0] == "!", gate.before == "if"
    around = gate.inside[:-1] if asked else gate.inside
    if around and (taken or not now["errexit"] or any(word not in _FOLLOWED for word, _ in around)):
        return False
    if asked and gate.after in ("\n", ";"):
        construct = gate.inside[-1][1]
        skipped = ("else" if inverted else "then", construct)
        others = [each for each in others if skipped not in each.inside]
        started = dict((others or [gate])[0].inside[-1:])
        status = r"\$\?" if ("else", construct) in started.items() else _NEVER
        return "elif" not in started and _exits(others, status)
    if asked or inverted or gate.before == "||" or last.after in ("&", "(") or last.inside != gate.inside:
        return False
    if piped and not now["pipefail"]:
        return gate.before != "|" and _exits(others, r"\$\{PIPESTATUS\[0\]\}")
    if last.after == "&&":
        return not around and all(each.before == "&&" for each in others)
    if last.after == "||" or not now["errexit"]:
        return _exits(others, r"\$\?") or (last.after != "||" and not others)
    return True


def _exits(rest: Sequence[_Command], status: str) -> bool:
    """Return whether what is run after a failure ends the script with one; status: how its first command has it."""
    held = variable = _NEVER
    way = rest[0].inside if rest else []
    for number, command in enumerate(rest):
        name, text = command.words[0], " ".join(command.words)
        always = command.inside == way[: len(command.inside)] and command.after in ("\n", ";")
        always = always and (not number or command.before not in _JOINTS)
        known = held if number else status
        if name == "exit":
            fails = _fails(command.words, known)
            if always or not fails:
                return always and fails
        elif name in ("exec", "return", "break", "continue"):
            return False
        elif not number and always and (given := re.fullmatch(rf"(\w+)=\"?{status}\"?", text)):
            variable, held = given[1], rf"\$\{{?{given[1]}(:-\w*)?\}}?"
        elif command.before == "if" and re.fullmatch(_FAILED.format(known), text):
            way = [*command.inside[:-1], ("then", command.inside[-1][1])]
        elif name not in ("echo", "printf") and re.search(rf"(^| )({variable})(=| |$)", text):
            still = command.before == "||" and re.fullmatch(rf"{variable}=(\$\?|[1-9]\d*)", text)
            if not still:
                return False
    return False


def _fails(words: Sequence[str], status: str) -> bool:
    return words[0] == "exit" and re.fullmatch(rf"|[1-9]\d*|\"?{status}\"?", " ".join(words[1:])) is not None


def _commands(text: str) -> list[_Command]:
    """Split a script into its simple commands; []: it is none, or its syntax is not known here."""
    found: list[_Command] = []
    opened: list[tuple[str, int]] = []
    words: list[str] = []
    before, at = "\n", 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return []
        at = match.end()
        sign = (match["word"] or match["operator"] or "").replace("\\\n", "")
        reserved = match["operator"] or not words
        unclear = "?" if words or before in ("||", "|", "|&", ")") else ""
        if match["operator"]:
            if words:
                found.append(_Command(before, words, sign, [*opened], match.start()))
            before, words = (sign if words or sign != "\n" else before), []
        # a pattern of `case` ends with a parenthesis, too
        of_case = sign == ")" and opened != [] and opened[-1][0].startswith("case")
        if reserved and sign in _RESERVED and not of_case:
            if not _nests(opened, sign, unclear, at):
                return []
        elif match["word"]:
            words.append(sign)
        if match["word"] and not words:
            before = sign
    return [] if opened or before in _JOINTS else found


def _nests(opened: list[tuple[str, int]], sign: str, unclear: str, at: int) -> bool:
    """Do to the constructs that are open what a reserved word does; False: it has no place here."""
    if sign in _OPENS:
        opened.append((sign + unclear, at))
        return True
    part, number = opened.pop() if opened else ("", 0)
    word = part.rstrip("?")
    if sign in _CLOSES:
        return word in _CLOSES[sign]
    # after `elif` the parts of a construct are not told apart
    opened.append((part.replace(word, sign) if word != "elif" else part, number))
    return word in ("if", "then", "elif", *_LOOPS)
