"""Which commits an event compares, and that they are there before anything of the project runs, in clones of all kinds."""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.commands.action.commits import (
    ElsewhereError,
    Sides,
    checkout_warnings,
    fetch_missing,
    refuse_another_checkout,
)
from gate.github.event import Event
from gate.model.records import FIRST_PARENT, SideChoice, merge_base
from gate.model.warnings.base import Said
from harness.errors import SourceError
from harness.source import base_and_head
from harness.source.fetching import FetchError
from harness.source.repository import find_repository
from tests.support.git_server import GitServer
from tests.support.project import Project, environment, repository
from tests.support.pulls import BRANCH, Origin, check_out, git_of_nobody, make_origin

pytestmark = pytest.mark.endtoend

# of this process: one test looks for it in all command lines, and the other half of the tests runs beside it
TOKEN = f"ghs_{'s3cr3tT0ken' * 3}{os.getpid()}"


@pytest.fixture(autouse=True)
def nobody() -> Iterator[pytest.MonkeyPatch]:
    with git_of_nobody() as patch:
        yield patch


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return make_origin(tmp_path / "origin")


class Clones:
    """Checkouts of an origin, each in a folder of its own."""

    def __init__(self, origin: Origin, folder: Path) -> None:
        self.origin, self.folder = origin, folder

    def __call__(self, sha: str, *, ref: str = "refs/remotes/pull/7/merge", depth: int | None = 1) -> Project:
        self.folder.mkdir(exist_ok=True)
        return check_out(self.folder / f"c{len([*self.folder.iterdir()])}", self.origin.url, sha, ref=ref, depth=depth)


@pytest.fixture
def clone(origin: Origin, tmp_path: Path) -> Clones:
    return Clones(origin, tmp_path / "clones")


def asked(
    place: Project, event: Event, base: str | None = None, head: str | None = None, token: str | None = None
) -> Sides:
    """What fetch_missing says, after which everything must be there without another fetch."""
    found = fetch_missing(event, token, place.top, base, head)
    config = place.top / ".git/config"
    config.write_text(re.sub("(?m)^\turl = .*$", "\turl = /nowhere", config.read_text()))
    for side in (found.base, head):
        if side is not None:
            at(place, side)
    return found


def at(place: Project, revision: str) -> str:
    """What file "at" holds in a revision: its commit is here, and so are all of its files."""
    # as the check finds what it is given
    names = place.git("for-each-ref", "--format=%(refname:short)").splitlines()
    revision = f"origin/{revision}" if f"origin/{revision}" in names else revision
    packed = io.BytesIO(place.git("archive", "--format=tar", revision).encode())
    with tarfile.open(fileobj=packed) as files:
        found = files.extractfile("at")
        assert found is not None
        return found.read().decode()


def refused(place: Project, event: Event, base: str | None = None) -> str:
    with pytest.raises(FetchError) as caught:
        fetch_missing(event, None, place.top, base, None)
    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)
    assert "`fetch-depth: 0`" in str(caught.value)
    return str(caught.value)


def default(place: Project, **variables: str) -> str:
    """What a check of its own chooses as base."""
    chosen = base_and_head.resolve(
        find_repository(place.top), base=None, head=None, environment={"CI": "true", **variables}
    )
    return chosen.base.revision


# --- pull requests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, None])
def test_a_merge_has_its_first_parent_as_base(origin: Origin, clone: Clones, depth: int | None) -> None:
    merged, head = clone(origin.merge, depth=depth), clone(origin.feature[-1], depth=depth)
    assert asked(merged, origin.event()) == Sides(origin.main[-1], FIRST_PARENT)
    assert asked(head, origin.event()) == Sides(origin.main[2], merge_base("main"))


