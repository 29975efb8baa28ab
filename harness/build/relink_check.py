"""Checks that linking again can stand for building again: with the build's own seed it must give the build's own bytes.

Started by itself (`python -I -S relink_check.py RECORDING ROOT ARTIFACT...`) after the first build of a tree, as that
was.
"""

import filecmp
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from harness.build import record
from harness.build.functions import layout_of
from harness.build.record import Link
from harness.build.replay import SCRATCH, NotSoundError, Plan, answer, linked, write

# CMake's trials stay below it; nothing that is measured does.
_OF_CMAKE = "CMakeFiles"
# Programs of cargo's own: they have run when the build ends.
_OF_CARGO = "build-script-build"
_SEEDS = (b"PERFGATE_SEED", b"PERFGATE_BUILD")
_LARGEST_SCRIPT = 1_000_000
# They tell of the variables, and use none.
_NO_SCRIPTS = (".md", ".rst", ".html", ".adoc")
_CONFIGURATION = ("perfgate.toml", "pyproject.toml")
_UNREAD = (".git", ".github")


def check(recording: Path, root: Path, seed: int, artifacts: Sequence[str]) -> tuple[Plan, str]:
    """Link again with the build's own seed; return what is to be linked for other seeds, and what that orders.

    Raises: NotSoundError: later builds must be full ones.
    """
    began = (recording / "began").stat().st_ctime_ns
    made = dict(_made(root, began))
    links = _by_output(record.read(str(recording)), root)
    if not made or not links:
        raise NotSoundError("go" if layout_of(lambda path: os.open(root / path, os.O_RDONLY), [*made]) else "no-link")
    found = _sources(recording, root, made, links, seed)
    places = {each for every in found.values() for each in every}
    top = os.path.realpath(root)
    for artifact in artifacts:
        whole = os.path.realpath(artifact)
        inner = os.path.relpath(whole, top)
        if os.path.isdir(whole):  # noqa: PTH112
            if not any(place.startswith(f"{inner}/") or inner == "." for place in places):
                raise NotSoundError("not-linked", artifact)
        # where libtool puts the program that its script there starts
        elif os.path.isfile(whole) and not {inner, "/.libs/".join(os.path.split(inner)).lstrip("/")} & places:  # noqa: PTH113
            raise NotSoundError("not-linked", artifact)
    mention = _mention(root, began)
    if mention is not None:
        raise NotSoundError("seed-used", mention)
    kept = []
    for name, every in found.items():
        groups: dict[int, list[str]] = {}
        for place in every:
            groups.setdefault((root / place).stat().st_ino, []).append(place)
        kept += [(links[name], [*groups.values()])] if _OF_CARGO not in {Path(place).name for place in every} else []
    if not kept:
        raise NotSoundError("no-link")
    what = {part for link, _ in kept for part in link.ordered.split("+")}
    return kept, "+".join(part for part in ("objects", "functions", "shuffled") if part in what) or "nothing"


def _by_output(links: Sequence[Link], root: Path) -> dict[str, Link]:
    """Give the last link of each output, by its place below the root."""
    found: dict[str, Link] = {}
    for link in links:
        if any("/go-link-" in argument for argument in link.arguments):
            raise NotSoundError("go")
        folder = os.path.realpath(link.directory)
        place = os.path.relpath(os.path.join(folder, link.output), os.path.realpath(root))  # noqa: PTH118
        if place.startswith("..") and record.stamp(_output(link)):
            if not os.path.isfile(_output(link)):  # noqa: PTH113
                continue  # /dev/null: a trial of what the compiler can do
            raise NotSoundError("outside", _output(link))
        found[place] = link
    return found


def _sources(
    recording: Path, root: Path, made: Mapping[str, int], links: Mapping[str, Link], seed: int
) -> dict[str, list[str]]:
    """Find for each link the files that have its bytes; all that the build made must be found."""
    standing = {place: link for place, link in links.items() if place in made}
    results = linked(recording / SCRATCH / "standing", standing, seed)
    for place, link in standing.items():
        if place not in results or not filecmp.cmp(results[place], root / place, shallow=False):
            changed = link.stamp != record.stamp(_output(link))
            raise NotSoundError("not-linked" if changed else "unsound", place)
    found = _copies(root, made, results)
    if _missing(made, found):
        # a result may have been moved, and its folder removed
        moved = {place: link for place, link in links.items() if place not in standing}
        found = _copies(root, made, results | linked(recording / SCRATCH / "moved", moved, seed))
    missing = _missing(made, found)
    if missing:
        raise NotSoundError("not-linked", missing[0])
    return found


def _missing(made: Mapping[str, int], found: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted(made.keys() - {each for places in found.values() for each in places})


def _output(link: Link) -> str:
    return os.path.join(link.directory, link.output)  # noqa: PTH118


def _made(root: Path, began: int) -> Iterator[tuple[str, int]]:
    """Give programs and shared objects that the build has made or changed, with their sizes."""
    for place, entry in _files(root):
        found = entry.stat(follow_symlinks=False)
        if found.st_ctime_ns >= began and found.st_size > 64 and _OF_CMAKE not in Path(place).parts:
            with open(entry.path, "rb") as file:  # noqa: PTH123
                head = file.read(18)
            if head.startswith(b"\x7fELF") and head[16:] in (b"\2\0", b"\3\0"):
                yield place, found.st_size


def _files(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                place = os.path.join(folder, entry.name)  # noqa: PTH118
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        folders.append(place)
                elif entry.is_file(follow_symlinks=False):
                    yield place, entry


def _copies(root: Path, made: Mapping[str, int], results: Mapping[str, str]) -> dict[str, list[str]]:
    """Find, for each result, the files of the build with its bytes; a result's own place comes first."""
    sizes: dict[int, list[str]] = {}
    for name, result in results.items():
        sizes.setdefault(Path(result).stat().st_size, []).append(name)
    found: dict[str, list[str]] = {}
    for place, size in made.items():
        candidates = sorted(sizes.get(size, []), key=lambda name: name != place)
        for name in candidates:
            if filecmp.cmp(results[name], root / place, shallow=False):
                found.setdefault(name, []).append(place)
                break
    return {name: found[name] for name in results if name in found}


def _mention(root: Path, began: int) -> str | None:
    """Find a file from before the build that uses the seed: then not only the links vary."""
    for place, entry in _files(root):
        found = entry.stat(follow_symlinks=False)
        if found.st_size > _LARGEST_SCRIPT or place.endswith(_NO_SCRIPTS) or entry.name in _CONFIGURATION:
            continue
        if found.st_ctime_ns < began and not any(part in _UNREAD for part in Path(place).parts):
            with open(entry.path, "rb") as file:  # noqa: PTH123
                text = file.read()
            if any(seed in text for seed in _SEEDS):
                return place
    return None


def main(recording: Path, root: Path, artifacts: Sequence[str]) -> int:
    """Check, and leave the answer beside the records: kind and path, or "" and what is ordered."""
    try:
        plan, ordered = check(recording, root, int(os.environ["PERFGATE_SEED"]), artifacts)
        write(recording, plan)
        answer(recording, "", ordered)
    except NotSoundError as error:
        answer(recording, error.kind, error.path)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
