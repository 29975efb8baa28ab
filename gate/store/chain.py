"""The chain of commits that records of a history measured, each against its parent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from gate.model.history import HistoryRecord


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the chain: from a commit to the next that is known."""

    parent: str
    commit: str
    subject: str
    """Of commit; empty where no record says it."""
    committed: str | None
    records: list[HistoryRecord]
    """That measured commit against parent, in the order of their measuring; none: a gap of unknown length."""

    @property
    def gap(self) -> bool:
        """Whether the commits in between were not measured against their parents."""
        return not self.records


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Commits in order, and what else the history holds."""

    links: list[Link]
    """The oldest first; each begins where the one before it ends."""
    controls: list[HistoryRecord]
    """One commit measured against itself."""
    pinned: list[HistoryRecord]
    """A commit of the chain measured against an earlier one than its parent, as creep checks do."""
    aside: list[HistoryRecord]
    """Of other branches: their base is of the chain, and no later commit descends from them."""

    @property
    def records(self) -> list[HistoryRecord]:
        """The records of the steps."""
        return [record for link in self.links for record in link.records]


def chained(records: Iterable[HistoryRecord]) -> Chain:
    """Put records in the order of their commits.

    A commit follows its parent. Where nothing links it to the commit before it in time, the chain has a gap: a step
    without records, then the parent that was measured, then the commit.
    """
    ordered = sorted(records, key=lambda record: (_when(record), record.measured or ""))
    controls = [record for record in ordered if record.control]
    heads: dict[str, list[HistoryRecord]] = defaultdict(list)
    for record in ordered:
        if not record.control:
            heads[record.commit].append(record)
    parents: dict[str, str] = {}
    for commit, own in heads.items():
        counts = Counter(record.parent for record in own)
        # of what a commit was measured against it follows the latest that is known, of which most are
        parents[commit] = max(
            counts, key=lambda parent: (_when(heads[parent][0]) if parent in heads else "", counts[parent])
        )
    # what the newest commit descends from, as far as records link it
    trunk: set[str] = set()
    commit = next(reversed(parents), "")
    while commit in parents and commit not in trunk:
        trunk.add(commit)
        commit = parents[commit]
    followed = {parents[commit] for commit in trunk}
    links: list[Link] = []
    places: dict[str, int] = {}
    aside: list[HistoryRecord] = []
    pinned: list[HistoryRecord] = []
    for commit in _parents_first(parents):
        parent, own = parents[commit], heads[commit]
        tip = links[-1].commit if links else ""
        if commit not in trunk and (parent in followed or parent in places) and tip != parent:
            aside += own
            continue
        if links and tip != parent:
            if parent in places:
                aside += own
                continue
            links.append(Link(parent=tip, commit=parent, subject="", committed=None, records=[]))
        places |= {parent: len(links), commit: len(links) + 1}
        first = own[0]
        of_step = sorted((r for r in own if r.parent == parent), key=lambda record: record.measured or "")
        links.append(
            Link(
                parent=parent, commit=commit, subject=first.subject, committed=first.committed, records=of_step
            )
        )  # fmt: skip
        pinned += [record for record in own if record.parent != parent]
    return Chain(links=links, controls=controls, pinned=pinned, aside=aside)


def _when(record: HistoryRecord) -> str:
    return record.committed or record.measured or ""


def _parents_first(parents: Mapping[str, str]) -> list[str]:
    """Order commits by time, but none before its parent: clocks of those who commit differ."""
    found: dict[str, None] = {}
    for commit in parents:
        line: list[str] = []
        while commit in parents and commit not in found and commit not in line:
            line.append(commit)
            commit = parents[commit]
        found |= dict.fromkeys(reversed(line))
    return list(found)
