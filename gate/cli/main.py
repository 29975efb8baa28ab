"""The entry point: argv -> command -> exit code; loads nothing heavy."""

from __future__ import annotations

import argparse
import errno
import gc
import io
import os
import re
import shlex
import shutil
import signal
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO

from gate import __version__
from gate.cli.command import LAST, Command, command_names, command_of, meanings
from gate.cli.lacks import lack_of, too_little_memory
from gate.cli.options import BEHIND, WORDS, add_options, options_of
from gate.codes import Exit, of_signal
from gate.writing.phrases import most_alike
from gate.writing.streams import ASCII_ONLY, prefix

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WIDEST = 100
"""Columns of a help."""
_CHOICES = 12
"""Of an option that are named."""


class _EndError(Exception):
    """Ends parsing with an exit code; the message has been written."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Parser(argparse.ArgumentParser):
    """Writes where main says and ends by an exception, so that a command line can be tried in process."""

    out: TextIO = sys.stdout
    err: TextIO = sys.stderr

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, add_help=False, allow_abbrev=False)
        self._optionals.title, self._positionals.title = "options", "arguments"

    def add_help_option(self) -> None:
        """Add --help: to the options without a heading of their own, or else behind all others."""
        groups = [group for group in self._action_groups if group._group_actions and group is not self._positionals]
        group = groups[-1] if groups and self._optionals not in groups else self._optionals
        group.add_argument("-h", "--help", action="help", help="show this help and exit")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        (self.err if file is sys.stderr else self.out).write(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End parsing with a code."""
        if message:
            self.err.write(message)
        raise _EndError(status)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(each) for each in action.choices]
        name = "/".join(action.option_strings) or str(action.metavar)
        raise argparse.ArgumentError(
            None, f"{name}: {value!r:.80} is not one of {most_alike(str(value), known, _CHOICES)}{_meant(value, known)}"
        )

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one line."""
        self.exit(Exit.USAGE, f"{prefix(self.err, self.prog)} {message}; see {self.prog} --help\n")


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""No fault of the command line: the disk's, whatever was written."""


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run one command line and return its exit code; nothing is raised but KeyboardInterrupt and SystemExit.

    argv: without the program's name. out takes the report, err everything else.
    """
    if os.environ.get("GITHUB_ACTIONS") == "true" and not {"action", "publish"} & set(argv[:1]):
        # these two speak to the runner, and fence in what they show by themselves
        out, err = Harmless(out), Harmless(err)
    _Parser.out, _Parser.err = out, err
    try:
        named = _invocation(list(argv))
        parser = _parser(named)
        parsed = _parsed(parser, named)
        # what no line can show as it was typed is not proposed again
        setattr(parsed, WORDS, tuple(argv) if all(map(str.isprintable, argv)) else ())
        options = options_of(named.command.options, parsed)
        lacking = too_little_memory()
        if lacking is not None:
            err.write(f"{prefix(err)} {lacking}\n")
            return Exit.ERROR
        return int(named.command.run(options, out, err))
    except _EndError as end:
        return end.code
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            # within an import, where Python made a RuntimeError of it
            raise error.__cause__ from None
        if isinstance(error, OSError) and error.filename is None and error.errno == errno.ENOSPC:
            # standard output is on that disk: run() says so
            raise
        return _failed(error, err)


def _failed(error: Exception, err: TextIO) -> int:
    """Say in one line what ended a command; return its exit code, which is never a pass."""
    code = getattr(error, "exit_code", None)
    if code is not None:
        # names of benchmarks come from files, and may hold anything
        from gate.writing.plain import visible

        err.writelines(f"{prefix(err)} {visible(str(each))}\n" for each in getattr(error, "errors", (error,)))
        return Exit.ERROR if _is_of_disk(error) else int(code)
    lacking = lack_of(error)
    if lacking is not None:
        err.write(f"{prefix(err)} {lacking}\n")
        return Exit.ERROR
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        err.write(f"{prefix(err)} {name}{error.strerror or error}\n")
        return Exit.ERROR if _is_of_disk(error) else Exit.USAGE
    # a fault of perfgate itself is one line too
    if os.environ.get("PERFGATE_TRACEBACK"):
        raise error
    kind = type(error).__name__
    err.write(f"{prefix(err)} internal error, {kind}: {error} (PERFGATE_TRACEBACK=1 shows where); please report it\n")
    return Exit.ERROR


def _is_of_disk(error: BaseException | None) -> bool:
    """Return whether an error, or what it was made of, is of a disk and not of the command line."""
    while error is not None and not (isinstance(error, OSError) and error.errno in _FULL):
        error = error.__cause__ or error.__context__
    return error is not None


def run() -> NoReturn:
    """Run the process's command line and exit."""
    # a stream that the caller closed is none at all in Python
    null = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # open as long as the process
    out, err = sys.stdout or null, null
    if sys.stderr:
        raw = io.BufferedWriter(_Forgiving(sys.stderr.fileno(), "w", closefd=False))
        err = io.TextIOWrapper(raw, sys.stderr.encoding, ASCII_ONLY, line_buffering=True)
    if isinstance(out, io.TextIOWrapper):
        # a table without its glyphs is better than none
        out.reconfigure(errors=ASCII_ONLY)
    sys.stderr = err
    try:
        code = main(sys.argv[1:], out, err)
        out.flush()
    except OSError as error:
        # the reader (head, less) has gone, or a disk is full: no more output, and no traceback at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        code = of_signal(signal.SIGPIPE)
        if not isinstance(error, BrokenPipeError):
            err.write(f"perfgate: standard output: {error.strerror}\n")
            code = Exit.ERROR
    except KeyboardInterrupt:
        code = of_signal(signal.SIGINT)
    # at exit the collector would walk through all that was made and loaded, and free nothing that the system does not
    gc.freeze()
    sys.exit(code)