def test_only_the_one_commit_is_fetched(origin: Origin, clone: Clones) -> None:
    place = clone(origin.merge)
    before = place.git("rev-list", "--all", "--reflog").splitlines()
    asked(place, origin.event())
    here = place.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").splitlines()
    assert sorted(line for line in here if line.startswith("commit")) == sorted(
        f"commit {sha}" for sha in [*before, origin.main[-1]]
    )
    assert place.git("status", "--porcelain") == ""
    assert place.git("for-each-ref", "--format=%(refname)") == "refs/remotes/pull/7/merge"


def test_a_nearer_merge_base_is_not_missed_in_a_shallow_clone(clone: Clones, tmp_path: Path) -> None:
    """History that is cut off shows an old common commit, while the nearest one lies behind the cut."""
    work = Project(tmp_path / "work")

    def commits(name: str, count: int) -> str:
        return work.commits(*(f"{name}{n}" for n in range(count)))[-1]

    work.write("at", "root")
    root = work.commit("root")
    nearest = commits("m", 60)
    work.git("checkout", "-q", "-b", "feature")
    commits("f", 40)
    # a merge of something as old as the root makes the root a common commit that shows at once
    work.git("checkout", "-q", "-b", "old", root)
    work.commit("old")
    work.git("checkout", "-q", "feature")
    work.git("merge", "-q", "-m", "merge", "old")
    head = work.git("rev-parse", "HEAD")
    work.git("checkout", "-q", "main")
    commits("n", 40)
    work.git("merge", "-q", "-m", "merge", "old")
    base = work.git("rev-parse", "HEAD")
    url = f"file://{work.top}"
    place = check_out(tmp_path / "c", url, head)
    place.git("fetch", "-q", "--depth=3", "origin", head, base)
    assert place.git("merge-base", head, base) != nearest
    made = Origin(work.top, [root, base], [head], head)
    assert asked(place, made.event(sha=head)).base is not None
    old = work.git("merge-base", "--all", head, base).splitlines()
    assert place.git("merge-base", "--all", head, base).splitlines() == old


def test_a_clone_with_all_history_keeps_it(origin: Origin, tmp_path: Path) -> None:
    place = Project(tmp_path / "c")
    place.git("remote", "add", "origin", origin.url)
    place.git("fetch", "-q", "origin", "main")
    place.git("checkout", "-q", "--detach", "FETCH_HEAD")
    event = origin.event("merge_group", merge_base=origin.feature[-1], merge_head=origin.merge)
    assert asked(place, event).base == origin.feature[-1]
    assert place.git("rev-parse", "--is-shallow-repository") == "false"


def test_deeper_history_of_a_shallow_clone_is_not_cut_shorter(tmp_path: Path) -> None:
    origin = make_origin(tmp_path / "origin", commits=90, left=80)
    place = Clones(origin, tmp_path / "clones")(origin.feature[-1])
    place.git("fetch", "-q", "--depth=75", "origin", origin.main[-1])
    assert asked(place, origin.event()).base == origin.main[80]
    assert int(place.git("rev-list", origin.main[-1], "--count")) >= 75


def test_another_head_is_refused_unless_the_inputs_name_both(origin: Origin, clone: Clones) -> None:
    place = clone(origin.feature[1])
    event, said = origin.event(), "is neither the pull request's head .* nor its merge with the target: check out"
    for base, head in ((None, None), (origin.main[0], None), (None, origin.feature[0])):
        with pytest.raises(ElsewhereError, match=said) as caught:
            fetch_missing(event, TOKEN, place.top, base, head)
        assert caught.value.exit_code == 4
    assert asked(place, event, base=origin.main[0], head="HEAD").base == origin.main[0]
    place = clone(origin.feature[1])
    assert asked(place, event, head=origin.feature[-1]).base == origin.main[2]


