"""A git directory whose files a commit holds, in the folder of a project: git would take it for the repository."""

import io
import shutil
import subprocess
from pathlib import Path

import pytest

from gate import checkout as of_gate
from gate.cli.main import main
from gate.commands.init.tree import read_tree
from gate.evidence.foreign import named
from gate.model import UserError
from gate.run.memory import here
from harness.errors import SourceError
from harness.source.base_and_head import resolve
from harness.source.git import Git, git_of
from harness.source.repository import find_repository
from tests.harness.conftest import Checkout

pytestmark = pytest.mark.endtoend


def plant(checkout: Checkout, folder: Path, ran: Path) -> str:
    """Put a repository's own files into a folder, as an attack did; return the commit that is HEAD there.

    ran: a file that its configuration makes when git follows it.
    """
    work = folder.parent / "work"
    subprocess.run(["git", "clone", "-q", f"file://{checkout.path}", str(work)], check=True)
    evil = Checkout(work)
    sha = evil.commit("evil", sub__file="evil", _dot_gitattributes="* filter=evil\n")
    for command in ("clean", "smudge"):
        evil.git("config", f"filter.evil.{command}", f"touch {ran}; cat")
    evil.git("config", "core.worktree", ".")
    for name in ("HEAD", "objects", "refs", "config", "packed-refs", "index"):
        if (work / ".git" / name).exists():
            shutil.move(work / ".git" / name, folder / name)
    shutil.rmtree(work)
    return sha


@pytest.fixture(params=["safe.bareRepository", "an older git"])
def planted(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Checkout:
    """A project in the folder "sub" whose second commit holds a planted repository."""
    if request.param == "an older git":
        settings = tuple(each for each in of_gate._SETTINGS if not each.startswith("safe."))
        monkeypatch.setattr(of_gate, "_SETTINGS", settings)
    checkout.commit(sub__perfgate_dot_toml="", sub__file="1", a="1")
    checkout.git("switch", "-q", "-c", "feature")
    checkout.write(sub__file="2")
    evil = plant(checkout, checkout.path / "sub", tmp_path / "ran")
    checkout.git("add", "-A", "-f")
    checkout.git("commit", "-q", "-m", "honest")
    # git alone takes it
    assert checkout.git("-C", "sub", "rev-parse", "HEAD") == evil
    return checkout


def test_base_and_head_and_commands_in_the_folder_have_the_checkouts_git(
    planted: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, honest = planted.git("rev-parse", "main"), planted.git("rev-parse", "HEAD")
    repository = find_repository(planted.path / "sub")
    assert (repository.top, repository.prefix.as_posix()) == (planted.path, "sub")
    found = resolve(repository, base=None, head=None, environment={})
    assert (found.base.commit.sha, found.head.commit.sha) == (target, honest)
    # a dirty tree goes through filters, and an export too: none of them are the planted one's
    planted.write(sub__file="3")
    found = resolve(repository, base=None, head=None, environment={})
    repository.store.export(found.head.revision, tmp_path / "temporary")
    repository.store.work.close()
    assert not (tmp_path / "ran").exists()
    monkeypatch.chdir(planted.path / "sub")
    opened = here()
    assert opened is not None
    assert opened.line("rev-parse", "HEAD") == honest
    assert "perfgate.toml" in read_tree(Path.cwd()).files
    assert main(["init", "--workflow", "pull-request"], io.StringIO(), io.StringIO()) == 0
    assert (planted.path / ".github" / "workflows" / "perfgate-sub.yml").is_file()
    planted.write(sub__result_dot_json="[]")
    planted.git("commit", "-q", "--no-verify", "-m", "x", "--allow-empty")
    ((_, kept),) = named(["git:HEAD:file"])
    assert kept.head.data == b"2"
    for place in (planted.path, planted.path / "sub"):
        assert Git(place).attempt("rev-parse", "--git-dir").status != 0


def test_a_file_that_is_called_like_a_revision_is_no_revision(checkout: Checkout) -> None:
    """The working tree could not be compared with HEAD, nor a commit be read whose id is the name of a file."""
    checkout.commit(a="1")
    checkout.git("switch", "-q", "-c", "feature")
    base, head = checkout.git("rev-parse", "main"), checkout.commit(a="2")
    for name in ("HEAD", "main", base, head, f"{base}..{head}", f"{head}..{base}"):
        checkout.file(name, "x")
    found = resolve(find_repository(checkout.path), base=None, head=None, environment={})
    assert (found.base.commit.sha, found.head.commit.dirty) == (base, True)
    git_ = git_of(checkout.path)
    assert git_.line("rev-list", "--count", f"{base}..{head}") == "1"
    assert git_.line("show", "--no-patch", "--format=%H", head) == head


def test_without_a_checkout_around_it_there_is_no_repository(
    planted: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the sources of an archive; damaged, the .git above it is passed over like one that is not there."""
    folder = shutil.move(planted.path / "sub", tmp_path / "unpacked")
    monkeypatch.chdir(folder)
    assert here() is None
    with pytest.raises(SourceError, match="is a bare repository"):
        git_of(Path(folder))
    with pytest.raises(UserError, match="not in a git repository"):
        named(["git:HEAD:sub/file"])
    (tmp_path / "unpacked/.git/objects").mkdir(parents=True)
    (tmp_path / "unpacked/.git/refs").mkdir()
    (tmp_path / "unpacked/.git/HEAD").write_text("damaged")
    with pytest.raises(SourceError, match=r"is not in a git repository|cannot use bare repository"):
        git_of(Path(folder))
    # nor one that is named: histories are named by --history
    monkeypatch.setenv("GIT_DIR", ".")
    assert here() is None


def test_a_submodule_is_a_checkout_of_its_own(nested: Checkout) -> None:
    inside = find_repository(nested.path / "libs/middle/nested dir")
    assert inside.top == nested.path / "libs/middle/nested dir"
    assert inside.git.line("rev-parse", "HEAD") == nested.git("-C", "libs/middle/nested dir", "rev-parse", "HEAD")
