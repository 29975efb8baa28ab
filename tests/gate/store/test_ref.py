"""The history in a git ref, here and on a remote: real git, real processes."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gate.codes import Exit
from gate.model import UserError
from gate.store import ref as module
from gate.store.history_records import ConflictError, name_of
from gate.store.ref import RefStore
from harness.source.git import Git, GitAnswer
from tests.gate.store.records import race, record
from tests.support.project import environment

pytestmark = pytest.mark.endtoend

REF = "refs/perfgate/history"


def git(top: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=top, input=stdin, capture_output=True, text=True, check=True, env=environment()
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def opened(top: Path) -> Git:
    """git in a clone or in a bare repository."""
    return Git(top, {"GIT_DIR": str(top / ".git" if (top / ".git").exists() else top)})


def bare(top: Path) -> Path:
    top.mkdir()
    git(top, "init", "-q", "--bare")
    return top


def clone(top: Path, remote: Path) -> Path:
    top.mkdir()
    git(top, "init", "-q")
    git(top, "remote", "add", "origin", str(remote))
    return top


def store(top: Path, remote: str | None = None) -> RefStore:
    return RefStore(opened(top), REF, remote, attempts=8, pause=lambda _: None)


def test_reads_more_than_it_takes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = bare(tmp_path / "r")
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    for number in range(5):
        store(top).add(record(number, cases=3))
    assert len(store(top).read().records) == 5


def test_joins_what_others_pushed(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    one, other = clone(tmp_path / "a", remote), clone(tmp_path / "b", remote)
    store(one, "origin").add(record(1))
    # not pushed at first, and not lost
    store(other).add(record(2))
    assert store(other, "origin").add(record(3)).pushed == "origin"
    expected = [record(1), record(2), record(3)]
    assert store(remote).read().records == expected
    assert store(other).read().records == expected
    assert not store(one, "origin").add(record(3)).known
    assert git(one, "rev-parse", REF) == git(remote, "rev-parse", REF)


def test_a_record_that_two_clones_add_is_the_first_ones(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    one, other = clone(tmp_path / "a", remote), clone(tmp_path / "b", remote)
    store(one, "origin").add(record(1, raw="first"))
    with pytest.raises(UserError, match="other measurements of run run-1"):
        store(other, "origin").add(record(1, raw="second"))
    # one clone may not know its date
    undated = msgspec.structs.replace(record(1, raw="first"), committed=None)
    assert store(clone(tmp_path / "c", remote), "origin").add(undated).known
    assert store(remote).read().records == store(other).read().records == [record(1, raw="first")]


def test_touches_nothing_else_of_the_repository(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    top = clone(tmp_path / "a", remote)
    git(top, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x")
    for hook in ("pre-push", "reference-transaction"):
        (top / ".git/hooks" / hook).write_text("#!/bin/sh\nexit 1\n")
        (top / ".git/hooks" / hook).chmod(0o755)
    git(top, "config", "remote.origin.fetch", f"+{REF}:{REF}")
    before = {file.name for file in (top / ".git").iterdir()}
    config, head = (top / ".git/config").read_bytes(), git(top, "rev-parse", "HEAD")
    for number in range(3):
        store(clone(tmp_path / f"b{number}", remote), "origin").add(record(number))
        store(top).add(record(number + 10))
        store(top, "origin").add(record(number + 20))
    assert len(store(remote).read().records) == 9
    assert {file.name for file in (top / ".git").iterdir()} == before
    assert (top / ".git/config").read_bytes() == config
    assert git(top, "rev-parse", "HEAD") == head
    assert git(top, "for-each-ref", "--format=%(refname)").split() == [git(top, "symbolic-ref", "HEAD"), REF]


def test_refuses_a_ref_that_holds_something_else(tmp_path: Path) -> None:
    top = clone(tmp_path / "a", bare(tmp_path / "r"))
    (top / "README.md").write_text("x")
    git(top, "add", ".")
    git(top, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "x")
    branch, before = git(top, "symbolic-ref", "HEAD"), git(top, "rev-parse", "HEAD")
    taken = RefStore(opened(top), branch)
    with pytest.raises(UserError, match=r"README\.md.*no history of perfgate"):
        taken.read()
    with pytest.raises(UserError, match=r"README\.md.*no history of perfgate"):
        taken.add(record(1))
    assert git(top, "rev-parse", "HEAD") == before


def test_names_what_cannot_be_read_and_reads_the_rest(tmp_path: Path) -> None:
    top = bare(tmp_path / "r")
    for number in range(3):
        store(top).add(record(number))
    month, _, file = name_of(record(1)).partition("/")
    blob = git(top, "hash-object", "-w", "--stdin", stdin='{"schema":7}')
    listed = git(top, "ls-tree", f"{REF}:{month}").splitlines()
    lines = [f"100644 blob {blob}\t{file}" if file in line else line for line in listed]
    tree = git(top, "mktree", stdin="\n".join(lines) + "\n")
    root = git(top, "mktree", stdin=f"040000 tree {tree}\t{month}\n")
    commit = git(top, "-c", "user.name=t", "-c", "user.email=t@t", "commit-tree", root, "-m", "x")
    git(top, "update-ref", REF, commit)
    reading = store(top).read()
    assert reading.records == [record(0), record(2)]
    [problem] = reading.problems
    assert f"{month}/{file}" in problem
    assert "schema 7 is newer" in problem
    # and what cannot be read stays
    store(top).add(record(4))
    assert len(store(top).read().problems) == 1


def test_a_server_that_wants_descendants_gets_them(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    git(remote, "config", "receive.denyNonFastForwards", "true")
    top = clone(tmp_path / "a", remote)
    for number in range(5):
        store(top, "origin").add(record(number))
    assert len(store(remote).read().records) == 5


def test_a_server_that_refuses_is_named_and_the_record_stays_here(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    git(remote, "config", "receive.denyCurrentBranch", "refuse")
    (remote / "hooks/pre-receive").write_text("#!/bin/sh\necho no entry >&2\nexit 1\n")
    (remote / "hooks/pre-receive").chmod(0o755)
    top = clone(tmp_path / "a", remote)
    with pytest.raises(UserError, match=r"does not take .*: .remote rejected. .pre-receive hook declined") as told:
        store(top, "origin").add(record(1))
    assert told.value.exit_code == Exit.USAGE
    assert store(top).read().records == [record(1)]
    (remote / "hooks/pre-receive").unlink()
    store(top, "origin").add(record(2))
    assert store(remote).read().records == [record(1), record(2)]


def test_no_remote_is_one_line(tmp_path: Path) -> None:
    top = clone(tmp_path / "a", tmp_path / "none")
    with pytest.raises(
        UserError, match=r"origin: cannot be read: .*; the record is in refs/perfgate/history here"
    ) as told:
        store(top, "origin").add(record(1))
    assert store(top).read().records == [record(1)]
    assert "\n" not in str(told.value)


def test_who_is_always_slower_ends_with_a_conflict_and_loses_nothing(tmp_path: Path) -> None:
    top = bare(tmp_path / "r")
    others = iter(range(100, 200))
    slow = Slow(opened(top), lambda: store(top).add(record(next(others))))
    with pytest.raises(ConflictError, match="other writers were faster each time: nothing is lost") as told:
        RefStore(slow, REF, attempts=5, pause=lambda _: None).add(record(1))
    assert told.value.exit_code == Exit.ERROR
    assert len(store(top).read().records) == 5
    store(top).add(record(1))
    assert record(1) in store(top).read().records


class Slow:
    """git before which somebody else always writes."""

    def __init__(self, git: Git, meanwhile: Callable[[], object]) -> None:
        self.git, self.meanwhile = git, meanwhile

    def attempt(self, *arguments: str, stdin: bytes = b"") -> GitAnswer:
        if arguments[0] == "update-ref":
            self.meanwhile()
        return self.git.attempt(*arguments, stdin=stdin)

    def seeing(self, **environment: str) -> Git:
        return self.git.seeing(**environment)


def test_clones_that_push_at_one_time_lose_nothing(tmp_path: Path) -> None:
    remote = bare(tmp_path / "r")
    # two of them share a clone
    clones = [clone(tmp_path / f"c{each}", remote) for each in range(2)]
    stores = [RefStore(opened(top), REF, "origin") for top in (*clones, clones[0])]
    race([lambda each, own=own: own.add(each) for own in stores], [(0, 1), (2, 3), (4, 5)])  # type: ignore[misc]  # bound at once
    assert store(remote).read().records == [record(number) for number in range(6)]