def test_a_project_in_a_submodule_is_refused(origin: Origin, clone: Clones) -> None:
    """The pull request says which repository that is."""
    place = clone(origin.merge)
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.url, "sub")
    place.write("sub/deep/file", "x")
    inside = place.top / "sub/deep"
    for inputs in ((None, None), ("main", "HEAD"), (origin.main[0], None)):
        with pytest.raises(ElsewhereError, match="sub is a submodule of the checkout") as caught:
            refuse_another_checkout(inside, place.top, *inputs)
        assert caught.value.exit_code == 4
    refuse_another_checkout(inside, place.top, origin.main[0], origin.main[1])
    refuse_another_checkout(place.top, place.top, None, None)
    # a checkout of its own beside the first, by `path:` of actions/checkout
    check_out(place.top / "beside", origin.url, origin.merge)
    refuse_another_checkout(place.top / "beside", place.top, None, None)


def test_a_local_commit_on_a_shallow_clone(origin: Origin, clone: Clones) -> None:
    """origin has never seen it: the history of the other end is enough."""
    place = clone(origin.main[3])
    head = place.commit("local")
    found = asked(place, origin.event(pull=origin.pull(head_sha=head)))
    assert found.base == origin.main[3]


def test_unrelated_histories(origin: Origin, clone: Clones) -> None:
    place = clone(origin.main[-1], depth=None)
    place.git("checkout", "-q", "--orphan", "new")
    head = place.commit("alone")
    found = asked(place, origin.event(pull=origin.pull(head_sha=head)))
    assert found.base == origin.main[-1]
    assert [each.what for each in found.warnings if isinstance(each, Said)] == ["no-common-commit"]


def test_what_cannot_be_fetched_says_which_line_to_add(origin: Origin, clone: Clones) -> None:
    place = clone(origin.merge)
    place.git("remote", "set-url", "origin", "/nowhere/at/all")
    said = refused(place, origin.event())
    assert said.startswith(
        f"the first parent of the pull request's merge commit ({origin.main[-1][:12]}) is not in this clone"
    )
    assert said.endswith("add `fetch-depth: 0` under `with:` of actions/checkout")
    place.git("remote", "remove", "origin")
    assert "there is no remote origin" in refused(place, origin.event())
    head = clone(origin.feature[-1])
    head.git("fetch", "-q", "--depth=1", "origin", origin.main[-1])
    head.git("remote", "set-url", "origin", "/nowhere/at/all")
    assert refused(head, origin.event()).startswith("history that this shallow clone lacks cannot be fetched")


# --- other events -----------------------------------------------------------------------------------------------------


def push(origin: Origin, **changes: object) -> Event:
    return origin.event("push", ref="refs/heads/main", **changes)


MAIN = "refs/remotes/origin/main"


def test_a_merge_queue_compares_with_what_it_builds_on(origin: Origin, clone: Clones) -> None:
    place, queue = clone(origin.merge), "refs/heads/gh-readonly-queue/main/pr-7"
    event = origin.event("merge_group", merge_base=origin.main[4], merge_head=origin.merge, ref=queue)
    assert asked(place, event).base == origin.main[4]
    gone = origin.event("merge_group", merge_base="a" * 40, merge_head=origin.merge)
    assert "base of the merge group" in refused(place, gone)


@pytest.mark.parametrize(
    ("before", "depth"),
    [("earlier", 1), ("earlier", None), ("zeros", 1), ("none", 1), ("forced", 1), ("itself", 1), ("gone", None)],
)
def test_a_push_has_what_was_before(origin: Origin, clone: Clones, depth: int | None, before: str) -> None:
    told = {"earlier": origin.main[2], "zeros": "0" * 40, "none": None, "forced": origin.feature[-1]}
    told |= {"gone": "a" * 40, "itself": origin.main[-1]}
    place = clone(origin.main[-1], ref=MAIN, depth=depth)
    assert asked(place, push(origin, before=told[before])).base == origin.main[2 if before == "earlier" else -2]


def test_the_first_commit_has_nothing_before(origin: Origin, clone: Clones) -> None:
    assert asked(clone(origin.main[0], ref=MAIN), push(origin, before="0" * 40)).base is None


