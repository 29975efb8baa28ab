"""Which commits are compared, in each situation that a newcomer's repository can be in."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

from harness.errors import SourceError
from harness.process.process_groups import alive
from harness.source import store
from harness.source.base_and_head import Sources, resolve
from harness.source.git import without_userinfo
from harness.source.repository import find_repository, kept_out, texts_at
from tests.harness.conftest import ISOLATED, Checkout


def resolved(
    checkout: Checkout,
    *,
    base: str | None = None,
    head: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Sources:
    repository = find_repository(checkout.path)
    try:
        return resolve(repository, base=base, head=head, environment=environment or {})
    finally:
        checkout.sees(repository)


def refused(checkout: Checkout, **options: str) -> str:
    with pytest.raises(SourceError) as caught:
        resolve(find_repository(checkout.path), base=options.get("base"), head=options.get("head"), environment={})
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- the repository -------------------------------------------------------------------------------------------------


def test_what_is_no_repository_to_compare_commits_of(
    tmp_path: Path, isolated_git: Path, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match="is not in a git repository: run perfgate in a checkout"):
        find_repository(tmp_path)
    with pytest.raises(SourceError, match="has no commit yet: commit first"):
        find_repository(checkout.path)
    checkout.commit(a="1")
    bare = cloned(checkout, checkout.path, tmp_path / "bare", "--bare")
    with pytest.raises(SourceError, match="is a bare repository"):
        find_repository(bare.path)
    with pytest.raises(SourceError, match="is inside a git directory"):
        find_repository(checkout.path / ".git")
    checkout.commit(a="1")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(SourceError, match=r"belongs to another user.*git config --global --add safe\.directory"):
        find_repository(checkout.path)
    (tmp_path / ".git").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="git is not on PATH: install git"):
        find_repository(tmp_path)


def test_the_project_is_where_its_config_is_whatever_a_hook_has_set(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.commit(a="1", sub__perfgate_dot_toml="", sub__deep__b="2", other__c="3")
    assert find_repository(checkout.path).prefix == PurePosixPath()
    assert find_repository(checkout.path / "other").prefix == PurePosixPath()
    found = find_repository(checkout.path / "sub/deep")
    assert (found.prefix, found.project) == (PurePosixPath("sub"), checkout.path / "sub")
    checkout.write(sub__deep__pyproject_dot_toml="[tool.perfgate.gate]\n")
    assert find_repository(checkout.path / "sub/deep").prefix == PurePosixPath("sub/deep")
    checkout.commit(a="1")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert find_repository(checkout.path).top == checkout.path


def test_texts_of_a_commit_and_what_git_keeps_out(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="data/\n*.bin\n", tracked="1", sub__tracked="1")
    checkout.write(data__large="1", sub__x_dot_bin="2", new__file="3")
    repository = find_repository(checkout.path)
    paths = ("data", "data/large", "sub/x.bin", "new", "new/file", "tracked", "sub", "absent", ".", "../outside", "*")
    assert {path: kept_out(repository, path) for path in paths} == {
        "data": "ignored",
        "data/large": "ignored",
        "sub/x.bin": "ignored",
        "new": "untracked",
        "new/file": "untracked",
        "tracked": None,
        "sub": None,
        "absent": None,
        ".": None,
        "../outside": None,
        "*": None,
    }
    assert kept_out(repository, str(checkout.path / "data")) == "ignored"
    first = checkout.commit(sub__perfgate_dot_toml="x = 1\n", sub__ünï_code="2")
    checkout.git("mv", "sub/perfgate.toml", "sub/real.toml")
    (checkout.path / "sub/perfgate.toml").symlink_to("real.toml")
    second = checkout.commit()
    repository = find_repository(checkout.path / "sub")
    assert texts_at(repository, first, "perfgate.toml") == ["x = 1\n"]
    assert texts_at(repository, second, "perfgate.toml") == ["x = 1\n"]
    assert texts_at(repository, first, "real.toml") == [None]
    assert texts_at(repository, first, "ünï_code") == ["2"]
    (checkout.path / "sub/binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match=r"sub/binary at .* is not UTF-8"):
        texts_at(repository, checkout.commit(), "binary")


def test_user_info_is_taken_out() -> None:
    assert without_userinfo("https://me:secret@example.com/x.git") == "https://example.com/x.git"
    assert (
        without_userinfo("could not read ssh://me@host/x and http://t@h/")
        == "could not read ssh://host/x and http://h/"
    )
    assert without_userinfo("git@host:me/x.git") == "git@host:me/x.git"


# --- base and head --------------------------------------------------------------------------------------------------

# c FILE TEXT: write and commit. base: what follows is compared with this commit. copy: go on in a clone.
SHELL = """set -e
c() { printf %s "$2" > "$1"; git add -A; git commit -q -m c; }
base() { git update-ref refs/marks/base HEAD; }
copy() { git clone -q "file://$PWD" ../copy; cd ../copy; git fetch -q origin "+refs/marks/*:refs/marks/*"; }
"""
PUSHED = "c a 1; c a 2; base; copy; "
SITUATIONS = {
    # main has gone on: this commit is not main
    "branch": (
        "c a 1; base; git switch -q -c feature; c a 2; git switch -q main; c b 1; git switch -q feature",
        "merge base with main",
        "base is the merge base with main; head is the last commit on feature",
    ),
    "default branch": (
        "c a 1; base; c a 2",
        "main~1",
        "base is the commit before head, because head is on main itself; head is the last commit on main",
    ),
    "pushed": ("c a 0; base; c a 1; copy", "main~1", ""),
    "unpushed": (
        PUSHED + "c a slow; c readme 1",
        "origin/main",
        "because head is on main with 2 commits that origin/main does not have; head is the last commit on main",
    ),
    # its tip is not the base
    "unpushed, and the remote has gone on": (
        PUSHED + "c a slow; (cd ../my*; c b 1); git fetch -q",
        "merge base with origin/main",
        "",
    ),
    "unpushed, by name": (PUSHED + "c a slow; c readme 1", "origin/main", ""),
    "unpushed, on a new branch": (
        PUSHED + "c a slow; c readme 1; git switch -q -c feature",
        "origin/main",
        "because head has 2 commits of main that origin/main does not have;",
    ),
    "unpushed, and a change": (PUSHED + "c a 5; base; printf 3 > a", "HEAD", ""),
    "change": (
        "c a 1; base; printf 2 > a; printf 3 > new",
        "HEAD",
        "the tree has changes; head is the working tree on main with uncommitted changes (2 files, 1 untracked)",
    ),
    "new branch": ("c a 1; base; c a 2; git switch -q -c feature", "feature~1", "because main has all commits of head"),
    "change on a new branch": ("c a 1; base; git switch -q -c feature; printf 3 > a", "HEAD", ""),
    "detached": ("c a 1; base; git switch -q --detach; c a 2", "main", "head is the last commit at the detached "),
    "detached at main": ("c a 1; base; c a 2; git switch -q --detach", "HEAD~1", ""),
    # there is no commit before it
    "first configuration": ("c a 1; base; echo '[gate]' > perfgate.toml", "HEAD", ""),
    "configuration that nobody committed": ("c a 1; base; c a 2; echo '[gate]' > perfgate.toml", "main~1", ""),
    "configuration and a change": ("c a 1; c a 2; base; echo '[gate]' > perfgate.toml; printf 3 > a", "HEAD", ""),
    "default branch of the remote": (
        "git branch -m trunk; c a 1; base; copy; git switch -q -c feature; git branch -q -D trunk; c a 2",
        "origin/trunk",
        "",
    ),
    "the nearer of local and remote": (
        "c a 1; copy; c a 2; base; git switch -q -c feature; c a 3",
        "main",
        "base is the merge base with main;",
    ),
    "branch of the remote alone": ("c a 1; base; git branch stable; copy", "origin/stable", ""),
    "target of a pull request": (
        "c a 1; git switch -q -c release; c a 2; base; git switch -q -c feature; c a 3",
        "release",
        "",
    ),
    "no default branch, but a base": ("git branch -m trunk; c a 1; base", "HEAD", ""),
}
OPTIONS = {
    "unpushed, by name": {"head": "main"},
    "branch of the remote alone": {"base": "stable"},
    "target of a pull request": {"CI": "1", "GITHUB_BASE_REF": "release"},
    "no default branch, but a base": {"base": "HEAD"},
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_compared(checkout: Checkout, name: str) -> None:
    script, ref, choice = SITUATIONS[name]
    options = OPTIONS.get(name, {})
    subprocess.run(["sh", "-c", SHELL + script], cwd=checkout.path, check=True, capture_output=True)
    copy = checkout.path.parent / "copy"
    here = Checkout(copy) if copy.exists() else checkout
    environment = {key: value for key, value in options.items() if key.isupper()}
    found = resolved(here, base=options.get("base"), head=options.get("head"), environment=environment)
    wanted = here.git("rev-parse", "refs/marks/base").strip()
    assert (found.base.commit.sha, found.base.revision, found.base.commit.ref) == (wanted, wanted, ref)
    assert choice in str(found.choice)
    assert found.warnings == ()
    dirty = here.git("status", "--porcelain") != ""
    tip = here.git("rev-parse", options.get("head", "HEAD")).strip()
    assert (found.head.commit.sha, found.head.commit.dirty, found.head.commit.tree is not None) == (tip, dirty, dirty)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("c a 1", "nothing to compare: head is the first commit and the tree is clean"),
        (
            "git branch -m trunk; c a 1",
            "no default branch found (looked for origin/HEAD, main, master): name the base with --base REF",
        ),
        (
            "c a 1; git switch -q --orphan other; c b 1",
            "head and main have no common commit: name the base with --base REF",
        ),
    ],
)
def test_nothing_to_compare(checkout: Checkout, script: str, message: str) -> None:
    subprocess.run(["sh", "-c", SHELL + script], cwd=checkout.path, check=True, capture_output=True)
    assert refused(checkout).startswith(message)


def test_given_refs(checkout: Checkout) -> None:
    first = checkout.commit(a="1")
    checkout.git("tag", "-a", "-m", "one", "v1")
    second = checkout.commit(a="2")
    checkout.write(a="dirty")
    found = resolved(checkout, base="v1", head="main")
    assert (found.base.commit.sha, found.head.commit.sha, found.head.commit.dirty) == (first, second, False)
    assert str(found.choice) == "base is v1 as given; head is main as given"
    assert resolved(checkout, head="main").base.commit.sha == first
    backwards = resolved(checkout, base="main", head="v1")
    said = "base (main) has 1 commit that head lacks: their effect counts as a change by head"
    assert [each.sentence() for each in backwards.warnings] == [said]


def test_unknown_refs(checkout: Checkout) -> None:
    checkout.commit(a="1")
    checkout.git("branch", "feature/parser")
    assert refused(checkout, base="feature/parse") == (
        "--base feature/parse: no such commit here; similar names: feature/parser"
    )
    assert refused(checkout, head="zzz") == "--head zzz: no such commit here: check the name"
    assert refused(checkout, base="") == "--base is empty: write a branch, a tag or a commit"
    for odd in ("--all", "HEAD:a", "main..feature/parser", "", " ", "HEAD\nHEAD", "HEAD^{tree}"):
        assert refused(checkout, base=odd.replace("\n", " ")).startswith("--base ")
    for odd in ("^HEAD", "HEAD..feature/parser", "feature/parser...HEAD", "HEAD:a", ":/message", "-x", "HEAD HEAD"):
        for option in ("base", "head"):
            assert refused(checkout, **{option: odd}) == (
                f"--{option} {odd}: does not name one commit: write a branch, a tag or a commit, such as main or main~1"
            )
    for fine in ("HEAD^0", "HEAD~0", "HEAD^{commit}", "HEAD@{0}", "@"):
        assert resolved(checkout, base=fine).base.commit.sha == checkout.git("rev-parse", "HEAD").strip()


# a branch "feature" behind main, a branch "stable", a tag, a merge as a forge makes it
SERVED = """set -e
commit() { git add -A; git commit -q -m 'a change'; }
git init -q -b main made
cd made
printf 1 > a; commit
git tag v1
git branch stable
printf 2 > a; commit
git switch -q -c feature
printf 3 > a; commit
printf 3 > c; commit
git switch -q main
printf 1 > b; commit
git switch -q -c merged
git merge -q --no-ff -m merge feature
git update-ref refs/pull/1/merge merged
git switch -q main
git branch -q -D merged
git clone -q --mirror "file://$PWD" ../remote.git
"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a bare remote, made once: it is only read."""
    place = tmp_path_factory.mktemp("served")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | ISOLATED
    subprocess.run(["sh", "-c", SERVED], cwd=place, check=True, env=environment)
    return place / "remote.git"


