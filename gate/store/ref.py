"""The history in a git ref: a commit whose tree holds the records, replaced only if nobody else was faster.

Records are blobs in a folder for each month, so a new one makes a blob, two trees and a commit. Each commit follows the
one before, since git sends what a known commit's tree has only to who descends from it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby, islice
from typing import Protocol

from gate.model import UserError
from gate.model.history import HistoryRecord
from gate.store.history_records import (
    Added,
    ConflictError,
    StoreReading,
    encode,
    is_name,
    name_of,
    reading,
    refuse_other,
)

ATTEMPTS = 40
"""Tries to be the next writer, within about a minute."""
REFUSED = 4
"""Tries that fail though nobody wrote meanwhile: a lock for an instant, otherwise a refusal."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_AT_ONCE = 100
"""Records read at once: a few MB."""
_AUTHOR = {
    "GIT_AUTHOR_NAME": "perfgate",
    "GIT_AUTHOR_EMAIL": "perfgate@invalid",
    "GIT_COMMITTER_NAME": "perfgate",
    "GIT_COMMITTER_EMAIL": "perfgate@invalid",
}


class Answer(Protocol):
    """What git answered."""

    @property
    def status(self) -> int:
        """Exit status."""

    @property
    def stdout(self) -> bytes:
        """Standard output."""

    @property
    def reason(self) -> str:
        """Why it failed, in one line."""