@pytest.mark.parametrize(("name", "depth"), [("main", 1), ("trunk", None)])
def test_a_branch_is_compared_with_what_was_before(tmp_path: Path, depth: int | None, name: str) -> None:
    """By schedule and by hand, and for a push of another branch."""
    origin = make_origin(tmp_path / "origin", branch=name)
    clone, ref = Clones(origin, tmp_path / "clones"), f"refs/heads/{name}"
    for event, told in (("schedule", None), ("workflow_dispatch", name)):
        place = clone(origin.main[-1], ref=f"refs/remotes/origin/{name}", depth=depth)
        assert asked(place, origin.event(event, ref=ref, default_branch=told)).base is None
        assert default(place) == origin.main[-2]
    facts = {"ref": f"refs/heads/{BRANCH}", "sha": origin.feature[-1], "before": origin.feature[0]}
    for event in ("push", "workflow_dispatch"):
        place = clone(origin.feature[-1], ref="refs/remotes/origin/feature", depth=depth)
        assert asked(place, origin.event(event, default_branch=name, **facts)).base is None
        assert default(place) == origin.main[2]


@pytest.mark.parametrize(("event", "depth"), [("workflow_dispatch", 1), ("schedule", None)])
def test_another_head_on_the_default_branch(origin: Origin, clone: Clones, depth: int | None, event: str) -> None:
    place = clone(origin.main[-1], ref=MAIN, depth=depth)
    branch = None if event == "schedule" else "main"
    found = asked(place, origin.event(event, ref="refs/heads/main", default_branch=branch), head=BRANCH)
    assert found.base is None
    chosen = base_and_head.resolve(find_repository(place.top), base=None, head=BRANCH, environment={"CI": "true"})
    assert chosen.base.revision == origin.main[2]


@pytest.mark.parametrize("event", ["workflow_dispatch", "issue_comment"])
def test_what_a_workflow_checked_out_of_its_own_accord_needs_a_base(origin: Origin, clone: Clones, event: str) -> None:
    """Whose head that is, and which branch it goes into, no event tells."""
    told = origin.event(event, ref="refs/heads/main", sha=origin.main[-1])
    place = clone(origin.feature[-1], depth=None)
    with pytest.raises(SourceError, match=r"is needed: HEAD .* is not what .* runs on") as caught:
        fetch_missing(told, None, place.top, None, None)
    assert (caught.value.option, caught.value.exit_code) == ("base", 2)
    assert asked(place, told, base="main").base == "main"
    for n, commit in enumerate((origin.main[-1], origin.main[-2])):
        place = clone(commit, depth=None)
        assert asked(place, told).base is None
        assert default(place) == origin.main[-2 - n]


def test_a_tag_on_the_default_branch(origin: Origin, clone: Clones) -> None:
    place = clone(origin.main[3], ref="refs/tags/v1")
    assert asked(place, origin.event("push", ref="refs/tags/v1")).base is None
    assert default(place) == origin.main[2]


def test_a_default_branch_that_cannot_be_had(origin: Origin, clone: Clones) -> None:
    place = clone(origin.feature[-1])
    said = refused(place, origin.event("push", ref="refs/heads/x", default_branch="gone"))
    assert said.startswith("the default branch, gone, is not here and cannot be fetched")


# --- inputs -----------------------------------------------------------------------------------------------------------


def test_inputs_win_and_are_fetched(origin: Origin, clone: Clones) -> None:
    subprocess.run(["git", "-C", str(origin.bare), "tag", "v1", origin.main[1]], check=True, env=environment())
    cases = {
        "main": "m5", "v1": "m1", origin.main[4]: "m4", "v1~1": "m0", "origin/main": "m5", "HEAD^1": "m5",
        "HEAD~3": "m3", "refs/tags/v1": "m1",
    }  # fmt: skip
    for base, text in cases.items():
        place = clone(origin.merge)
        found = asked(place, origin.event(), base)
        assert (found.base, found.warnings) == (base, ())
        assert at(place, base) == text