def cloned(checkout: Checkout, remote: Path, target: Path, *options: str) -> Checkout:
    subprocess.run(["git", "clone", "-q", *options, f"file://{remote}", str(target)], check=True)
    return Checkout(target)


def checked_out_by_the_action(checkout: Checkout, remote: Path, target: Path, ref: str) -> Checkout:
    """Do what actions/checkout does with fetch-depth: 1."""
    subprocess.run(["git", "init", "-q", str(target)], check=True)
    made = Checkout(target)
    made.git("remote", "add", "origin", f"file://{remote}")
    own = f"refs/remotes/{ref.removeprefix('refs/').replace('heads/', 'origin/')}"
    made.git("fetch", "-q", "--no-tags", "--depth=1", "origin", f"+{ref}:{own}")
    made.git("checkout", "-q", "--detach", own)
    return made


PULL = {"CI": "1", "GITHUB_REF": "refs/pull/1/merge", "GITHUB_BASE_REF": "main"}
ONE = ("--depth=1",)


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("make", "options", "environment", "base"),
    [
        pytest.param(("clone", *ONE), {}, {}, "main~1", id="the default branch"),
        pytest.param(("clone", *ONE), {"base": "stable"}, {}, "stable", id="another branch"),
        pytest.param(("clone", *ONE, "--no-tags"), {"base": "v1"}, {}, "v1", id="a tag"),
        pytest.param(("clone", *ONE), {"base": "SHA"}, {}, "stable", id="a commit"),
        pytest.param(("clone", *ONE, "-b", "feature"), {}, {}, "main~1", id="no default branch"),
        pytest.param(("clone", "--single-branch"), {"base": "feature"}, {}, "feature", id="one branch, another base"),
        pytest.param(
            ("action", "refs/heads/main"), {}, {"CI": "1"}, "main~1", id="action, a push to the default branch"
        ),
        pytest.param(("action", "refs/heads/feature"), {}, {"CI": "1"}, "main~1", id="action, a push to a branch"),
        pytest.param(("action", "refs/pull/1/merge"), {}, PULL, "main", id="action, a pull request's merge"),
    ],
)
def test_the_command_that_is_advised_helps(
    checkout: Checkout, remote: Path, tmp_path: Path, make: tuple[str, ...], options: dict[str, str],
    environment: dict[str, str], base: str,
) -> None:  # fmt: skip
    wanted = Checkout(remote).git("rev-parse", base)
    options = {name: wanted if ref == "SHA" else ref for name, ref in options.items()}
    way = cloned if make[0] == "clone" else checked_out_by_the_action
    copy = way(checkout, remote, tmp_path / "copy", *make[1:])
    with pytest.raises(SourceError) as caught:
        resolved(copy, environment=environment, **options)
    message = str(caught.value)
    commands = re.findall(r"`(git [^`]*)`", message)
    assert commands, message
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=copy.path, check=True, capture_output=True)
    assert resolved(copy, environment=environment, **options).base.commit.sha == wanted


