"""What the command line names -> sources with labels: "new=after.json", globs, folders, "git:main:bench.txt"."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gate.checkout import run_git, top_of
from gate.formats.parts.reading import OTHERS, is_result, recognised, why_unknown, without_copies
from gate.formats.parts.source import Source
from gate.model import UserError
from gate.walking import walk
from gate.writing.plain import visible

STDIN = "-"
_GIT = "git:"
_RUN = "measurements.jsonl"
_MOST_FILES = 2000
_LABEL = re.compile(r"([^/\\=:*?]+)=(.+)", re.DOTALL)


class Named(msgspec.Struct, frozen=True, eq=False):
    """A source, and what the user calls it."""

    label: str | None
    """What stands before "="; None: nothing does."""
    source: Source


def named(arguments: Sequence[str], among: Sequence[str] | None = None) -> list[Named]:
    """Find the sources that arguments name, in their order.

    Each is a file, a folder, "-" for standard input, or "git:REF:PATH" for a file as a commit has it, with "LABEL=" in
    front of it if the user wants. "LABEL=" also takes a glob, which the shell leaves alone behind it.

    among: all arguments, of which these are some; "git:REF" is the same file as one of them names.

    Raises:
        UserError: a file that is not there, a glob that matches nothing, standard input twice, or a commit without it.
    """
    found: list[Named] = []
    for argument in arguments:
        label, place = labelled(argument)
        if place == STDIN:
            sources = [standard_input().source]
        elif place.startswith(_GIT):
            sources = _kept(place, among or arguments)
        elif not Path(place).exists() and any(c in place for c in "*?["):
            files = sorted(glob.glob(place, recursive=True))  # noqa: PTH207  # the pattern may be absolute
            if not files:
                raise UserError(f"{place}: no file matches")
            sources = [Source(file, Path(file)) for file in files]
        elif not Path(place).exists():
            raise UserError(f"{place}: no such file or folder")
        else:
            sources = _inside(place) if Path(place).is_dir() else [Source(place, Path(place))]
        found += [Named(label, source) for source in sources]
    if sum(each.source.path is None for each in found) > 1:
        raise UserError("only one of the files can come from standard input")
    return found


def standard_input(data: bytes | None = None) -> Named:
    """Name standard input as a source; data: what it holds, where it was read already."""
    return Named(None, Source("standard input", None, data))


def first_unknown(found: Sequence[Named]) -> Source | None:
    """Return the first source that is in no format that is known."""
    return next((each.source for each in found if recognised(each.source) is None), None)


def unknown_error(source: Source) -> UserError:
    """Return the error that says why a source is in no format that is known."""
    return UserError(f"{source.name}: {why_unknown(source)}")


def labelled(argument: str) -> tuple[str | None, str]:
    """Take the label from the front of an argument, if it has one."""
    match = _LABEL.fullmatch(argument)
    return (match[1], match[2]) if match and not Path(argument).exists() else (None, argument)


def is_plain(argument: str) -> bool:
    """Return whether an argument names a file by its path alone: no label, no commit, no glob."""
    return not (argument.startswith(_GIT) or _LABEL.fullmatch(argument) or any(c in argument for c in "*?["))


def _inside(folder: str) -> list[Source]:
    """Give a folder that one tool wrote as a whole, otherwise the result files below it in the order of their names."""
    whole = Source(folder, Path(folder))
    if recognised(whole) is not None:
        return [whole]
    files = sorted(file for at, _, names in walk(folder) for name in names if (file := Path(at, name)).is_file())
    if len(files) > _MOST_FILES:
        raise UserError(f"{folder}: has more than {_MOST_FILES:,} files: name the result files in it")
    found = [source for file in files if is_result(source := Source(str(file), file))]
    if not found:
        raise UserError(
            f"{folder}: has no measurements.jsonl, nor a result file in a format that perfgate knows: {OTHERS}"
        )
    return without_copies(found)


def _kept(place: str, all_: Sequence[str]) -> list[Source]:
    """Read a file, or the results in a folder, as a commit has them; without a path that of the other arguments."""
    ref, _, path = place.removeprefix(_GIT).partition(":")
    if not path:
        others = [labelled(other)[1] for other in all_]
        files = [other for other in others if other != STDIN and not other.startswith(_GIT)]
        if not files:
            raise UserError(f"{place}: names no file: write {_GIT}{ref}:PATH, with the path in the repository")
        path = files[0]
    name = f"{_GIT}{ref}:{path}"
    # "./" is the folder that the user is in, not the top of the repository
    blob = f"{ref}:{path if Path(path).is_absolute() else f'./{path}'}"
    if _git(name, "cat-file", "-t", blob).strip() != b"tree":
        return [Source(name, Path(path), _git(name, "cat-file", "blob", blob))]
    listed = _git(name, "ls-tree", "-r", "-z", "--name-only", ref, "--", f"{path}/").decode("utf-8", "surrogateescape")
    files = [file for file in listed.split("\0") if file]
    # the folder of a run stands for its measurements, as on disk
    run = [file for file in files if Path(file) == Path(path, _RUN)]
    sources = [
        Source(f"{_GIT}{ref}:{f}", Path(f), _git(name, "cat-file", "blob", f"{ref}:./{f}")) for f in run or files
    ]
    if run:
        return sources
    found = [source for source in sources if is_result(source)]
    if not found:
        raise UserError(f"{name}: has no result file in a format that perfgate knows: {OTHERS}")
    return without_copies(found)


def _git(name: str, *arguments: str) -> bytes:
    here = Path.cwd().resolve()
    top = top_of(here)
    if top is None:
        raise UserError(f"{name}: not in a git repository: run it in a checkout")
    try:
        done = run_git(top, here, *arguments)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise UserError(f"{name}: {visible(why)}")
    return done.stdout