class _Forgiving(io.FileIO):
    """Standard error on a disk that is full, or whose reader has gone: what cannot be said changes no exit code."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _formatter(*, prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=_width())


def _width() -> int:
    return max(30, min(shutil.get_terminal_size().columns, _WIDEST) - 2)


class _Invocation(NamedTuple):
    """The command that a command line names, and the words behind its name."""

    name: str
    command: Command
    words: list[str]


def _invocation(words: list[str]) -> _Invocation:
    names = command_names()
    if words[:1] == ["help"]:
        words = [*(word for word in words if word not in ("help", "--help")), "--help"]
    if not words or words[0] not in names:
        # --version and --help end here, and so does a name that there is not
        wants_help = not words or words[0] in ("-h", "--help")
        parser = _Parser(
            prog="perfgate",
            description=textwrap.fill(
                "Performance gate: fails only on a slowdown beyond the threshold that noise cannot explain.", _width()
            ),
            # the help lines cost an import each
            epilog=f"{_overview(names)}\n{_codes(list(Exit))}" if wants_help else "",
            formatter_class=_formatter,
            usage="perfgate COMMAND [OPTIONS]",
        )
        parser.add_argument(
            "-V", "--version", action="version", version=f"perfgate {__version__}", help="show the version and exit"
        )
        parser.add_help_option()
        _refuse_unknown(parser, words[:1])
        if words and not words[0].startswith("-"):
            parser.error(f"{words[0]!r} is not a command{_meant(words[0], names)}")
        parser.parse_known_args(words or ["--help"])
        parser.error(f"{words[0]} is not an option")
    found = _Invocation(words[0], command_of(words[0]), words[1:])
    if found.words and found.words[0] in found.command.parts:
        part = found.words[0]
        return _Invocation(f"{found.name} {part}", found.command.parts[part], found.words[1:])
    return found


def _overview(names: Sequence[str]) -> str:
    found = sorted(((command_of(name), name) for name in names), key=lambda each: (each[0].place, each[1]))
    first = [(command, name) for command, name in found if command.place != LAST]
    lists = (("commands", first), ("more", found[len(first) :]))
    longest = max(map(len, names))
    return "\n".join(
        f"{title}:\n" + "".join(_indented(f"{name:<{longest}}", command.help) for command, name in listed_)
        for title, listed_ in lists
    )


def _parser(named: _Invocation) -> _Parser:
    command = named.command
    parts = "".join(_indented(f"{name:<9}", part.help) for name, part in command.parts.items())
    parser = _Parser(
        # an abbreviation would change its meaning with the next option
        prog=f"perfgate {named.name}",
        description=textwrap.fill(f"{command.help[0].upper()}{command.help[1:]}.", _width()),
        epilog=(f"subcommands:\n{parts}\n" if parts else "")
        + "example:\n"
        + "".join(f"  {line}\n" for line in command.example.splitlines())
        + (f"\n{_codes(command.codes, command)}" if command.codes else ""),
        formatter_class=_formatter,
    )
    add_options(parser, command.options)
    parser.add_help_option()
    if not {"-h", "--help"}.isdisjoint(named.words):
        # its types cost milliseconds that only a help needs
        from gate.cli.catalogue import parameter, usage

        parser.usage = usage(parser.prog, (parameter(each) for each in parser._actions))
    return parser


def _indented(name: str, text: str) -> str:
    """Return a line of a list in the epilog, broken where the terminal ends."""
    first = f"  {name}  "
    return textwrap.fill(text, _width(), initial_indent=first, subsequent_indent=" " * len(first)) + "\n"


def _codes(codes: Sequence[Exit], command: Command | None = None) -> str:
    lines = [_indented(f"{code:d}", meaning) for code, meaning in meanings(codes, command).items()]
    return f"exit codes (ended by a signal: 128 + its number):\n{''.join(lines)}"


def _parsed(parser: _Parser, named: _Invocation) -> Any:
    _refuse_unknown(parser, named.words)
    behind = next((each for each in parser._actions if str(each.metavar).startswith(BEHIND)), None)
    end = named.words.index("--") if behind is not None and "--" in named.words else len(named.words)
    parsed, rest = parser.parse_known_args(named.words[:end])
    if behind is not None:
        # a word that stands before it is no part of a command
        rest += getattr(parsed, behind.dest)
        if end == len(named.words) - 1:
            parser.error("no command stands behind --")
        setattr(parsed, behind.dest, named.words[end + 1 :])
    for word in rest:
        if word in named.command.parts:
            parser.error(f"{word} must come before {named.words[0]}")
    if rest and named.command.parts and not rest[0].startswith("-"):
        known = ", ".join(named.command.parts)
        parser.error(f"{rest[0]!r} is not one of {known}{_meant(rest[0], list(named.command.parts))}")
    if rest:
        ways = [f"--head {rest[0]}"] if "--head" in _option_names(parser) else []
        ways += [f"-- {shlex.join(rest)}"] if behind is not None else []
        meant = f" (did you mean {' or '.join(ways)}?)" if ways else ""
        option = rest[0].startswith("-")
        parser.error(f"{rest[0]} is not an option" if option else f"unexpected argument {rest[0]!r}{meant}")
    return parsed


def _refuse_unknown(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Refuse an option that there is not, before argparse complains of what else is missing."""
    known = _option_names(parser)
    for index, word in enumerate(words):
        name, given, value = word.partition("=")
        if name == "--":
            break
        if given and any(name in each.option_strings and each.nargs == 0 for each in parser._actions):
            parser.error(f"{name} takes no value")
        if name.startswith("--") and name not in known:
            following = words[index + 1] if index + 1 < len(words) else "-"
            value = value if given else "..." if following.startswith("-") else following
            parser.error(f"{name} is not an option{_advice(parser, name, value)}")