def test_a_branch_of_any_name_is_an_input(origin: Origin, clone: Clones) -> None:
    place = clone(origin.merge)
    found = fetch_missing(origin.event(), None, place.top, None, BRANCH)
    assert found.base == origin.main[2]
    assert place.git("rev-parse", f"origin/{BRANCH}") == origin.feature[-1]


def test_an_input_that_is_nowhere(origin: Origin, clone: Clones) -> None:
    place = clone(origin.merge)
    assert refused(place, origin.event(), "nowhere").startswith(
        "base nowhere is not in this shallow clone and cannot be fetched: check the name"
    )
    refused(place, origin.event(), "+main")
    for odd in ("--upload-pack=touch /tmp/x", "a b", "main:refs/heads/x", "^main", "main~3..main"):
        for base, head in ((odd, None), (None, odd)):
            with pytest.raises(SourceError, match="does not name one commit: write a branch") as caught:
                fetch_missing(origin.event(), None, place.top, base, head)
            # the input is wrong, not the clone
            assert not isinstance(caught.value, FetchError)
    # what history turns out not to have the check says, and which names are near
    assert fetch_missing(origin.event(), None, place.top, "HEAD~999", None).base == "HEAD~999"
    whole = clone(origin.merge, depth=None)
    assert fetch_missing(origin.event(), None, whole.top, "mian", None).base == "mian"


# --- the token --------------------------------------------------------------------------------------------------------


