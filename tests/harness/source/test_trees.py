"""The trees of a run: what is in them, and that nothing of them is left."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.model import SIDES, Side
from harness.errors import SourceError
from harness.process.process_groups import marks
from harness.source.base_and_head import overlaid, resolve
from harness.source.repository import find_repository
from harness.source.submodules import relative_url
from harness.source.trees import Trees, open_trees
from harness.source.workdir import RUNNING, remove_leftovers
from tests.harness.conftest import Checkout
from tests.support.project import executable
from tests.support.warned import kinds


def names(directory: Path) -> list[str]:
    """Every file and link below a directory, without what belongs to git."""
    found = []
    for parent, folders, files in os.walk(directory):
        links = [folder for folder in folders if Path(parent, folder).is_symlink()]
        found += [Path(parent, name).relative_to(directory).as_posix() for name in files + links]
        folders[:] = [folder for folder in folders if folder != ".git"]
    return sorted(name for name in found if name.split("/")[-1] != ".git")


@contextmanager
def trees_of(
    checkout: Checkout,
    base: str | None = None,
    head: str | None = None,
    share: Sequence[str] = (),
    keep: bool = False,
    one_path: bool = True,
) -> Iterator[Trees]:
    repository = find_repository(checkout.path)
    sources = resolve(repository, base=base, head=head, environment={})
    shared: dict[Side, Sequence[str]] = {"base": share, "head": share}
    with open_trees(repository, sources, share_paths=shared, keep=keep, one_path=one_path) as trees:
        yield trees


def nothing_left(checkout: Checkout, temporary: Path) -> bool:
    own = checkout.path / ".git/perfgate"
    return worktrees(checkout) == 1 and list(temporary.iterdir()) == [] and not own.exists()


def worktrees(checkout: Checkout) -> int:
    """How many trees git knows of, with the checkout."""
    return checkout.git("worktree", "list", "--porcelain").count("worktree ")


def test_both_sides_are_checked_out(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1", **{"sp ace__ünï": "1"})
    checkout.write(a="2", new="3")
    before = (checkout.path / ".git/index").read_bytes()
    with trees_of(checkout) as trees:
        base = trees.make("base")
        assert (names(base), (base / "a").read_text()) == (["a", "sp ace/ünï"], "1")
        assert not base.is_relative_to(checkout.path)
        assert base.is_relative_to(isolated_git)
        head = trees.make("head")
        assert head == base, "what a build writes of its path is the same on both sides"
        assert (names(head), (head / "a").read_text()) == (["a", "new", "sp ace/ünï"], "2")
        (head / "built").write_text("x")
        assert names(trees.project("base")) == ["a", "sp ace/ünï"]
        assert len({(base / name).stat().st_mtime_ns for name in names(base)}) == 1
        assert names(trees.project("head")) == ["a", "built", "new", "sp ace/ünï"]
    assert nothing_left(checkout, isolated_git)
    assert (checkout.path / ".git/index").read_bytes() == before
    assert checkout.git("status", "--porcelain") == " M a\n?? new"


CONTENT = """
[core]
	autocrlf = true
	eol = crlf
	symlinks = false
	fileMode = false
	attributesFile = {directory}/attributes
	excludesFile = {directory}/attributes
	sparseCheckout = true
[init]
	templateDir = {directory}/template
	defaultObjectFormat = sha256
[filter "number"]
	smudge = sed s/1/2/
[checkout]
	workers = 4