def test_without_a_remote_nothing_is_to_be_fetched(checkout: Checkout, remote: Path, tmp_path: Path) -> None:
    copy = cloned(checkout, remote, tmp_path / "copy", "--depth=1")
    copy.git("remote", "remove", "origin")
    assert refused(copy).endswith("name the base with --base REF")
    for base in ("HEAD~1", "stable"):
        assert refused(copy, base=base).endswith("no such commit in this shallow clone: check the name")
    assert "git fetch" not in refused(copy) + refused(copy, base="stable")


def test_a_pull_requests_merge_commit(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="1")
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit(b="1")
    checkout.git("switch", "-q", "main")
    target = checkout.commit(c="1")
    checkout.git("switch", "-q", "--detach")
    checkout.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
    merge = checkout.git("rev-parse", "HEAD")
    ci = {"CI": "true", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": merge, "GITHUB_BASE_REF": "main"}
    found = resolved(checkout, environment=ci)
    assert (found.base.commit.sha, found.base.commit.ref) == (target, "main")
    assert "the first parent of the pull request's merge commit" in str(found.choice)
    # a push whose last commit is a merge is not one
    push = {"CI": "true", "GITHUB_REF": "refs/heads/x", "GITHUB_SHA": merge}
    assert "merge base" in str(resolved(checkout, environment=push).choice)
    checkout.git("update-ref", "refs/remotes/pull/7/merge", merge)
    assert "first parent" in str(resolved(checkout, environment={"CI": "1"}).choice)
    assert "merge base" in str(resolved(checkout, environment={}).choice)
    checkout.git("branch", "merged")
    shallow = cloned(checkout, checkout.path, tmp_path / "shallow", "--depth=1", "-b", "merged")
    with pytest.raises(SourceError, match=r"first parent of the pull request's merge commit .* fetch-depth: 0"):
        resolved(shallow, environment=ci)


# --- the working tree as it is --------------------------------------------------------------------------------------


def index_of(checkout: Checkout) -> bytes:
    return (checkout.path / ".git/index").read_bytes()


def listed(checkout: Checkout, revision: str) -> list[str]:
    return checkout.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", revision).splitlines()


def test_the_working_tree_is_taken_as_it_is(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="*.o\n", kept="1", changed="1", deleted="1", script="1", staged="1")
    checkout.write(changed="2", staged="2", x_dot_o="object", intended="3")
    checkout.git("add", "staged")
    checkout.git("add", "--intent-to-add", "intended")
    (checkout.path / "deleted").unlink()
    (checkout.path / "script").chmod(0o755)
    checkout.file("with space/ünï ☃", "4")
    checkout.file("new\nline*", "5")
    (checkout.path / "link").symlink_to("kept")
    before, refs = index_of(checkout), checkout.git("for-each-ref")
    found = resolved(checkout)
    assert index_of(checkout) == before
    assert checkout.git("for-each-ref") == refs
    assert checkout.git("stash", "list") == ""
    revision = found.head.revision
    assert checkout.git("rev-parse", f"{revision}^{{tree}}") == found.head.commit.tree
    assert checkout.git("rev-parse", f"{revision}^") == found.head.commit.sha
    names = checkout.git("ls-tree", "-r", "-z", "--name-only", revision).split("\0")[:-1]
    assert sorted(names) == sorted(
        [".gitignore", "changed", "intended", "kept", "link", "new\nline*", "script", "staged", "with space/ünï ☃"]
    )
    assert checkout.git("show", f"{revision}:changed") == "2"
    assert checkout.git("show", f"{revision}:intended") == "3"
    assert checkout.git("ls-tree", revision, "script").startswith("100755")
    assert resolved(checkout).head == found.head, "the same content is the same commit"


def test_a_change_is_one_of_content(checkout: Checkout) -> None:
    checkout.commit(a="1")
    os.utime(checkout.path / "a", (1, 1))
    before = index_of(checkout)
    assert not resolved(checkout, base="HEAD").head.commit.dirty
    assert index_of(checkout) == before
    path = checkout.file("a", "one\n")
    checkout.commit()
    stat = path.stat()
    path.write_text("two\n", encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    # an entry as young as its index is compared by content
    os.utime(checkout.path / ".git/index", ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    assert resolved(checkout, base="HEAD").head.commit.dirty


HOSTILE = (
    "core.hooksPath=/nowhere core.fsmonitor=true core.untrackedCache=true core.safecrlf=true color.ui=always column.ui=always "
    "commit.gpgSign=true log.showSignature=true status.showUntrackedFiles=no status.relativePaths=true index.version=4 "
    "submodule.recurse=true diff.ignoreSubmodules=all diff.renames=copies user.useConfigOnly=true add.ignoreErrors=true "
    "i18n.logOutputEncoding=UTF-16 i18n.commitEncoding=UTF-16"
)


def test_whatever_the_users_configuration(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checkout.commit(a="1", moved="2")
    config = tmp_path / "gitconfig"
    config.write_text("".join("[{}]\n{}\n".format(*each.split(".")) for each in HOSTILE.split()), encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    for name in list(os.environ):
        if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_")):
            monkeypatch.delenv(name)
    (checkout.path / "moved").rename(checkout.path / "sub moved")
    checkout.write(new="3")
    found = resolved(checkout)
    assert found.base.commit.sha == first
    assert listed(checkout, found.head.revision) == ["a", "new", "sub moved"]
    assert "(3 files, 2 untracked)" in str(found.choice)


def test_unmerged_files(checkout: Checkout) -> None:
    checkout.commit(a="1")
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit(a="2")
    checkout.git("switch", "-q", "main")
    checkout.commit(a="3")
    subprocess.run(["git", "-C", str(checkout.path), "merge", "-q", "feature"], check=False, capture_output=True)
    assert refused(checkout) == (
        "the checkout has unmerged files (a): resolve and `git add` them, or name a commit with --head"
    )
    assert resolved(checkout, head="main", base="feature").head.commit.ref == "main"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(checkout: Checkout) -> None:
    checkout.commit(a="1")
    checkout.file("secret", "2").chmod(0)
    assert "make it readable, or name it in .gitignore" in refused(checkout)


def test_a_filter_that_hangs(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.commit(_dot_gitattributes="*_slow filter=slow\n", a_slow="a\n")
    checkout.git("config", "filter.slow.clean", f"echo $$ > {tmp_path}/started; exec sleep 1000")
    checkout.write(a_slow="b\n")
    monkeypatch.setattr(store, "PATIENCE", 1.0)
    assert "git status was ended after 1 s" in refused(checkout)
    assert not alive(int((tmp_path / "started").read_text()), None)


def test_embedded_repositories(checkout: Checkout) -> None:
    checkout.commit(a="1")
    for name in ("empty", "full"):
        (checkout.path / name).mkdir()
        checkout.git("-C", name, "init", "-q")
        checkout.file(f"{name}/file", "1")
    checkout.git("-C", "full", "add", "-A")
    checkout.git("-C", "full", "commit", "-q", "-m", "inside")
    checkout.write(b="2")
    found = resolved(checkout)
    assert listed(checkout, found.head.revision) == ["a", "b"]


def test_a_sparse_checkout_loses_nothing(checkout: Checkout) -> None:
    checkout.commit(here__a="1", there__b="1", c="1")
    checkout.git("sparse-checkout", "set", "here")
    assert not (checkout.path / "there").exists()
    checkout.write(here__a="2")
    found = resolved(checkout)
    assert listed(checkout, found.head.revision) == ["c", "here/a", "there/b"]
    assert "(1 file)" in str(found.choice)


def test_a_split_index_stays_as_it_is_and_a_linked_worktree_is_a_checkout_too(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.commit(a="1", b="1")
    checkout.git("update-index", "--split-index")
    checkout.write(a="2")
    before = {path.name: path.read_bytes() for path in (checkout.path / ".git").glob("*index*")}
    assert len(before) == 2
    assert listed(checkout, resolved(checkout).head.revision) == ["a", "b"]
    assert {path.name: path.read_bytes() for path in (checkout.path / ".git").glob("*index*")} == before
    sha = checkout.commit(a="1")
    checkout.git("worktree", "add", "-q", "-b", "feature", str(tmp_path / "linked"))
    (tmp_path / "linked/a").write_text("2", encoding="utf-8")
    repository = find_repository(tmp_path / "linked")
    found = resolve(repository, base=None, head=None, environment={})
    assert (found.base.commit.sha, found.head.commit.dirty) == (sha, True)
    assert repository.common == checkout.path / ".git"
