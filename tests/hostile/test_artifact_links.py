"""Head makes an artifact that leads elsewhere, or files that nobody can read to their end (S6, S10)."""

import os
import subprocess
from pathlib import Path

import pytest

from gate.walking import open_beneath
from tests.hostile.conftest import PLAN, Stage

OUT = [
    "ln -sfn /proc art", "ln -sfn / art", "ln -sf /etc/passwd art", "ln -sf ../../../../etc/passwd art",
    "rm art; mkfifo art", "ln -sfn . d; ln -sf d/d/d/../../x art", "rm art; ln -s art art", "ln -sf /dev/zero art",
    "mkdir d; ln -sfn d/../../out art", "ln -sfn other/.. art", "ln -sf $PWD/../out art",
]  # fmt: skip
IN = [
    "ln -sf other art", "ln -sf $PWD/other art", "mkdir d; ln -sf ../other d/l; ln -sf d/l art",
    "mkdir -p d/e; ln -sfn d/e f; ln -sf ../../other d/e/l; ln -sf $PWD/f/./l art",
]  # fmt: skip


def tried(how: str, tmp_path: Path) -> bytes:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tmp_path / "out").write_text("secret")
    subprocess.run(["sh", "-c", f"echo x > art; echo y > other; {how}"], cwd=tree, check=True)
    # set aside
    tree.rename(tmp_path / "aside")
    with os.fdopen(open_beneath(tmp_path / "aside", "art", tree), "rb") as opened:
        return opened.read()


@pytest.mark.parametrize("how", OUT)
def test_nothing_outside_is_opened(how: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"\S"):
        tried(how, tmp_path)


@pytest.mark.parametrize("how", IN)
def test_what_is_inside_is_opened(how: str, tmp_path: Path) -> None:
    assert tried(how, tmp_path) == b"y\n"


def config(how: str) -> str:
    build = f"echo x > art; echo y > other; [ -e head ] || exit 0; {how}"
    return f'{PLAN}[build]\ncommand = "{build}"\nartifacts = ["art"]\n[[benchmark]]\nname = "b"\ncommand = "true"\n'


@pytest.mark.parametrize("how", [OUT[0], OUT[3]])
def test_is_refused(stage: Stage, how: str) -> None:
    stage.commit(config(how), {"x": "1"}, {"head": "2"})
    stage.check()
    assert stage.code == 4, stage.shown
    assert "artifact art cannot be read" in stage.shown or "did not make art" in stage.shown
    assert stage.shown.count("\n") < 40


@pytest.mark.parametrize("how", IN[-1:])
def test_is_followed_inside(stage: Stage, how: str) -> None:
    stage.commit(config(how), {"x": "1"}, {"head": "2"})
    stage.check()
    assert stage.code == 0, stage.shown


def test_the_budget_bounds_what_is_read(stage: Stage) -> None:
    """A file without an end, as an artifact and as what a benchmark may read."""
    text = config("rm art; truncate -s 2T art").replace("[plan]", '[plan]\nbudget = "3s"')
    stage.commit(text, {"x": "1"}, {"head": "2"})
    # all of it would take a quarter of an hour
    stage.check()
    assert stage.code == 4, stage.shown


def test_nothing_is_proved_and_the_run_ends(stage: Stage) -> None:
    plan = PLAN.replace("[plan]", '[plan]\nbudget = "3s"')
    build = "[build]\ncommand = '[ -e head ] && truncate -s 2T big; true'\n"
    stage.commit(f"{plan}{build}[[benchmark]]\nname = 'b'\ncommand = 'cat x'\n", {"x": "1"}, {"head": "2"})
    stage.check()
    assert stage.verdict("b") != "identical", stage.shown


def test_a_benchmark_makes_a_tracked_file_endless(stage: Stage) -> None:
    """perfgate compares what git tracks with the commit after each round."""
    command = "[ -e head ] && truncate -s 2T x; true"
    stage.commit(f"{PLAN}[[benchmark]]\nname = 'b'\ncommand = '{command}'\n", {"x": "1"}, {"head": "2"})
    stage.check()
    assert stage.code == 4, stage.shown
    assert "files of head changed" in stage.shown
