"""Whether the failure of a command is the failure of the script that runs it: a small model of bash and sh.

The script is gone through as a shell would, and nothing is run. The command fails, all others succeed. What a test
such as `[ -n "$X" ]` gives is not known, so that both answers are tried. POSIX.1-2024, Shell Command Language, and the
manual of bash ("The Set Builtin", of -e and pipefail) are the sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r]+|\\\n|(?<![^\s;&|(])\#[^\n]*)|<<-?[ ]*['"\\]?(?P<end>\w+)['"]?"""
    r"""|(?P<redirect>\d*(?:<<<|>>|>\||[<>]&|<>|<(?!\()|>(?!\())|&>>?)|;;&?|;&|&&|\|\||\|&|[;&|()\n]"""
)
_OPENS = re.compile(r"\$\(\(|[$<>]\(")
_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_JOINTS = frozenset(["", "\n", ";", "&", "|", "|&", "&&", "||", ")", "(", ";;", ";&", ";;&"])
_ENDS = frozenset(["then", "do", "done", "fi", "elif", "else", "esac", "}", ")", ";;", ";&", ";;&", ""])
_TESTS = frozenset(["[", "[[", "test", "grep"])


class _UnclearError(Exception):
    """The script is none that this model knows."""


class _Ends(Exception):  # noqa: N818  # how a script, a function or a loop is left
    def __init__(self, how: str, status: int) -> None:
        super().__init__(how)
        self.how, self.status = how, status


def loses(script: str, fails: Callable[[Sequence[str]], bool], *, stops: bool, pipefail: bool) -> bool:
    """Return whether a script ends with 0 though a command in it fails.

    Args:
        script: for bash or sh.
        fails: whether these words are that command.
        stops: the shell was started with -e.
        pipefail: it was started with -o pipefail.
    """
    shells = [_Shell(fails, stops, pipefail, truth) for truth in (True, False)]
    try:
        ended = [shell.whole(script) for shell in shells]
    except (_UnclearError, RecursionError):
        return False
    return any(shell.met for shell in shells) and not any(ended)


_Run = Callable[["_Shell", bool], None]
"""A part of a script, to be gone through; the flag: its failure is looked at, so that it does not end a shell."""