"""


def test_a_commit_alone_says_what_is_checked_out(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter that .gitattributes names counts, as those of git lfs do."""
    checkout.commit(
        _dot_gitattributes="*.n filter=number\n*.dos text eol=crlf\n", text="a\nb\n", one_dot_n="1", x_dot_dos="a\n"
    )
    (checkout.path / "link").symlink_to("text")
    (checkout.path / "text").chmod(0o755)
    checkout.commit(sub__out="1")
    directory = tmp_path / "own"
    (directory / "template/hooks").mkdir(parents=True)
    (directory / "attributes").write_text("* text eol=crlf ident\n")
    (directory / "config").write_text(CONTENT.format(directory=directory))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(directory / "config"))
    checkout.file(".git/info/sparse-checkout", "/*\n!/sub/\n")
    checkout.file(".git/info/attributes", "* text eol=crlf\n")
    for name, value in (("COUNT", "1"), ("KEY_0", "core.eol"), ("VALUE_0", "crlf")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        tree = trees.make("head")
        assert names(tree) == [".gitattributes", "link", "one.n", "sub/out", "text", "x.dos"]
        assert (tree / "text").read_bytes() == b"a\nb\n"
        assert (tree / "x.dos").read_bytes() == b"a\r\n"
        assert (tree / "one.n").read_text() == "2"
        assert os.access(tree / "text", os.X_OK)
        assert not os.access(tree / "x.dos", os.X_OK)
        assert (tree / "link").is_symlink()


def test_a_filter_that_fails_is_said(checkout: Checkout) -> None:
    checkout.git("config", "filter.broken.clean", "cat")
    checkout.git("config", "filter.broken.smudge", "false")
    checkout.git("config", "filter.broken.required", "true")
    checkout.commit(_dot_gitattributes="*.x filter=broken\n", a_dot_x="1")
    with (
        trees_of(checkout, "HEAD", "HEAD") as trees,
        pytest.raises(SourceError, match=r"head cannot be checked out to .*external filter 'false' failed"),
    ):
        trees.make("head")


@pytest.mark.parametrize("kind", ["shared", "partial", "shallow", "worktree", "named"])
def test_any_repository_is_exported(checkout: Checkout, tmp_path: Path, kind: str) -> None:
    copy = Checkout(tmp_path / ('od"d\nname' if kind == "named" else kind))
    checkout.commit(a="1")
    checkout.commit(a="2", new="\n")
    checkout.git("config", "uploadpack.allowFilter", "true")
    options = {
        "shared": ("clone", "-q", "--shared", str(checkout.path)),
        "partial": ("clone", "-q", "--filter=blob:none", f"file://{checkout.path}"),
        "shallow": ("clone", "-q", "--depth=2", f"file://{checkout.path}"),
        "worktree": ("worktree", "add", "-q", "--detach"),
        "named": ("clone", "-q", str(checkout.path)),
    }[kind]
    checkout.git(*options, str(copy.path))
    (copy.path / "a").write_text("3")
    before = {path: path.read_bytes() for path in (copy.path / ".git").rglob("*") if path.is_file()}
    with trees_of(copy, "HEAD~1") as trees:
        assert [(trees.make(side) / "a").read_text() for side in SIDES] == ["1", "3"]
        # git looks at the blobs of the commit that is measured, so that a partial clone fetches them
        if kind != "partial":
            after = {path: path.read_bytes() for path in (copy.path / ".git").rglob("*") if path.is_file()}
            assert after.keys() - {p for p in after if "perfgate" in p.parts} == before.keys()


def test_the_project_of_a_monorepo(checkout: Checkout) -> None:
    first = checkout.commit(a="1")
    checkout.commit(pkg__perfgate_dot_toml="", pkg__b="1")
    repository = find_repository(checkout.path / "pkg")
    sources = resolve(repository, base=first, head="HEAD", environment={})
    empty: dict[str, list[str]] = {"base": [], "head": []}
    with open_trees(repository, sources, share_paths={side: empty[side] for side in SIDES}) as trees:
        assert names(trees.make("head")) == ["b", "perfgate.toml"]
        with pytest.raises(SourceError, match=r"base, .*, has no directory pkg: choose another --base"):
            trees.make("base")


def test_a_side_has_a_tree_of_each_variant_and_a_fresh_checkout_replaces_the_one_before(
    checkout: Checkout, isolated_git: Path
) -> None:
    checkout.commit(a="1")
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        first = trees.make("base", "abc")
        (first / "built").write_text("x")
        other = trees.make("head", "xyz")
        second = trees.make("base", "defg")
        assert names(second) == ["a"]
        assert not first.parent.exists()
        assert other.exists()
        assert worktrees(checkout) == 1
    assert nothing_left(checkout, isolated_git)
    checkout.commit(a="1")
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        paths = [trees.make("head", variant=variant) for variant in ("oo", "vv")]
        assert [path.parent.name for path in paths] == ["oo", "vv"]
        assert trees.project("head", "oo") == paths[0]
        (paths[0] / "built").write_text("x")
        moved = trees.make("head", "abc", "vv")
        assert moved == trees.directory / "abc/vv/tree"
        assert names(paths[0]) == ["a", "built"]
        assert not paths[1].parent.exists()
        trees.remove("head", "vv")
        assert not (trees.directory / "abc").exists()
        assert trees.project("head", "oo") == paths[0]
    assert nothing_left(checkout, isolated_git)


def test_what_was_done_to_a_tree_is_undone(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1", b="1", d__e="1")
    (checkout.path / "link").symlink_to("a")
    checkout.commit()

    def added(tree: Path) -> None:
        (tree / "d/deep").mkdir()
        (tree / "d/deep/x").write_text("1")
        (tree / "d/deep").chmod(0o500)
        (tree / ".git").mkdir()
        (tree / "d/.git").write_text("gitdir: /nowhere")

    def of_the_same_size_and_time(tree: Path) -> None:
        facts = (tree / "a").stat()
        (tree / "a").write_text("2")
        os.utime(tree / "a", ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def linked(tree: Path) -> None:
        (tree / "d/e").unlink()
        (tree / "d").rmdir()
        (tree / "d").symlink_to(checkout.path / "d")

    changes: tuple[Callable[[Path], object], ...] = (
        added,
        of_the_same_size_and_time,
        linked,
        lambda tree: (tree / "b").unlink(),
        lambda tree: (tree / "b").chmod(0o600),
        lambda tree: (tree / "d").chmod(0o700),
        lambda tree: (tree / "a").replace(tree / "b"),
        lambda tree: (tree / "x").hardlink_to(tree / "a"),
    )
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        tree = trees.make("base", "n")
        kept = (tree / "a").stat().st_ctime_ns
        modes = {path: path.stat().st_mode for path in tree.rglob("*")}
        for number, change in enumerate(changes):
            change(tree)
            tree = trees.make("base", f"n{number}")
            assert {tree / p.relative_to(trees.directory / "n/tree"): mode for p, mode in modes.items()} == {
                path: path.stat().st_mode for path in tree.rglob("*")
            }
            assert [(tree / name).read_text() for name in ("a", "b", "d/e", "link")] == ["1"] * 4
            assert not (tree / "d").is_symlink()
            assert ((tree / "a").stat().st_ctime_ns == kept) == (number == 0), (
                "a tree is made anew only where it must be"
            )
            kept = (tree / "a").stat().st_ctime_ns
    assert nothing_left(checkout, isolated_git)


def test_sides_that_must_stand_at_once_have_paths_of_one_length(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1")
    checkout.write(a="2")
    with trees_of(checkout, one_path=False) as trees:
        base, head = trees.make("base", "abc"), trees.make("head", "abc")
        assert len(str(base)) == len(str(head))
        assert ((base / "a").read_text(), (head / "a").read_text()) == ("1", "2")
        assert (trees.project("base"), trees.project("head")) == (base, head)
    assert nothing_left(checkout, isolated_git)


def test_whatever_happens_nothing_is_left_but_what_is_kept(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1")

    def interrupted() -> None:
        with trees_of(checkout, "HEAD", "HEAD") as trees:
            tree = trees.make("base")
            # as Go's module cache is
            (tree / "cache/deep").mkdir(parents=True)
            (tree / "cache/deep/file").write_text("x")
            (tree / "cache/deep").chmod(0o500)
            (tree / "cache").chmod(0o500)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert nothing_left(checkout, isolated_git)
    checkout.commit(a="1")
    with trees_of(checkout, "HEAD", "HEAD", keep=True) as trees:
        trees.make("base")
        trees.make("head")
        kept = trees.kept("base")
    assert (kept / "a").exists()
    assert (trees.kept("head") / "a").exists()
    with trees_of(checkout, "HEAD", "HEAD"):
        assert kept.exists()
    assert kept.exists()


# --- share and overlay ----------------------------------------------------------------------------------------------


def test_ignored_data_is_shared(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="/data/\nnode_modules/\n*.bin\n", a="1", sub__b="1")
    checkout.write(data__large="1", node_modules__x__y="2", sub__c_dot_bin="3", untracked__too="4")
    with trees_of(checkout, "HEAD", share=["data/", "node_modules", "sub/c.bin", "untracked"]) as trees:
        for side in SIDES:
            tree = trees.make(side)
            assert (tree / "data").is_symlink()
            assert (tree / "data/large").read_text() == "1"
            assert (tree / "node_modules/x/y").read_text() == "2"
            assert (tree / "sub/c.bin").read_text() == "3"
            assert (tree / "untracked/too").read_text() == "4"
    assert (checkout.path / "data/large").exists(), "links are removed, not what they point to"


def test_a_directory_that_git_tracks_in_part_is_shared_in_part(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="data/*\n!data/tracked\n!data/sub\n", data__tracked="old", data__sub__own="1")
    checkout.git("add", "-f", "data/sub")
    checkout.commit()
    checkout.write(data__tracked="new", data__large="1", data__more__file="2")
    with trees_of(checkout, share=["data"]) as trees:
        wanted: dict[Side, str] = {"base": "old", "head": "new"}
        for side, tracked in wanted.items():
            tree = trees.make(side)
            assert names(tree) == [".gitignore", "data/large", "data/more", "data/sub/own", "data/tracked"]
            assert (tree / "data/tracked").read_text() == tracked


def test_what_cannot_be_shared(checkout: Checkout) -> None:
    checkout.commit(a="1")
    for path, message in (
        ("absent", r"absent does not exist in .*: make it, or remove it from share"),
        ("a", r"git tracks a, so each side has its own"),
    ):
        with (
            pytest.raises(SourceError, match=rf"\[build\] share: {message}"),
            trees_of(checkout, "HEAD", "HEAD", share=[path]),
        ):
            pass


def test_overlay_gives_base_the_paths_of_head(checkout: Checkout) -> None:
    base = checkout.commit(src="1", bench__gone="1", bench__changed="1", one="1", d__file="1")
    (checkout.path / "bench/gone").unlink()
    (checkout.path / "d/file").unlink()
    (checkout.path / "d").rmdir()
    head = checkout.commit(src="2", bench__changed="2", bench__sub__new="2", one="2", d="2")
    repository = find_repository(checkout.path)
    made = overlaid(repository, base, head, ["bench/", "one", "d"])
    with pytest.raises(AssertionError):
        checkout.git("cat-file", "-e", made)
    checkout.sees(repository)
    listing = "ls-tree", "-r", "--format=%(path) %(objectname)"
    expected = dict(line.split(" ") for line in checkout.git(*listing, head).splitlines())
    expected["src"] = checkout.git("rev-parse", f"{base}:src")
    assert dict(line.split(" ") for line in checkout.git(*listing, made).splitlines()) == expected
    assert overlaid(repository, head, head, ["bench/"]) == head
    assert overlaid(repository, base, head, []) == base
    with pytest.raises(SourceError, match=r"\[build\] overlay: head has no bench/gone: commit it"):
        overlaid(repository, base, head, ["bench/gone"])


# --- submodules -----------------------------------------------------------------------------------------------------


@pytest.mark.endtoend
def test_urls_of_nested_submodules_are_relative_to_their_own_remote(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "protocol.file.allow", "VALUE_0": "always"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    inner, middle = Checkout(tmp_path / "far/inner"), Checkout(tmp_path / "far/middle")
    for each in (inner, middle):
        each.path.mkdir(parents=True)
        each.git("init", "-q", "-b", "main")
    inner.commit(deep="1")
    middle.git("submodule", "--quiet", "add", "../inner", "nested")
    middle.commit()
    checkout.git("submodule", "--quiet", "add", "./../far/middle", "lib")
    checkout.commit()
    for present in (True, False):  # the checkout has the submodule, but not the one in it; then neither
        if not present:
            checkout.git("submodule", "--quiet", "deinit", "--all")
            shutil.rmtree(checkout.path / ".git/modules")
        with trees_of(checkout, "HEAD", "HEAD") as trees:
            assert (trees.make("base") / "lib/nested/deep").read_text() == "1"


@pytest.mark.parametrize(
    ("remote", "url", "expected"),
    [
        ("https://host/team/app.git", "../lib.git", "https://host/team/lib.git"),
        ("https://host/team/app.git/", "../../other/lib", "https://host/other/lib"),
        ("https://host/team/app", "./lib", "https://host/team/app/lib"),
        ("git@host:team/app.git", "../lib.git", "git@host:team/lib.git"),
        ("git@host:app.git", "../lib.git", "git@host:lib.git"),
        ("/srv/git/app", "../lib", "/srv/git/lib"),
    ],
)
def test_relative_urls(remote: str, url: str, expected: str) -> None:
    # as git's own t0060-path-utils.sh and gitmodules(5) have them
    assert relative_url(remote, url) == expected


def deep(tree: Path) -> str:
    return (tree / "libs/middle/nested dir/deep").read_text(encoding="utf-8")


@pytest.mark.endtoend
def test_submodules_are_at_their_recorded_commits(nested: Checkout, isolated_git: Path, tmp_path: Path) -> None:
    # offline: the checkout's own git directories are enough
    for name in ("inner repo", "middle"):
        (tmp_path / name).rename(tmp_path / f"{name} moved")
    config = (nested.path / ".git/config").read_bytes()
    with trees_of(nested) as trees:
        assert deep(trees.make("base")) == "1"
        assert deep(trees.make("head")) == "2"
    assert nothing_left(nested, isolated_git)
    assert (nested.path / ".git/config").read_bytes() == config
    # a dirty one is measured without its changes, and a commit that was made in one with them
    (nested.path / "libs/middle/file").write_text("dirty", encoding="utf-8")
    found = resolve(find_repository(nested.path), base=None, head=None, environment={})
    assert not found.head.commit.dirty
    said = "submodule libs/middle has uncommitted changes: its commit is measured without them"
    assert [each.sentence() for each in found.warnings] == [said]
    nested.git("-C", "libs/middle", "rm", "-q", "-f", "file")
    nested.git("-C", "libs/middle", "commit", "-q", "-m", "local only")
    with trees_of(nested) as trees:
        assert trees.sources.head.commit.dirty
        assert not (trees.make("head") / "libs/middle/file").exists()
        assert (trees.make("base") / "libs/middle/file").exists()


@pytest.mark.endtoend
def test_a_submodule_that_is_not_in_the_checkout_is_cloned(
    nested: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Checkout(tmp_path / "copy")
    nested.git("clone", "-q", str(nested.path), str(copy.path))
    # relative to the remote: beside the checkout it came from
    with pytest.raises(SourceError) as caught, trees_of(copy, "HEAD", "HEAD") as trees:
        trees.make("base")
    assert "submodule libs/middle at" in str(caught.value)
    assert f"from {tmp_path}/middle" in str(caught.value)
    assert "transport 'file' not allowed" in str(caught.value), "git's own rule for URLs of a repository"
    assert "`git config submodule.libs/middle.update none` to leave it out" in str(caught.value)
    for name, value in {"COUNT": "1", "KEY_0": "protocol.file.allow", "VALUE_0": "always"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    with trees_of(copy, "HEAD", "HEAD") as trees:
        assert deep(trees.make("base")) == "2"
    monkeypatch.delenv("GIT_CONFIG_COUNT")
    copy.git("config", "submodule.libs/middle.update", "none")
    with trees_of(copy, "HEAD", "HEAD") as trees:
        assert list((trees.make("base") / "libs/middle").iterdir()) == []


# --- what a killed run leaves ---------------------------------------------------------------------------------------


def test_another_run_that_lives_keeps_its_trees(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1")
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        tree = trees.make("base")
        with trees_of(checkout, "HEAD", "HEAD") as others:
            others.make("base")
        assert (tree / "a").exists()
    assert nothing_left(checkout, isolated_git)


def test_what_a_killed_run_started_ends_though_its_directory_is_gone(checkout: Checkout, isolated_git: Path) -> None:
    checkout.commit(a="1")
    name = f"perfgate-{os.getpid():08x}"
    mark = {**os.environ, **marks(isolated_git / name / RUNNING)}
    with subprocess.Popen(["sleep", "60"], env=mark, start_new_session=True) as orphan:
        # it is there a moment after Popen returns
        while not Path(f"/proc/{orphan.pid}/environ").read_bytes():
            time.sleep(0.01)
        work = checkout.path / ".perfgate/work"
        work.mkdir(parents=True)
        record = {"directory": str(isolated_git / name), "pid": 2**22 + 1, "started": None}
        (work / f"{name}.json").write_text(json.dumps(record))
        remove_leftovers(checkout.path / ".perfgate")
        assert orphan.wait(10) == -signal.SIGTERM
    assert not work.exists()


def test_a_temporary_directory_of_no_use_is_not_replaced_in_silence(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.commit(a="1")
    (tmp_path / "file").write_text("no directory")
    cannot = "cannot be used: .*: set it to another place"
    for place, why in (
        ("missing", cannot),
        ("file", cannot),
        (checkout.path.name, "is inside the checkout: set TMPDIR"),
    ):
        monkeypatch.setenv("TMPDIR", str(tmp_path / place))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / place))
        with pytest.raises(SourceError, match=why) as caught, trees_of(checkout, "HEAD", "HEAD"):
            pass
        assert str(tmp_path / place) in str(caught.value)


def test_a_record_may_not_remove_what_perfgate_did_not_make(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="1")
    precious = tmp_path / "perfgate-01234567"
    (precious / "file").mkdir(parents=True)
    work = checkout.path / ".perfgate/work"
    work.mkdir(parents=True)
    for name, directory in (("a", precious), ("b", tmp_path), ("c", checkout.path)):
        record = {"directory": str(directory), "pid": 2**22 + 1, "started": None}
        (work / f"{name}.json").write_text(json.dumps(record))
    (work / "torn.json").write_text('{"direc')
    remove_leftovers(checkout.path / ".perfgate")
    assert (precious / "file").exists()
    assert (checkout.path / "a").exists()
    assert not work.exists()


def test_lfs_pointers_are_not_downloaded(checkout: Checkout) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    checkout.git("config", "filter.lfs.smudge", 'test -n "$GIT_LFS_SKIP_SMUDGE" && cat || echo downloaded')
    checkout.commit(_dot_gitattributes="*.bin filter=lfs\n", a_dot_bin=pointer)
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        assert (trees.make("base") / "a.bin").read_text() == pointer
        assert kinds(trees.warnings) == ["lfs-pointers"]
    checkout.write(a_dot_bin="content")
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        assert (trees.make("base") / "a.bin").read_text() == "downloaded\n"
        assert trees.warnings == ()


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="no git lfs")
def test_real_files_of_git_lfs(checkout: Checkout, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    checkout.git("remote", "add", "origin", remote.as_uri())
    checkout.git("lfs", "install", "--local")
    base = checkout.commit(_dot_gitattributes="*.bin filter=lfs\n", a_dot_bin="1\n")
    head = checkout.commit(a_dot_bin="2\n")
    checkout.git("push", "-q", "origin", "main")
    shutil.rmtree(checkout.path / ".git/lfs/objects")
    with trees_of(checkout, base, head) as trees:
        assert [(trees.make(side) / "a.bin").read_text() for side in SIDES] == ["1\n", "2\n"]
    assert not (checkout.path / ".git/lfs/objects").exists()
    shutil.rmtree(remote / "lfs/objects")
    with trees_of(checkout, base, head) as trees, pytest.raises(SourceError) as caught:
        trees.make("base")
    advice = f"run `git lfs fetch origin {base}`"
    assert str(caught.value) == f"base needs a.bin of git lfs, which cannot be downloaded: {advice}"


def test_what_git_lfs_makes_of_changes_is_not_the_users(checkout: Checkout, tmp_path: Path) -> None:
    """A stand-in for git lfs: a file is kept where lfs.storage says, else in the git directory."""
    place = '"$(git config lfs.storage || echo "$(git rev-parse --git-dir)/lfs")"'
    script = executable(
        tmp_path / "lfs",
        f'#!/bin/sh\nd={place}; mkdir -p "$d"; test $1 = clean && cat > "$d/o" || cat "$d/o"; echo p\n',
    )
    checkout.commit(_dot_gitattributes="*.bin filter=lfs\n", a_dot_bin="1")
    for name in ("clean", "smudge"):
        checkout.git("config", f"filter.lfs.{name}", f"'{script}' {name}")
    checkout.write(a_dot_bin="changed\n")
    with trees_of(checkout, "HEAD") as trees:
        assert (trees.make("head") / "a.bin").read_text() == "changed\np\n"
    assert not (checkout.path / ".git/lfs").exists()
    # one that the user shares stays where it is
    checkout.git("config", "lfs.storage", str(tmp_path / "shared"))
    with trees_of(checkout, "HEAD") as trees:
        assert (trees.make("head") / "a.bin").read_text() == "changed\np\n"
    assert (tmp_path / "shared/o").read_text() == "changed\n"
