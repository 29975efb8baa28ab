"""v1 and v1.2 lead to the newest release of their series, and never back."""

from pathlib import Path

import pytest

from scripts.release.__main__ import main
from scripts.release.errors import ReleaseError
from scripts.release.tags import Move, listed, moves, push
from tests.support.project import Project

OLD, NEW, THIRD = "a" * 40, "b" * 40, "c" * 40


@pytest.mark.parametrize(
    ("refs", "tag", "expected"),
    [
        ({"v1.0.0": NEW}, "v1.0.0", [Move("v1", "", NEW), Move("v1.0", "", NEW)]),
        (
            {"v1.0.0": OLD, "v1": OLD, "v1.0": OLD, "v1.1.0": NEW},
            "v1.1.0",
            [Move("v1", OLD, NEW), Move("v1.1", "", NEW)],
        ),
        # a fix of an older series moves that series only
        (
            {"v1.1.0": OLD, "v1": OLD, "v1.1": OLD, "v1.0.0": THIRD, "v1.0": THIRD, "v1.0.1": NEW},
            "v1.0.1",
            [Move("v1.0", THIRD, NEW)],
        ),
        # numbers, not letters
        ({"v1.9.0": OLD, "v1": OLD, "v1.10.0": NEW}, "v1.10.0", [Move("v1", OLD, NEW), Move("v1.10", "", NEW)]),
        # a pre-release moves nothing and holds nothing back
        ({"v1.0.0": OLD, "v1": OLD, "v1.1.0rc1": NEW}, "v1.1.0rc1", []),
        ({"v1.0.0": NEW, "v1.1.0rc1": OLD}, "v1.0.0", [Move("v1", "", NEW), Move("v1.0", "", NEW)]),
        # an annotated tag: its commit counts
        ({"v1.0.0": OLD, "v1.0.0^{}": NEW}, "v1.0.0", [Move("v1", "", NEW), Move("v1.0", "", NEW)]),
        # run again
        ({"v1.0.0": NEW, "v1": NEW, "v1.0": NEW}, "v1.0.0", []),
        # another major version is no series of ours
        ({"v1.0.0": OLD, "v1": OLD, "v2.0.0": NEW}, "v2.0.0", [Move("v2", "", NEW), Move("v2.0", "", NEW)]),
        ({"v1.0.1": NEW, "v2.0.0": OLD, "v2": OLD}, "v1.0.1", [Move("v1", "", NEW), Move("v1.0", "", NEW)]),
    ],
)
def test_moves(refs: dict[str, str], tag: str, expected: list[Move]) -> None:
    assert moves(refs, tag) == expected


def test_a_tag_that_was_not_pushed() -> None:
    with pytest.raises(ReleaseError, match="push it first"):
        moves({"v1": OLD}, "v1.0.0")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A clone whose remote has the releases 1.0.0 and 1.1.0, both annotated, and v1 at the first."""
    made = Project(tmp_path / "clone")
    remote = tmp_path / "remote.git"
    made.git("init", "-q", "--bare", str(remote))
    made.git("remote", "add", "origin", str(remote))
    for version in ("v1.0.0", "v1.1.0"):
        made.write("version", version)
        made.commit(version)
        made.git("tag", "-a", "-m", version, version)
    made.git("tag", "v1", "v1.0.0^{commit}")
    made.git("push", "-q", "origin", "main", "--tags")
    return made


def test_they_are_moved_at_the_remote(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = tmp_path / "dist" / "packages"
    packages.mkdir(parents=True)
    for name in ("perfgate-1.1.0.tar.gz", "perfgate-1.1.0-py3-none-any.whl", "SHA256SUMS"):
        (packages / name).touch()
    # GitHub's program: no release there, and it makes one
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$2" = view ] && [ ! -e "{tmp_path}/created" ] && exit 1\n[ "$2" = create ] && echo "$@" >>"{tmp_path}/created"\nexit 0\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    before = listed(project.top, "origin")
    step = ["--top", str(project.top), "publish", "v1.1.0", "--dist", str(tmp_path / "dist")]

    assert main([*step, "--dry-run"]) == 0
    assert listed(project.top, "origin") == before and not (tmp_path / "created").exists()
    told = capsys.readouterr().out
    assert "--latest=true" in told and "v1: " in told

    assert main(step) == 0
    head = project.git("rev-parse", "main")
    assert listed(project.top, "origin") == {**before, "v1": head, "v1.1": head}
    assert (tmp_path / "created").read_text().startswith("release create v1.1.0 --verify-tag --title perfgate 1.1.0 ")
    # again, as after a job that failed half-way
    assert main(step) == 0
    assert len((tmp_path / "created").read_text().splitlines()) == 1
    assert "v1.1.0 moves no tag" in capsys.readouterr().out

    # a job that was ended while it uploaded leaves a draft: v1 must not lead to a release that nobody sees
    program.write_text("#!/bin/sh\necho true\n")
    assert main(step) == 1
    assert "gh release delete v1.1.0" in capsys.readouterr().err

    (packages / "perfgate-1.1.0.tar.gz").rename(packages / "perfgate-1.2.0.tar.gz")
    assert main(step) == 1


def test_who_moved_it_meanwhile_wins(project: Project) -> None:
    wanted = moves(listed(project.top, "origin"), "v1.1.0")
    project.commit("somebody else")
    other = project.git("rev-parse", "HEAD")
    project.git("push", "-q", "--force", "origin", "HEAD:refs/tags/v1")
    with pytest.raises(ReleaseError):
        push(project.top, "origin", wanted)
    left = listed(project.top, "origin")
    # all or none
    assert left["v1"] == other and "v1.1" not in left