@dataclass
class _Shell:
    """What a shell knows while it goes through a script."""

    fails: Callable[[Sequence[str]], bool]
    stops: bool
    pipefail: bool
    truth: bool
    """What tests give."""
    met: bool = False
    status: int = 0
    behind: int = 0
    """How the last command in the background ended."""
    kept: dict[str, int] = field(default_factory=dict)
    functions: dict[str, _Run] = field(default_factory=dict)
    traps: dict[str, str] = field(default_factory=dict)

    def whole(self, script: str) -> int:
        """Go through a script and its traps, and return how it ends."""
        run = _Parser(script).script()
        try:
            run(self, False)
        except _Ends as end:
            self.status = end.status
        return self.trapped("EXIT", self.status)

    def trapped(self, name: str, status: int) -> int:
        """Return how the shell ends after a trap."""
        try:
            _Parser(self.traps.pop(name, "")).script()(self, True)
        except _Ends as end:
            return end.status
        return status

    def inner(self, script: str, *, stops: bool = False, pipefail: bool = False) -> int:
        """Return how a script ends in a shell of its own."""
        shell = _Shell(self.fails, stops, pipefail, self.truth, kept=dict(self.kept), functions=self.functions)
        status = shell.whole(script)
        self.met |= shell.met
        return status

    def stop(self, *, checked: bool) -> None:
        """End the shell if a command has failed."""
        if self.status and self.stops and not checked:
            raise _Ends("exit", self.trapped("ERR", self.status))

    def simple(self, given: Sequence[str], *, checked: bool) -> None:
        """Go through a command of words."""
        before, self.status, words = self.status, 0, list(given)
        for word in words:
            for script in _inside(word):
                self.status = self.inner(script, pipefail=self.pipefail)
        while words and (assigned := _ASSIGNED.fullmatch(words[0])):
            self.assign(assigned, before)
            words.pop(0)
        if words:
            self.status = self.called(words[0], words[1:], before, checked=checked)

    def assign(self, assigned: re.Match[str], before: int) -> None:
        value = self.number(assigned[2], before)
        if value is not None:
            self.kept[assigned[1]] = value

    def number(self, text: str, before: int) -> int | None:
        """Return the status that a text stands for; None: it is not known."""
        text = text.strip("\"'")
        if text == "$?":
            return before
        name = re.fullmatch(r"\$\{?(\w+)(?::?-\w*)?\}?", text)
        return int(text) if text.isdigit() else self.kept.get(name[1]) if name else None

    def called(self, name: str, rest: Sequence[str], before: int, *, checked: bool) -> int:
        """Return the status of a command, after what it changes."""
        if self.fails([name, *rest]):
            self.met = True
            return 1
        if name in self.functions:
            return self.function(name, checked=checked)
        if name == "eval":
            _Parser(" ".join(each.strip("\"'") for each in rest)).script()(self, checked)
            return self.status
        if (nested := _nested([name, *rest])) is not None:
            flags, script = nested
            return self.inner(script, stops=re.search(r"-[a-z]*e", flags) is not None, pipefail="pipefail" in flags)
        return self.built_in(name, rest, before, checked=checked)

    def built_in(self, name: str, rest: Sequence[str], before: int, *, checked: bool) -> int:
        """Do what a command of the shell's own does to the shell."""
        if name in ("exit", "return", "break", "continue"):
            value = self.number(rest[0], before) if rest else before
            raise _Ends("break" if name == "continue" else name, 1 if value is None else value)
        if name == "set":
            self.options(rest)
        elif name == "trap":
            of = ["EXIT" if each == "0" else each.upper() for each in rest[1:]]
            self.traps.update(dict.fromkeys(of, rest[0][1:-1]) if of else {})
        elif name in ("export", "local", "declare", "readonly", "typeset"):
            for assigned in filter(None, map(_ASSIGNED.fullmatch, rest)):
                self.assign(assigned, before)
        elif name == "wait" and rest:
            return self.behind
        return int(name == "false" or ((name in _TESTS or name.startswith("((")) and checked and not self.truth))

    def function(self, name: str, *, checked: bool) -> int:
        try:
            self.functions[name](self, checked)
        except _Ends as ends:
            if ends.how != "return":
                raise
            return ends.status
        return self.status

    def options(self, words: Sequence[str]) -> None:
        """Do what `set` does to -e and pipefail."""
        for word, value in zip(words, [*words[1:], ""], strict=False):
            if re.fullmatch(r"[-+][a-zA-Z]+", word) is None:
                continue
            named = value if word.endswith("o") else ""
            if "e" in word or named == "errexit":
                self.stops = word.startswith("-")
            if named == "pipefail":
                self.pipefail = word.startswith("-")


