"""What a person sees while a run measures, on a real pseudo terminal."""

import signal
from pathlib import Path

import pytest

from tests.support.project import CONFIG, Project, environment, perfgate, repository, speed
from tests.support.screen import OnTerminal, Screen

pytestmark = pytest.mark.endtoend


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return repository(tmp_path / "repo", {"perfgate.toml": CONFIG, **speed(1.0)}, speed(1.2))


def begun(project: Project, *arguments: str, width: int = 80) -> OnTerminal:
    env = {k: v for k, v in environment(**{**project.own(), "TERM": "xterm"}).items() if k not in ("CI", "NO_COLOR")}
    return OnTerminal(perfgate(*arguments), cwd=project.top, env=env, width=width)


def seen(text: str, width: int) -> list[str]:
    screen = Screen(width)
    screen.feed(text)
    return screen.lines


@pytest.mark.parametrize("width", [60, 200])
def test_a_run_shows_how_far_it_is_and_leaves_no_character_of_it(project: Project, width: int) -> None:
    terminal = begun(project, "measure", "--set", "plan.builds=3", width=width)
    terminal.read_until(lambda text: "round 3 of 3" in text and "on head" in text.rpartition("round 3")[2])
    during = seen(terminal.text, width)
    assert terminal.wait() == 0
    assert any(line.startswith("round 3 of 3  ━") for line in during)
    assert any(line.startswith("  running  ") for line in during)
    after = seen(terminal.text, width)
    assert not any("━" in line or "─" in line for line in after)
    assert not any(line.startswith(("round ", "  running")) for line in after)


def test_ctrl_c_leaves_one_clean_line(project: Project) -> None:
    terminal = begun(project, "measure", "--set", "plan.builds=50")
    terminal.read_until(lambda text: "on head" in text)
    # narrower while it runs, as a window that is dragged
    terminal.resize(60)
    terminal.read_until(lambda text: "round 4 of" in text)
    terminal.press(b"\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    left = [line for line in seen(terminal.text, 80) if line]
    assert left[-1].endswith("--resume to the same command") or left[-2].startswith("perfgate: SIGINT: ")
    assert sum("━" in line for line in left) == 0
    assert "\x1b[?25" not in terminal.text