def _option_names(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]  # it lists them nowhere else


def _advice(parser: argparse.ArgumentParser, name: str, value: str) -> str:
    """Say what an option that there is not was probably meant to be: another option, or a key that --set takes.

    value: that it was given, or dots.
    """
    known, keys = _option_names(parser), dict[str, str]()
    if "--set" in known:
        from gate.cli.catalogue import setting_keys  # late: only a mistake needs it

        # of a command with a table of its own that counts
        tables = ["plan", "gate", parser.prog.split()[1]]
        found = sorted(
            (each.split(".", 1) for each in setting_keys() if each.split(".")[0] in tables),
            key=lambda e: tables.index(e[0]),
        )
        keys = {f"--{key.replace('_', '-')}": f"{table}.{key}" for table, key in found}
    # of a key it must be a mere slip: --color is no gate.floor
    key, option = _near(name, list(keys), 0.85), _near(name, known, 0.7)
    if key is not None:
        # a share without its sign would be refused
        sign = "%" if keys[key] == "gate.threshold" and value.isdigit() else ""
        return f" (did you mean --set {keys[key]}={value}{sign}?)"
    return f" (did you mean {option}?)" if option is not None else ""


def _meant(word: str, known: Sequence[str]) -> str:
    near = _near(word, known, 0.6)
    return f" (did you mean {near}?)" if near else ""


def _near(word: str, known: Sequence[str], cutoff: float) -> str | None:
    from difflib import get_close_matches  # late: only a mistake needs it

    # of what is as near, letters in another order: --bsae is --base, not --save
    near = get_close_matches(word, known, n=3, cutoff=cutoff)
    return min(near, key=lambda each: sorted(each) != sorted(word), default=None)


_COMMAND = re.compile(r"(?:^|(?<=[\r\n]))\s*:(?=:)|##(?=\[)")
"""What the runner of a workflow takes for a command: "::" at the beginning of a line, behind blanks; "##[" anywhere."""


class Harmless(io.TextIOBase, TextIO):
    """Hands text on to a stream: "::error::x" as ": :error::x", "##[error]" as "## [error]"."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._before = ""

    def write(self, text: str, /) -> int:
        """Write a text, and say how long it was."""
        safe = _COMMAND.sub(lambda found: f"{found[0]} ", self._before + text)
        self._stream.write(safe[len(self._before) :])
        line = re.split(r"[\r\n]", safe)[-1]
        # of what stands on the line: whether it is blank but for a colon, and its last two letters
        self._before = line.strip() if line.strip() in ("", ":") else f"x{line[-2:]}"
        return len(text)

    def writelines(self, lines: Iterable[str], /) -> None:  # type: ignore[override]  # two bases, which do not agree
        """Write texts one behind another."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what is held back."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Say whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the descriptor behind it."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of the stream, not chosen here
        """The encoding of the stream."""
        return self._stream.encoding
