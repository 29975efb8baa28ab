"""Tracked files of a tree against its commit: every change of one is found, and nothing else is."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.model import Side
from harness.source.trees import Trees
from tests.harness.conftest import Checkout
from tests.harness.source.test_trees import trees_of

pytestmark = pytest.mark.endtoend


def nothing(side: Side, path: str) -> bool:
    """Excuse nothing."""
    return False


def changed(trees: Trees) -> dict[Side, list[str]]:
    return {side: paths for (side, _), paths in trees.changed(nothing).items()}


@pytest.fixture
def files(checkout: Checkout) -> Checkout:
    checkout.file("run.sh", "#!/bin/sh\n").chmod(0o755)
    (checkout.path / "link").symlink_to("src/a.c")
    checkout.commit(src__a_dot_c="int a;\n", src__deep__b_dot_c="int b;\n", plain="1", same="1")
    return checkout


def forged(path: Path) -> None:
    """Write as many other bytes, and put all times back that can be."""
    before = path.stat()
    path.write_text(path.read_text().replace("1", "2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_size == before.st_size


def moved_aside(tree: Path) -> None:
    """Put a link to the same files where a directory was: they may change behind it."""
    (tree / "src").rename(tree / "elsewhere")
    (tree / "src").symlink_to("elsewhere")


def linked(path: Path, target: str) -> None:
    """Put a link where a file is."""
    path.unlink()
    path.symlink_to(target)


def no_link(path: Path) -> None:
    """Put a file where a link is, of the bytes that git has of the link."""
    target = path.readlink()
    path.unlink()
    path.write_text(str(target))


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "content": (lambda tree: (tree / "src/a.c").write_text("int c;\n"), ["src/a.c"]),
    "forged mtime": (lambda tree: forged(tree / "plain"), ["plain"]),
    "deleted": (lambda tree: (tree / "src/deep/b.c").unlink(), ["src/deep/b.c"]),
    "directory": (lambda tree: shutil.rmtree(tree / "src"), ["src/a.c", "src/deep/b.c"]),
    "replaced": (moved_aside, ["src/a.c", "src/deep/b.c"]),
    "mode": (lambda tree: (tree / "plain").chmod(0o755), ["plain"]),
    "no longer executable": (lambda tree: (tree / "run.sh").chmod(0o644), ["run.sh"]),
    "link": (lambda tree: linked(tree / "link", "plain"), ["link"]),
    "link to file": (lambda tree: no_link(tree / "link"), ["link"]),
    "file to link": (lambda tree: linked(tree / "plain", "same"), ["plain"]),
}


def test_a_change_is_found_once(files: Checkout) -> None:
    with trees_of(files, "HEAD", "HEAD") as trees:
        for kind, (change, expected) in CHANGES.items():
            tree = trees.make("head")
            trees.make("base")
            assert changed(trees) == {}, kind
            # head's tree, wherever it stands
            change(trees.roots()["head"])
            assert changed(trees) == {"head": expected}, kind
            assert changed(trees) == {}, kind
            assert trees.make("head") == tree
            assert changed(trees) == {}, kind
            change(tree)
            assert changed(trees) == {"head": expected}, kind


def restored(path: Path) -> None:
    """Write another file of the same content in its place."""
    content, mode = path.read_bytes(), path.stat().st_mode
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)


def copied(path: Path) -> None:
    """Put a copy in the place of a directory."""
    shutil.copytree(path, path.with_name("copy"))
    shutil.rmtree(path)
    path.with_name("copy").rename(path)


def added(tree: Path) -> None:
    (tree / "src/new.c").write_text("x")
    (tree / "build").mkdir()
    (tree / "build/o").touch()


SAME: dict[str, Callable[[Path], object]] = {
    "touched": lambda tree: (tree / "plain").touch(),
    "written again": lambda tree: restored(tree / "run.sh"),
    "copied": lambda tree: copied(tree / "src"),
    "added": added,
    "linked": lambda tree: (tree / "hard").hardlink_to(tree / "plain"),
    "writable": lambda tree: (tree / "plain").chmod(0o666),
    "link again": lambda tree: linked(tree / "link", "src/a.c"),
}


def test_the_same_content_is_no_change(files: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    with trees_of(files, "HEAD", "HEAD") as trees:
        for kind, change in SAME.items():
            tree = trees.make("head")
            change(tree)
            assert changed(trees) == {}, kind
            # what was compared is known now
            with monkeypatch.context() as patched:
                patched.setattr(trees._commits, "unlike", None)
                assert changed(trees) == {}, kind
            (tree / "plain").write_text("2")
            assert changed(trees) == {"head": ["plain"]}, kind


def test_what_is_excused_shared_or_git_s_own_is_no_change(files: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    with trees_of(files, "HEAD", "HEAD") as trees:
        tree = trees.make("head")
        (tree / "plain").write_text("made by the build")
        assert trees.changed(lambda side, path: (side, path) == ("head", "plain")) == {}
        assert trees.changed(nothing) == {}
        (tree / "plain").unlink()
        assert trees.changed(lambda side, path: path == "plain") == {}
        assert trees.changed(nothing) == {}
        (tree / "plain").write_text("made by something else")
        assert trees.changed(nothing) == {("head", ""): ["plain"]}
    files.write(_dot_gitignore="data\n", data__x="1")
    with trees_of(files, share=["data"]) as trees:
        tree = trees.make("head")
        (tree / "data/x").write_text("2")
        (tree / "data").unlink()
        assert changed(trees) == {}
    with trees_of(files, "HEAD", "HEAD") as trees:
        tree = trees.make("head", git=True)
        (tree / ".git/config").write_text("")
        assert changed(trees) == {}
    # what cannot be compared may have changed
    with trees_of(files, "HEAD", "HEAD") as trees:
        tree = trees.make("head")
        (tree / "plain").touch()
        monkeypatch.setenv("PATH", "/nowhere")
        assert changed(trees) == {"head": ["plain"]}


def test_the_working_tree_is_compared_with_what_was_measured_of_it(files: Checkout) -> None:
    files.write(plain="uncommitted", untracked="new")
    with trees_of(files, "HEAD") as trees:
        trees.make("base")
        tree = trees.make("head")
        for name in ("plain", "untracked"):
            (tree / name).touch()
        assert changed(trees) == {}
        # as the last commit has it
        (tree / "plain").write_text("1")
        (tree / "untracked").write_text("changed")
        assert changed(trees) == {"head": ["plain", "untracked"]}


def test_files_that_attributes_convert(checkout: Checkout) -> None:
    checkout.git("config", "filter.rot.smudge", "tr a-z b-za")
    checkout.git("config", "filter.rot.clean", "tr b-za a-z")
    attributes = "*.txt eol=crlf\n*.rot filter=rot\n*.id ident\n"
    checkout.commit(_dot_gitattributes=attributes, a_dot_txt="x\n", b_dot_rot="abc\n", c_dot_id="$Id$\n", d="1\n")
    with trees_of(checkout, "HEAD", "HEAD") as trees:
        tree = trees.make("head")
        assert (tree / "a.txt").read_bytes() == b"x\r\n"
        assert (tree / "b.rot").read_text() == "abc\n"
        assert checkout.git("show", "HEAD:b.rot") == "zab"
        for name in ("a.txt", "b.rot", "c.id", "d", ".gitattributes"):
            (tree / name).touch()
        assert changed(trees) == {}
        # what git would take for the same: the bytes of the commit itself
        (tree / "a.txt").write_bytes(b"x\n")
        (tree / "b.rot").write_text("zab\n")
        (tree / "c.id").write_text("$Id$\n")
        (tree / "d").write_text("2\n")
        assert changed(trees) == {"head": ["a.txt", "b.rot", "c.id", "d"]}


def taken(trees: Trees, copy: Path, excused: Callable[[str], bool] = lambda path: False) -> bool:
    def made(place: Path) -> bool:
        shutil.copytree(copy, place, symlinks=True)
        return True

    return trees.take("head", made, excused)


def test_a_tree_of_an_earlier_run(files: Checkout, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with trees_of(files, "HEAD", "HEAD") as trees:
        shutil.copytree(trees.make("head"), copy, symlinks=True)
    (copy / "built").write_text("x")
    with trees_of(files, "HEAD", "HEAD") as trees:
        assert taken(trees, copy)
        tree = trees.project("head")
        (tree / "built").write_text("y")
        assert changed(trees) == {}
        forged(tree / "plain")
        assert changed(trees) == {"head": ["plain"]}
    moved_aside(copy)
    with trees_of(files, "HEAD", "HEAD") as trees:
        assert not taken(trees, copy)
    (copy / "src").unlink()
    (copy / "elsewhere").rename(copy / "src")
    forged(copy / "plain")
    with trees_of(files, "HEAD", "HEAD") as trees:
        assert not taken(trees, copy)
        assert not (trees.directory / "tree").exists()
        assert taken(trees, copy, excused=lambda path: path == "plain")
        assert changed(trees) == {}


def test_submodules_are_at_their_recorded_commits(nested: Checkout, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with trees_of(nested, "HEAD", "HEAD") as trees:
        tree = trees.make("head")
        inside = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())
        deepest = max((name for name in inside if name != ".gitmodules"), key=lambda name: name.count("/"))
        assert deepest.count("/") >= 2, "a submodule in a submodule"
        for name in inside:
            (tree / name).touch()
        assert changed(trees) == {}
        shutil.copytree(tree, copy, symlinks=True)
        (tree / deepest).write_text("another")
        assert changed(trees) == {"head": [deepest]}
    with trees_of(nested, "HEAD", "HEAD") as trees:
        assert taken(trees, copy)
    (copy / deepest).write_text("another")
    with trees_of(nested, "HEAD", "HEAD") as trees:
        assert not taken(trees, copy)
