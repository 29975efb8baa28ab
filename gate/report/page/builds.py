"""The builds that were measured and the hashes of what came out of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from gate.model import SIDES, Build
from gate.model.case import pairs
from gate.units import format_duration, plural
from gate.words.builds import say_builds, say_order, say_shuffle
from gate.writing.amounts import known
from gate.writing.plain import clip, visible

_PATH = 80
_HASH = 16
_ARTIFACTS = 20


class Artifact(msgspec.Struct, frozen=True):
    """A file of a build: path and hash, written; whole: the hash in full."""

    path: str
    hash: str
    whole: str


class BuildRow(msgspec.Struct, frozen=True):
    """One build, written; more: artifacts that are not listed."""

    name: str
    side: str
    seed: str
    seconds: str
    artifacts: tuple[Artifact, ...]
    more: int


class Builds(msgspec.Struct, frozen=True):
    """All builds, how they were made, and what their hashes say, a sentence an artifact."""

    rows: tuple[BuildRow, ...]
    made: tuple[str, ...]
    said: tuple[str, ...]


def builds_of(builds: Sequence[Build]) -> Builds:
    """Bring the builds into a table, by session and number, base before head."""
    several = len({build.session for build in builds}) > 1
    inorder = sorted(builds, key=lambda build: (build.session, build.build, _settings(build), SIDES.index(build.side)))
    return Builds(tuple(_row(build, several=several) for build in inorder), tuple(_made(inorder)), tuple(_said(builds)))


def _made(builds: Sequence[Build]) -> list[str]:
    by_side = [(side, [build for build in builds if build.side == side]) for side in SIDES]
    said = [text for side, found in by_side for text in (say_builds(side, found), say_order(side, found))]
    return [text for text in (*said, say_shuffle(builds)) if text]


def _row(build: Build, *, several: bool) -> BuildRow:
    listed = sorted(build.artifacts.items())[:_ARTIFACTS]
    return BuildRow(
        name=_name(build, several=several),
        side=build.side,
        seed="none" if build.seed is None else str(build.seed),
        seconds=format_duration(build.seconds) if known(build.seconds) else "unknown",
        artifacts=tuple(
            Artifact(clip(visible(path), _PATH), _short(digest), clip(visible(digest), 200)) for path, digest in listed
        ),
        more=len(build.artifacts) - len(listed),
    )


def _name(build: Build, *, several: bool) -> str:
    name = f"session {build.session}, build {build.build}" if several else str(build.build)
    return f"{name}, {_settings(build)}" if build.factors else name


def _settings(build: Build) -> str:
    return clip(visible(pairs(build.factors)), _PATH)


def _short(digest: str) -> str:
    return clip(visible(digest.removeprefix("sha256:")), _PATH)[:_HASH]


def _said(builds: Sequence[Build]) -> list[str]:
    hashes: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for build in builds:
        for path, digest in build.artifacts.items():
            hashes[path, _settings(build)][build.side].append(digest)
    texts = [
        f"{clip(visible(path), _PATH)}{f' at {at}' if at else ''}: {_told(sides)}"
        for (path, at), sides in sorted(hashes.items())
    ]
    more = len(texts) - _ARTIFACTS
    return [*texts[:_ARTIFACTS], *([f"and {plural(more, 'more file')}"] if more > 0 else [])]


def _told(sides: dict[str, list[str]]) -> str:
    base, head = (sides[side] for side in SIDES)
    if not base or not head:
        return f"only {'base' if base else 'head'} has it"
    if len({*base, *head}) == 1:
        return "byte-identical in all builds of base and head"
    words = [_within(name, found) for name, found in (("base", base), ("head", head))]
    if any(1 < len(set(found)) < len(found) for found in (base, head)):
        words.append("an identical file is not a new layout, so the builds sample fewer layouts than their number")
    common = set(base) & set(head)
    words.append("some files are the same in base and head" if common else "base and head share no file")
    return "; ".join(words)


def _within(side: str, found: list[str]) -> str:
    different = len(set(found))
    if len(found) == 1:
        return f"one build of {side}"
    if different == 1:
        return f"all {len(found)} builds of {side} are byte-identical: all have one layout"
    if different == len(found):
        return f"the {len(found)} builds of {side} differ from build to build"
    return f"the {len(found)} builds of {side} produced only {plural(different, 'different file')}"