class Git(Protocol):
    """git in one repository, without hooks and prompts."""

    def attempt(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run git."""

    def seeing(self, **environment: str) -> Git:
        """Give the same git with more variables."""


Records = dict[str, str]
"""The blob of each record, by its name."""
_Tip = tuple[str | None, Records]
"""The ref at one instant: its commit, None where there is none, and what it holds."""


class RefStore:
    """A history in a ref of one repository, and of a remote where one is named."""

    def __init__(
        self, git: Git, ref: str, remote: str | None = None, *, attempts: int = ATTEMPTS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        """Name the ref.

        remote: where `add` pushes to; None: nowhere. attempts: to be the next writer. pause: waits some seconds.
        """
        self._git, self._ref, self._remote = git, ref, remote
        self._attempts, self._pause = attempts, pause

    def __str__(self) -> str:
        """Name it for people."""
        return self._ref

    def read(self) -> StoreReading:
        """Read all records, the oldest commit first.

        Raises: UserError: there is no such ref, or it holds something else.
        """
        commit, held = self._local()
        if commit is None:
            raise UserError(
                f"{self._ref}: no such ref: `perfgate history add RUN` makes it, and "
                f"`git fetch origin +{self._ref}:{self._ref}` fetches it"
            )
        return reading((f"{self._ref}:{name}", data) for name, data in self._blobs(held))

    def add(self, record: HistoryRecord) -> Added:
        """Add a record here, and then on the remote.

        A remote gets all that is here, so what an earlier push left behind is not lost.

        Raises:
            ConflictError: other writers were faster, time and again.
            UserError: it holds other measurements of the same run, or cannot be written.
        """
        name, blob = name_of(record), self._run("hash-object", "-w", "--stdin", stdin=encode(record)).decode().strip()
        known = self._known(self._local()[1], name, record)
        kept = self._settle({} if known else {name: blob})
        if self._remote is not None:
            kept = self._push(self._remote)
        if not known and kept.get(name) != blob:
            # somebody else was first to add the same run
            known = self._known(kept, name, record)
        return Added(known, len(kept), self._remote)

    def _known(self, records: Records, name: str, record: HistoryRecord) -> bool:
        """Return whether a record is among others already. Raises: UserError: of other measurements."""
        if name not in records:
            return False
        [(_, data)] = self._blobs({name: records[name]})
        refuse_other(f"{self._ref}:{name}", data, record)
        return True

    # --- here ---------------------------------------------------------------------------------------------------------

    def _settle(self, added: Records, commit: str | None = None) -> Records:
        """Make the ref hold these too, however many others write to it; return what it holds.

        commit: that holds them on a remote, where they were first; it is taken where nothing else is here.
        """
        for refused in self._tries():
            tip, held = self._local()
            kept = {**added, **held} if commit is None else {**held, **added}
            if kept == held and commit in (None, tip):
                return kept
            taken = commit if commit is not None and kept == added else self._commit(tip, kept)
            # move the ref if it is still what it was: it is not, or is locked, where git refuses
            answer = self._git.attempt("update-ref", self._ref, taken, tip or "0" * len(taken))
            if not answer.status:
                return kept
            if refused and self._tip() == tip:
                raise UserError(f"{self._ref}: cannot be written: {answer.reason}")
        raise _conflict(self._ref)

    def _tip(self) -> str | None:
        answer = self._git.attempt("rev-parse", "--quiet", "--verify", f"{self._ref}^{{commit}}")
        return answer.stdout.decode().strip() if answer.status == 0 else None

    def _local(self) -> _Tip:
        commit = self._tip()
        return commit, {} if commit is None else self._records(commit)

    # --- on the remote ------------------------------------------------------------------------------------------------

    def _push(self, remote: str) -> Records:
        """Make ref and remote hold what either holds."""
        for refused in self._tries():
            (_, here), tip = self._local(), self._there(remote)
            if tip is None:
                # it moved between asking and fetching
                continue
            old, there = tip
            # a record that both have under one name is the remote's: it was first
            kept = {**here, **there}
            commit = old
            if commit is None or kept != there:
                commit = self._commit(old, kept)
                # a "+" before the commit would push whatever the lease says
                lease = f"--force-with-lease={self._ref}:{old or ''}"
                answer = self._git.attempt(*_PUSH, lease, "--", remote, f"{commit}:{self._ref}")
                if answer.status:
                    if refused and self._asked(remote) == old:
                        # "[remote rejected] (hook declined)", of what --porcelain writes
                        lines = answer.stdout.decode(errors="replace").splitlines()
                        why = next((line.rpartition("\t")[2] for line in lines if line.startswith("!\t")), "")
                        raise self._unsent(remote, f"does not take {self._ref}: {why or answer.reason}")
                    continue
            self._settle(kept, commit)
            return kept
        raise _conflict(f"{self._ref} of {remote}")

    def _unsent(self, remote: str, why: str) -> UserError:
        return UserError(
            f"{remote}: {why}; the record is in {self._ref} here, and the next "
            "`perfgate history add --push` sends it too"
        )

    def _asked(self, remote: str) -> str | None:
        """Ask a remote for the commit of its ref; None: it has none."""
        answer = self._git.attempt("ls-remote", "--quiet", "--", remote, self._ref)
        if answer.status:
            raise self._unsent(remote, f"cannot be read: {answer.reason}")
        found = (line.partition("\t") for line in answer.stdout.decode().splitlines())
        return next((commit for commit, _, ref in found if ref == self._ref), None)

    def _there(self, remote: str) -> _Tip | None:
        """Fetch a remote's ref; None: it changed meanwhile."""
        commit = self._asked(remote)
        if commit is None:
            return None, {}
        if self._git.attempt("cat-file", "-e", f"{commit}^{{tree}}").status:
            answer = self._git.attempt(*_FETCH, "--", remote, self._ref)
            if self._git.attempt("cat-file", "-e", f"{commit}^{{tree}}").status:
                if answer.status and self._asked(remote) == commit:
                    raise self._unsent(remote, f"{self._ref} cannot be fetched: {answer.reason}")
                return None
        return commit, self._records(commit)

    # --- commits ------------------------------------------------------------------------------------------------------

    def _records(self, commit: str) -> Records:
        """List the records of a commit. Raises: UserError: it holds something else."""
        found: Records = {}
        for line in self._run("ls-tree", "-r", "-z", commit).split(b"\0"):
            about, _, path = line.partition(b"\t")
            if not line:
                continue
            name = path.decode(errors="replace")
            if not is_name(name) or not about.startswith(b"100644 blob "):
                raise UserError(
                    f"{self._ref}: holds {name!r:.80}, so it is no history of perfgate: name another with --history"
                )
            found[name] = about.split()[2].decode()
        return found

    def _commit(self, onto: str | None, records: Mapping[str, str]) -> str:
        """Make a commit that holds records, and follows another."""
        lines, months = [], []
        for month, names in groupby(sorted(records), key=lambda name: name.partition("/")[0]):
            months.append(month)
            lines.append("".join(f"100644 blob {records[name]}\t{name.partition('/')[2]}\n" for name in names))
        trees = self._run("mktree", "--batch", stdin="\n".join(lines).encode()).decode().split()
        root = "".join(f"040000 tree {tree}\t{month}\n" for month, tree in zip(months, trees, strict=True))
        tree = self._run("mktree", stdin=root.encode()).decode().strip()
        parent = ["-p", onto] if onto else []
        made = self._git.seeing(**_AUTHOR).attempt("commit-tree", tree, *parent, stdin=b"perfgate history\n")
        if made.status:
            raise UserError(f"{self._ref}: cannot be written: {made.reason}")
        return made.stdout.decode().strip()

    def _blobs(self, records: Records) -> Iterator[tuple[str, bytes]]:
        """Read records, some at a time; b"": one is missing."""
        names = iter(sorted(records))
        while some := list(islice(names, _AT_ONCE)):
            asked = "".join(f"{records[name]}\n" for name in some)
            batch, at = self._run("cat-file", "--batch", stdin=asked.encode()), 0
            for name in some:
                # a line with its size, its bytes and a newline; of one that is missing the line alone
                begin = batch.index(b"\n", at) + 1
                size = batch[at:begin].split()[2:]
                at = begin + int(size[0]) + 1 if size else begin
                yield name, batch[begin : at - 1] if size else b""

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        answer = self._git.attempt(*arguments, stdin=stdin)
        if answer.status:
            raise UserError(f"{self._ref}: git {arguments[0]} failed: {answer.reason}")
        return answer.stdout

    def _tries(self) -> Iterator[bool]:
        """Give tries to be the next writer, with pauses between them; True: it may be a refusal by now."""
        for number in range(self._attempts):
            if number:
                # full jitter: writers that met once do not meet again
                self._pause(random.uniform(0, min(_FIRST_PAUSE * 2**number, _LONGEST_PAUSE)))  # noqa: S311  # no secret
            yield number >= REFUSED


_PUSH = ("push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--refmap=")


def _conflict(place: str) -> ConflictError:
    return ConflictError(
        f"{place}: other writers were faster each time: nothing is lost; add the record again when they are done"
    )
