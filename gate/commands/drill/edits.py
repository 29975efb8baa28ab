"""What a drill does to head: an edit that changes nothing, a patch, a build whose artifacts fail or are base's."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from gate.config.commands import as_text
from gate.config.types import Config
from gate.model import UserError
from gate.units import plural
from harness.source.base_and_head import changed
from harness.source.repository import Entry, Repository, files_at

_HASH, _SLASHES = "#", "//"
_COMMENTS = {
    **dict.fromkeys((".py", ".rb", ".sh", ".pl", ".r", ".jl", ".ex", ".exs", ".nim", ".cr"), _HASH),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".rs", ".go", ".java", ".kt"), _SLASHES),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".cs", ".swift", ".scala", ".zig", ".d"), _SLASHES),
    **dict.fromkeys((".lua", ".hs", ".sql"), "--"),
}
"""How a line of comment begins, by the ending of a source file's name."""
_BESIDE = frozenset(
    ["doc", "docs", "example", "examples", "node_modules", "spec", "test", "tests", "third_party", "vendor"]
)
"""Folders of sources that are probably not the program's."""
_TOOLS = _BESIDE | {"bench", "benches", "benchmark", "benchmarks", "fuzz", "perf", "scripts", "tools"}
_STEERS = re.compile(
    r"(setup|conftest|noxfile|build)\.\w+|.*[._-](config|bench|benchmarks?|test|spec)\.\w+|(bench|test)[_.-].*"
)
"""Files that say how a project is built or measured."""
_BROKEN = b")( perfgate drill: no language has such a line\n"
_LINE = "perfgate drill: this line changes nothing"
_KEPT = ".perfgate-drill"
"""The folder in a tree that holds base's files and head's, by turns the ones that are built."""
_FAILS = "#!/bin/sh\necho 'perfgate drill: this artifact was replaced by a program that fails' >&2\nexit 1\n"


def harmless(repository: Repository, revision: str, config: Config) -> tuple[str, str] | None:
    """Add a line of comment to a source of the project; None: it has none whose syntax is known.

    That is a file which a command names, otherwise the largest one.

    Returns:
        The new commit, and the path of the file in the repository.
    """
    named = {word for text in commands(config) for word in text.split()}
    sources = [each for each in files_at(repository, revision, repository.inside(".")) if _is_source(each)]
    if not sources:
        return None

    own = [each for each in sources if not _BESIDE & set(PurePosixPath(each.path).parts[:-1])] or sources
    by_name = [each for each in own if any(repository.inside(word) == each.path for word in named)]
    objects = "".join(f"{each.object}\n" for each in by_name or own).encode()
    sizes = map(int, repository.git.run("cat-file", "--batch-check=%(objectsize)", stdin=objects).split())
    _, chosen = max(zip(sizes, by_name or own, strict=True), key=lambda each: each[0])
    text = repository.git.run("cat-file", "blob", chosen.object)
    line = f"{_COMMENTS[PurePosixPath(chosen.path).suffix]} {_LINE}\n".encode()
    content = text + (b"" if text.endswith(b"\n") or not text else b"\n") + line
    return changed(repository, revision, {chosen.path: content}, "perfgate drill: a comment"), chosen.path


def broken(repository: Repository, revision: str, config: Config) -> tuple[str, str] | None:
    """Replace each source of the project by a line that no compiler and no interpreter takes; None: there is none.

    What a benchmark's command names, and what lies among benchmarks, tests and tools, stays as it is.

    Returns:
        The new commit, and how many files are broken.
    """
    measured = msgspec.structs.replace(config, build=msgspec.structs.replace(config.build, command=None))
    named = {repository.inside(word) for text in commands(measured) for word in text.split()}
    files = {}
    for entry in files_at(repository, revision, repository.inside(".")):
        place = PurePosixPath(entry.path)
        aside = {*map(str.lower, place.parts[:-1])} & _TOOLS or _STEERS.fullmatch(place.name.lower())
        if _is_source(entry) and not aside and entry.path not in named:
            files[entry.path] = _BROKEN
    if not files:
        return None
    return changed(repository, revision, files, "perfgate drill: broken sources"), plural(len(files), "source")


def _is_source(entry: Entry) -> bool:
    return entry.mode.startswith("100") and PurePosixPath(entry.path).suffix in _COMMENTS


def commands(config: Config) -> list[str]:
    """List what builds a side and what its benchmarks run, a list of words as a text."""
    given = [config.build.command, *(benchmark.command for benchmark in config.benchmark)]
    return [each if isinstance(each, str) else " ".join(each) for each in given if each]


def programs(config: Config) -> list[str]:
    """List the first word of each benchmark's command."""
    lists = [b.command.split() if isinstance(b.command, str) else b.command for b in config.benchmark]
    return [words[0] for words in lists if words]


def with_failing_artifacts(config: Config, made: Sequence[str]) -> Config:
    """Let a side's build end with a program that fails in place of each file, or file of a folder, that it made."""
    paths = " ".join(shlex.quote(f"./{path}") for path in made)
    each = f'for f; do printf %s {shlex.quote(_FAILS)} > "$f" && chmod 755 "$f"; done'
    built = as_text(config.build.command or "true")
    return _built_by(
        config,
        f"({built}\n) && find -L {paths} -type f -exec sh -c {shlex.quote(each)} sh {{}} +",
    )


def with_artifacts_of(repository: Repository, base: str, head: str, config: Config) -> tuple[str, Config]:
    """Let a side be head with the artifacts that base's sources give.

    Returns:
        The commit to check out, and how it is built: the files that differ are base's while it is, and head's again
        afterwards.
    """
    prefix = repository.inside(".")
    before, after = ({each.path: each for each in files_at(repository, of)} for of in (base, head))
    names = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    if any(not path.startswith("" if prefix == "." else f"{prefix}/") for path in names):
        raise UserError("--patch: changes files outside the project's directory, which cannot be built by turns")
    files: dict[str, bytes] = {}
    scripts = []
    for which, entries in (("base", before), ("head", after)):
        lines = []
        for path in names:
            own = str(PurePosixPath(path).relative_to(prefix))
            place = f"{_KEPT}/{which}/{own}"
            if path in entries:
                files[repository.inside(place)] = repository.git.run("cat-file", "blob", entries[path].object)
                lines.append(f"cp {shlex.quote(place)} {shlex.quote(own)}")
            else:
                lines.append(f"rm -f {shlex.quote(own)}")
        scripts.append(" && ".join(lines))
    to_base, to_head = scripts
    built = as_text(config.build.command or "true")
    command = f"{to_base} && ({built}\n) && {to_head}"
    return changed(repository, head, files, "perfgate drill: base's files beside head's"), _built_by(config, command)


def _built_by(config: Config, command: str) -> Config:
    table = msgspec.structs.replace(config.build, command=command, relink="off", cache="off")
    return msgspec.structs.replace(config, build=table)