class _Parser:
    """Turns a script into what goes through it."""

    def __init__(self, script: str) -> None:
        # split a script into words as they are written and operators; three empty ones end them
        found: list[str] = []
        ends: list[str] = []
        at = 0
        while at < len(script):
            match = _TOKEN.match(script, at)
            if match is None:
                stop = _word(script, at)
                found.append(script[at:stop].replace("\\\n", ""))
                at = stop
                continue
            at = match.end()
            if match["end"]:
                ends.append(match["end"])
            elif not match["gap"]:
                found.append(match[0])
            while match[0] == "\n" and ends:
                body = re.compile(rf"^\s*{ends.pop(0)}$", re.MULTILINE).search(script, at)
                at = body.end() if body else len(script)
        self.tokens = [*found, "", "", ""]
        self.at = 0

    @property
    def here(self) -> str:
        return self.tokens[self.at]

    def take(self, *words: str) -> str:
        """Take the next word, which must be one of these."""
        word = self.here
        if word == "" or (words and word not in words):
            raise _UnclearError
        self.at += 1
        return word

    def skip(self, *words: str) -> None:
        while self.here in words:
            self.at += 1

    def script(self) -> _Run:
        run = self.several()
        if self.here != "":
            raise _UnclearError
        return run

    def several(self) -> _Run:
        """Take commands up to a word that ends them."""
        runs: list[_Run] = []
        self.skip("\n", ";")
        while self.here not in _ENDS:
            runs.append(self.chain())
            self.skip("\n", ";")

        def run(shell: _Shell, checked: bool) -> None:
            for each in runs:
                each(shell, checked)

        return run

    def chain(self) -> _Run:
        """Take pipelines between && and ||, of which only the last can end the shell."""
        parts = [("", self.pipeline())]
        while self.here in ("&&", "||"):
            joint = self.take()
            self.skip("\n")
            parts.append((joint, self.pipeline()))
        behind = self.here == "&"
        self.skip("&")

        def run(shell: _Shell, checked: bool) -> None:
            for number, (joint, part) in enumerate(parts):
                if not joint or (shell.status == 0) == (joint == "&&"):
                    part(shell, checked or behind or number < len(parts) - 1)
            if behind:
                shell.behind, shell.status = shell.status, 0

        return run

    def pipeline(self) -> _Run:
        """Take commands that are joined by pipes."""
        turned = self.here == "!"
        self.skip("!")
        parts = [self.command()]
        while self.here in ("|", "|&"):
            self.take()
            self.skip("\n")
            parts.append(self.command())

        def run(shell: _Shell, checked: bool) -> None:
            statuses = []
            for part in parts:
                part(shell, checked or turned or len(parts) > 1)
                statuses.append(shell.status)
            shell.status = max(statuses) if shell.pipefail else statuses[-1]
            if turned:
                shell.status = int(not shell.status)
            shell.stop(checked=checked or turned)

        return run

    def command(self) -> _Run:
        """Take one command with its redirections."""
        word = self.here
        takes: Mapping[str, Callable[[], _Run]] = {
            "(": self.subshell, "{": self.group, "if": self.branches, "case": self.case, "function": self.definition,
            **dict.fromkeys(("while", "until", "for", "select"), self.loop),
        }  # fmt: skip
        if self.tokens[self.at + 1 : self.at + 3] == ["(", ")"]:
            run = self.definition()
        elif word in takes:
            run = takes[word]()
        else:
            run = self.words()
        self.redirections()
        return run

    def redirections(self) -> list[str]:
        """Take redirections, and return the files and texts that they name."""
        found = []
        while re.fullmatch(r"\d*[<>]+[&|>]?|&>>?", self.here):
            self.take()
            found.append(self.take())
        return found

    def words(self) -> _Run:
        words: list[str] = []
        while self.here not in _JOINTS:
            named = self.redirections()
            words += [each for each in named if _OPENS.search(each)] if named else [self.take()]
        if self.here == "(":
            raise _UnclearError
        return lambda shell, checked: shell.simple(words, checked=checked)

    def group(self) -> _Run:
        self.take("{")
        run = self.several()
        self.take("}")
        return run

    def subshell(self) -> _Run:
        self.take("(")
        inside = self.several()
        self.take(")")

        def run(shell: _Shell, checked: bool) -> None:
            before = shell.stops, shell.pipefail
            try:
                inside(shell, checked)
            except _Ends as ends:
                shell.status = ends.status
            shell.stops, shell.pipefail = before
            shell.stop(checked=checked)

        return run

    def branches(self) -> _Run:
        arms: list[tuple[_Run, _Run]] = []
        while self.here in ("if", "elif"):
            self.take()
            condition = self.several()
            self.take("then")
            arms.append((condition, self.several()))
        otherwise = None
        if self.take("else", "fi") == "else":
            otherwise = self.several()
            self.take("fi")

        def run(shell: _Shell, checked: bool) -> None:
            for condition, then in arms:
                condition(shell, True)
                if shell.status == 0:
                    return then(shell, checked)
            if otherwise is not None:
                return otherwise(shell, checked)
            shell.status = 0
            return None

        return run

    def loop(self) -> _Run:
        """Take a loop, which is gone through once."""
        word = self.take()
        condition = self.several() if word in ("while", "until") else None
        while condition is None and self.here != "do":
            self.take()
        self.take("do")
        body = self.several()
        self.take("done")

        def run(shell: _Shell, checked: bool) -> None:
            if condition is not None:
                condition(shell, True)
                goes, shell.status = (shell.status == 0) == (word == "while"), 0
                if not goes:
                    return
            try:
                body(shell, checked)
            except _Ends as ends:
                if ends.how != "break":
                    raise
                shell.status = 0

        return run

    def case(self) -> _Run:
        """Take all branches of a case, which are gone through in turn: what is matched is not known."""
        while self.take() != "in":
            pass
        branches: list[_Run] = []
        self.skip("\n")
        while self.here != "esac":
            while self.take() != ")":
                pass
            branches.append(self.several())
            self.skip(";;", ";&", ";;&", "\n")
        self.take("esac")

        def run(shell: _Shell, checked: bool) -> None:
            status = shell.status
            for branch in branches:
                shell.status = status
                branch(shell, checked)
            if not branches:
                shell.status = 0

        return run

    def definition(self) -> _Run:
        self.skip("function")
        name = self.take()
        self.skip("(", ")", "\n")
        body = self.command()

        def run(shell: _Shell, checked: bool) -> None:  # noqa: ARG001  # nothing in it is run yet
            shell.functions[name], shell.status = body, 0

        return run