@pytest.fixture
def logged(tmp_path: Path, nobody: pytest.MonkeyPatch) -> Path:
    """git on PATH notes how it was called and whether it could see the token; gives the notes."""
    notes, real = tmp_path / "notes", shutil.which("git")
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    # in a file: arguments of grep would be seen too
    secrets = tmp_path / "secrets"
    secrets.write_text(f"{TOKEN}\n" + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode() + "\n")
    look = f"if env | grep -qFf {secrets}; then seen=yes; else seen=no; fi"
    shim.write_text(f'#!/bin/sh\n{look}\nprintf "%s %s\\n" $seen "$*" >> {notes}\nexec {real} "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    nobody.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    return notes


class Watch:
    """Reads the command lines of all processes until it is told to stop."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ends.is_set():
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(file.read_bytes())
                except OSError:
                    continue
            time.sleep(0.01)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()


@pytest.fixture
def server(origin: Origin) -> Iterator[GitServer]:
    """It asks for the token."""
    with GitServer(origin.bare.parent, token=TOKEN) as made:
        yield made


def header_of(server: GitServer) -> dict[str, str]:
    """The settings of git with which a server gives what it has."""
    return {f"http.{server.url}/.extraheader": f"AUTHORIZATION: {server.wants()}"}


def private(server: GitServer, place: Path, sha: str, **more: str) -> Project:
    """A checkout of a server that asks for the token, without the token in it."""
    return check_out(place, f"{server.url}/origin.git", sha, settings=header_of(server), **more)  # type: ignore[arg-type]


def holding(folder: Path, text: str) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="absent: /proc")
def test_nobody_sees_the_token(origin: Origin, tmp_path: Path, logged: Path, nobody: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace"
    for name in ("GIT_TRACE", "GIT_TRACE_CURL", "GIT_TRACE2", "GIT_TRACE2_EVENT"):
        nobody.setenv(name, str(trace))
    nobody.setenv("GIT_TRACE2_CONFIG_PARAMS", "http.*")
    nobody.setenv("GIT_TRACE_REDACT", "0")
    # as the step has it, and a runner's own settings of git
    nobody.setenv("GITHUB_TOKEN", TOKEN)
    nobody.setenv("GIT_CONFIG_COUNT", "1")
    nobody.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    nobody.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    nobody.setenv("GIT_CONFIG_VALUE_0", "*")
    with GitServer(origin.bare.parent, token=TOKEN, delay=0.1) as server:
        place = private(server, tmp_path / "c", origin.feature[-1])
        nobody.delenv("GITHUB_TOKEN")
        server.requests.clear()
        logged.unlink()
        trace.unlink(missing_ok=True)
        with Watch() as watch:
            found = fetch_missing(origin.event(server_url=server.url), TOKEN, place.top, None, None)
        assert found == Sides(origin.main[2], merge_base("main"))
        assert all(
            [value.lower() for value in request.authorization] == [server.wants().lower()]
            for request in server.requests
        )
    pair = server.wants().split()[1]
    lines = logged.read_text().splitlines()
    assert {line.split()[0] for line in lines if " fetch " in line} == {"yes"}
    assert [line for line in lines if line.startswith("yes") and " fetch " not in line] == []
    assert TOKEN not in logged.read_text() and pair not in logged.read_text()
    assert any(b"git-remote-http" in line or b"remote-http" in line for line in watch.seen)
    assert [line for line in watch.seen if TOKEN.encode() in line or pair.encode() in line] == []
    assert holding(place.top, TOKEN) + holding(place.top, pair) == []
    assert not trace.exists() or (TOKEN not in trace.read_text() and pair not in trace.read_text())


def test_without_the_token_a_private_repository_is_refused(origin: Origin, tmp_path: Path, server: GitServer) -> None:
    place, event = private(server, tmp_path / "c", origin.merge), origin.event(server_url=server.url)
    assert "cannot be fetched" in refused(place, event)
    with pytest.raises(FetchError) as caught:
        fetch_missing(event, "wrong", place.top, None, None)
    assert "wrong" not in str(caught.value)


def test_a_token_that_is_not_good_does_not_stand_in_the_way(origin: Origin, tmp_path: Path, server: GitServer) -> None:
    """The checkout keeps its own; two headers in one request would be refused."""
    for n, (kept, token) in enumerate(((server.wants(), "wrong"), (server.wants(), TOKEN), ("basic b2xk", TOKEN))):
        place = private(server, tmp_path / f"c{n}", origin.merge)
        place.git("config", f"http.{server.url}/.extraheader", f"AUTHORIZATION: {kept}")
        found = fetch_missing(origin.event(server_url=server.url), token, place.top, None, None)
        assert found.base == origin.main[-1]
        (warning,) = found.warnings
        assert warning.sentence().startswith("a token for the repository is in ")
        assert TOKEN not in warning.sentence()


def test_a_url_that_names_a_user(origin: Origin, tmp_path: Path, server: GitServer) -> None:
    host = server.url.removeprefix("http://")
    for n, (user, given) in enumerate((("someone", TOKEN), (f"x-access-token:{TOKEN}", "wrong"), ("x:bad", TOKEN))):
        place = private(server, tmp_path / f"c{n}", origin.merge)
        place.git("remote", "set-url", "origin", f"http://{user}@{host}/origin.git")
        server.requests.clear()
        found = fetch_missing(origin.event(server_url=server.url), given, place.top, None, None)
        assert found.base == origin.main[-1]
        assert (found.warnings != ()) is (":" in user)
        # a password that is there is used first
        other = base64.b64encode(f"x-access-token:{given}".encode()).decode()
        sent = [value for request in server.requests for value in request.authorization]
        assert any(other in value for value in sent) is (given == TOKEN)
        assert TOKEN not in repr(found)


def test_another_server_never_gets_the_token(origin: Origin, tmp_path: Path, server: GitServer) -> None:
    with GitServer(origin.bare.parent) as other:
        place = check_out(tmp_path / "c", f"{other.url}/origin.git", origin.merge)
        local, safe = other.url.replace("127.0.0.1", "localhost"), other.url.replace("http:", "https:")
        for address in ("https://github.com", local, safe):
            found = fetch_missing(origin.event(server_url=address), TOKEN, place.top, None, None)
            assert found.base == origin.main[-1]
        place = check_out(tmp_path / "d", f"{other.url}/origin.git", origin.feature[-1])
        assert fetch_missing(origin.event(), TOKEN, place.top, None, None).base == origin.main[2]
        # nor where the server sends it on: what anybody may have is still followed, by a git without the token
        place = private(server, tmp_path / "e", origin.merge)
        server.redirect = other.url
        server.requests.clear()
        found = fetch_missing(origin.event(server_url=server.url), TOKEN, place.top, None, None)
        assert found.base == origin.main[-1]
        assert server.requests[0].authorization
        assert other.requests
        assert [request for request in other.requests if request.authorization] == []


def test_no_hook_is_called_and_no_helper_sees_the_token(origin: Origin, tmp_path: Path, server: GitServer) -> None:
    place, event = private(server, tmp_path / "c", origin.merge), origin.event(server_url=server.url)
    called, seen = tmp_path / "called", tmp_path / "seen"
    for name in ("reference-transaction", "post-checkout"):
        hook = place.top / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {called}\n")
        hook.chmod(0o755)
    called.unlink(missing_ok=True)
    place.git("config", "credential.helper", f"!env >> '{seen}'; true")
    called.unlink(missing_ok=True)
    with pytest.raises(FetchError):
        fetch_missing(event, "expired", place.top, None, None)
    # asked by the git that has no token, and by no other
    assert "PATH=" in seen.read_text()
    assert base64.b64encode(b"x-access-token:expired").decode() not in seen.read_text()
    assert fetch_missing(event, TOKEN, place.top, None, None).base == origin.main[-1]
    assert not called.exists()


# --- partial clones, submodules, large files --------------------------------------------------------------------------


@pytest.mark.parametrize(("filter_", "depth"), [("blob:none", 1), ("tree:0", None)])
def test_a_partial_clone(origin: Origin, tmp_path: Path, server: GitServer, filter_: str, depth: int | None) -> None:
    place = Project(tmp_path / "c")
    place.git("remote", "add", "origin", f"{server.url}/origin.git")
    given = [part for key, value in header_of(server).items() for part in ("-c", f"{key}={value}")]
    cut = [f"--depth={depth}"] if depth else []
    ref = "refs/remotes/pull/7/head"
    fetched = f"{origin.feature[-1]}:{ref}"
    place.git(*given, "fetch", "-q", "--no-tags", *cut, f"--filter={filter_}", "origin", fetched)
    place.git(*given, "checkout", "-q", "--detach", ref)
    found = fetch_missing(origin.event(server_url=server.url), TOKEN, place.top, None, None)
    assert found.base == origin.main[2]
    server.token = "another"
    assert at(place, found.base) == "m2"


def with_submodule(tmp_path: Path, server: GitServer) -> Origin:
    """Whose submodule "lib" is at another commit in each of its two commits; its server asks for the token."""
    lib = make_origin(tmp_path / "served" / "lib")
    shutil.move(lib.bare, tmp_path / "served" / "lib.git")
    top = Project(tmp_path / "top")
    top.write("at", "one")
    top.write(".gitmodules", f'[submodule "lib"]\n\tpath = third party/lib\n\turl = {server.url}/lib.git\n')
    commits = []
    for sha in (lib.main[1], lib.main[4]):
        top.git("update-index", "--add", "--cacheinfo", f"160000,{sha},third party/lib")
        top.git("add", "at", ".gitmodules")
        top.git("commit", "-q", "-m", sha)
        commits.append(top.git("rev-parse", "HEAD"))
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(top.top), str(tmp_path / "served/origin.git")],
        check=True,
        env=environment(),
    )
    return Origin(tmp_path / "served/origin.git", commits, lib.main, commits[-1])


def test_submodules_get_the_commits_of_both_sides(tmp_path: Path) -> None:
    with GitServer(tmp_path / "served", token=TOKEN) as server:
        made = with_submodule(tmp_path, server)
        event = made.event("push", ref="refs/heads/main", before=made.main[0], server_url=server.url)
        place = private(server, tmp_path / "c", made.merge, ref=MAIN)
        # not checked out: told, and left alone
        found = fetch_missing(event, TOKEN, place.top, None, None)
        (warning,) = found.warnings
        assert warning.sentence().startswith(
            "submodule third party/lib is not in the checkout, so perfgate fetches it: add "
        )
        header = [part for key, value in header_of(server).items() for part in ("-c", f"{key}={value}")]
        place.git(*header, "submodule", "--quiet", "update", "--init", "--depth=1")
        inside = Project.__new__(Project)
        inside.top = place.top / "third party/lib"
        assert made.feature[1] not in inside.git("cat-file", "--batch-all-objects", "--batch-check")
        found = fetch_missing(event, TOKEN, place.top, None, None)
        assert found == Sides(made.main[0], SideChoice("the commit before this push"))
        assert inside.git("cat-file", "-t", made.feature[1]) == "commit"
        assert inside.git("rev-parse", "HEAD") == made.feature[4]
        # also while head has no such directory any more
        shutil.rmtree(inside.top)
        assert fetch_missing(event, TOKEN, place.top, None, None).warnings == ()


def test_a_submodule_that_cannot_be_had_is_a_warning(tmp_path: Path) -> None:
    with GitServer(tmp_path / "served", token=TOKEN) as server:
        made = with_submodule(tmp_path, server)
        place = private(server, tmp_path / "c", made.merge, ref=MAIN)
        header = [part for key, value in header_of(server).items() for part in ("-c", f"{key}={value}")]
        place.git(*header, "submodule", "--quiet", "update", "--init", "--depth=1")
        (tmp_path / "served/lib.git").rename(tmp_path / "served/gone.git")
        event = made.event("push", ref="refs/heads/main", before=made.main[0], server_url=server.url)
        found = fetch_missing(event, TOKEN, place.top, None, None)
        assert found.base == made.main[0]
        (warning,) = found.warnings
        assert warning.sentence().startswith(
            f"submodule third party/lib lacks {made.feature[1][:12]}, which cannot be "
        )
        assert TOKEN not in warning.sentence()


def test_pointers_of_git_lfs_are_named(origin: Origin, clone: Clones) -> None:
    place = clone(origin.merge, depth=None)
    assert checkout_warnings(origin.event(), find_repository(place.top)) == []
    place.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    for name in ("a.bin", "data/b.bin", "data/c d.bin", "e.bin"):
        place.write(name, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")
    place.write("real.bin", "content")
    place.write("text", "version https://git-lfs.github.com/spec/v1\n")
    place.commit("large")
    (expected,) = checkout_warnings(origin.event(), find_repository(place.top))
    assert expected.sentence().startswith("a.bin, data/b.bin, data/c d.bin and 1 more are Git LFS pointers, not ")
    assert expected in fetch_missing(origin.event(), None, place.top, "HEAD~1", "HEAD").warnings
    for name in ("a.bin", "data/b.bin", "e.bin"):
        place.write(name, "content")
    (one,) = checkout_warnings(origin.event(), find_repository(place.top))
    assert one.sentence().startswith("data/c d.bin is a Git LFS pointer, not ")


def test_a_clone_that_is_no_clone(clone: Clones, tmp_path: Path, origin: Origin) -> None:
    made = repository(tmp_path / "alone", {"at": "x"}, {"at": "y"})
    assert fetch_missing(origin.event("push", ref="refs/heads/main"), TOKEN, made.top, None, None).base == made.git(
        "rev-parse", "HEAD~1"
    )