def _word(script: str, at: int) -> int:
    while at < len(script) and script[at] not in " \t\r\n;&|()":
        if script[at] in "\"'`":
            at = _quoted(script, at)
        elif _OPENS.match(script, at):
            at = _closed(script, at + 1)
        elif script.startswith("${", at):
            at = script.find("}", at) + 1 or len(script)
        elif script[at] in "<>":
            break
        else:
            at += 2 if script[at] == "\\" else 1
    return min(at, len(script))


def _quoted(script: str, at: int) -> int:
    """Return the place behind what is quoted."""
    mark, at = script[at], at + 1
    while at < len(script) and script[at] != mark:
        if mark == '"' and _OPENS.match(script, at):
            at = _closed(script, at + 1)
        else:
            at += 2 if script[at] == "\\" and mark != "'" else 1
    if at >= len(script):
        raise _UnclearError
    return at + 1


def _closed(script: str, at: int) -> int:
    """Return the place behind the parenthesis that closes the one here."""
    depth = 0
    while at < len(script):
        if script[at] in "\"'`":
            at = _quoted(script, at)
            continue
        depth += {"(": 1, ")": -1}.get(script[at], 0)
        at += 2 if script[at] == "\\" else 1
        if depth == 0:
            return at
    raise _UnclearError


def _nested(words: Sequence[str]) -> tuple[str, str] | None:
    """Find `sh -c SCRIPT` in words, also behind `timeout 1h`: the flags of the shell, and its script."""
    shell = next((number for number, each in enumerate(words) if each.rpartition("/")[2] in ("bash", "sh")), len(words))
    for number, word in enumerate(words[shell:-1], shell):
        if re.fullmatch(r"-[a-z]*c", word):
            return " ".join(words[shell : number + 1]), words[number + 1][1:-1]
    return None


def _inside(word: str) -> Iterator[str]:
    """Give the scripts whose output a word takes."""
    at = 0
    while at < len(word):
        if word[at] == "'" and not word.startswith('"'):
            at = _quoted(word, at)
        elif word[at] == "`":
            stop = _quoted(word, at)
            yield word[at + 1 : stop - 1]
            at = stop
        elif (match := _OPENS.match(word, at)) is not None:
            stop = _closed(word, at + 1)
            if match[0] != "$((":
                yield word[at + 2 : stop - 1]
            at = stop
        else:
            at += 2 if word[at] == "\\" else 1
