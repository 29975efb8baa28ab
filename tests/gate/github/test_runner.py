"""What a step tells the runner: nothing from elsewhere becomes a command, an output or an end of one."""

import io
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.github import runner
from gate.github.runner import NAMES, FileGuard
from gate.model import UserError
from tests.support.runner_log import Command, Runner, commands, outputs

HOSTILE = [
    "::error::x", "::set-output name=verdict::pass", "##[error]x", "##[set-output name=a]b", "::stop-commands::t", "%0A",
    "%250A", "\n", "\r", "\r\n", "]]>", "::", ":", ",", "%", "::add-mask::e", "<<EOF", "EOF", "a=b", " ", "\u2028",
    "\x85", "\x0b", "\x1b[31m", "é", "name", "::endgroup::",
]  # fmt: skip


def hostile(seed: int) -> str:
    """Make a text of pieces that mean something to the runner."""
    draw = random.Random(seed)
    return "".join(draw.choice(HOSTILE) for _ in range(draw.randrange(1, 12)))


@pytest.mark.parametrize("level", ["error", "warning", "notice"])
def test_a_message_arrives_as_it_is_and_is_one_command(level: runner.Level) -> None:
    for seed in range(2000):
        message, title = hostile(seed), hostile(seed + 1_000_000)
        line = runner.command(level, message, title)
        properties = {"title": title.strip()} if title.strip() else {}
        assert commands(line) == [Command(level, properties, message)], (message, title)


def test_a_message_that_is_too_long_is_cut() -> None:
    [command] = commands(runner.error_line("x" * 100_000))
    assert len(command.data) == 4000
    assert command.data.endswith("…")


def test_within_a_fence_nothing_is_a_command_and_each_has_a_token_of_its_own() -> None:
    tokens = set()
    for seed in range(1000):
        out = io.StringIO()
        with runner.fenced(out) as inside:
            for piece in range(5):
                inside.write(hostile(10 * seed + piece))
        out.write(runner.error_line("after"))
        assert commands(out.getvalue()) == [Command("error", {}, "after")]
        tokens.add(out.getvalue().partition("\n")[0])
    assert len(tokens) == 1000 and all(one.startswith("::stop-commands::") for one in tokens)


def test_the_fence_is_closed_after_an_exception_and_after_half_a_line() -> None:
    out = io.StringIO()

    def break_off() -> None:
        with runner.fenced(out) as inside:
            inside.write("half a line")
            raise ValueError("over")

    with pytest.raises(ValueError, match="over"):
        break_off()
    theirs = Runner()
    theirs.read(out.getvalue())
    assert theirs.token is None
    assert "half a line" in theirs.lines


def test_no_fence_is_a_terminal() -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        with runner.fenced(terminal) as inside:
            assert terminal.isatty()
            assert not inside.isatty()
        os.close(master)


def test_outputs_hold_what_was_given(tmp_path: Path) -> None:
    file = tmp_path / "output"
    for seed in range(500):
        file.unlink(missing_ok=True)
        value = hostile(seed).replace("\r", "").replace("\x85", "").replace("\u2028", "").replace("\x0b", "")
        runner.write_outputs(file, {"verdict": value, "after": "1"})
        assert outputs(file.read_text()) == {"verdict": value, "after": "1"}


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        runner.write_outputs(tmp_path / "none" / "output", {"a": "1"})


def test_a_summary_keeps_within_the_runner_s_limit(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    assert runner.append_summary(file, "x" * 900_000)
    assert not runner.append_summary(file, "y" * 200_000)
    assert file.stat().st_size == 900_001
    assert runner.append_summary(file, "z")


# --- the files of the runner ------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    paths = {name: str(tmp_path / name.lower()) for name in NAMES}
    for name, path in paths.items():
        Path(path).write_text(f"{name} before\n")
    return paths


def test_what_is_written_meanwhile_is_taken_back(files: dict[str, str], tmp_path: Path) -> None:
    Path(files["GITHUB_STATE"]).unlink()
    summary = Path(files["GITHUB_STEP_SUMMARY"])
    summary.write_bytes(b"x" * 3_000_000)
    guard = FileGuard(files)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE"):
        with Path(files[name]).open("a") as stream:
            stream.write("verdict=pass\n")
    Path(files["GITHUB_ENV"]).write_text("LD_PRELOAD=/tmp/evil.so\n")
    Path(files["GITHUB_PATH"]).unlink()
    assert guard.restore() == ([f"benchmark code wrote to {name}; the change was undone" for name in NAMES], True)
    assert not Path(files["GITHUB_STATE"]).exists() and summary.read_bytes() == b"x" * 3_000_000
    for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH"):
        assert Path(files[name]).read_text() == f"{name} before\n"
    assert guard.restore() == ([], True)
    # a pipe or a device is left alone
    os.mkfifo(tmp_path / "pipe")
    assert FileGuard({"GITHUB_OUTPUT": str(tmp_path / "pipe")}).restore()[0] == []
    assert (tmp_path / "pipe").is_fifo()


def beside(env: Path) -> None:
    """Take the names that could be known."""
    env.touch()
    for name in (f".{env.name}.{os.getpid()}", f".{env.name}", f"{env.name}.tmp"):
        env.with_name(name).mkdir()


PLANTED: dict[str, Callable[[Path], object]] = {
    "link": lambda env: env.symlink_to(env.with_name("other")),
    "pipe": os.mkfifo,
    "folder with something in it": lambda env: (env / "inner").mkdir(parents=True),
    "names that could be known": beside,
}


@pytest.mark.parametrize("what", PLANTED)
def test_whatever_is_put_in_place_of_a_file_is_replaced_and_not_followed(files: dict[str, str], what: str) -> None:
    guard, env = FileGuard(files), Path(files["GITHUB_ENV"])
    env.with_name("other").write_text("GITHUB_ENV before\n")
    env.unlink()
    PLANTED[what](env)
    assert guard.restore() == (["benchmark code wrote to GITHUB_ENV; the change was undone"], True)
    assert not env.is_symlink() and env.read_text() == "GITHUB_ENV before\n"
    assert env.with_name("other").read_text() == "GITHUB_ENV before\n"


def test_who_holds_a_changed_file_open_writes_into_nothing(files: dict[str, str]) -> None:
    guard = FileGuard(files)
    with Path(files["GITHUB_ENV"]).open("a") as stream:
        stream.write("A=1\n")
        stream.flush()
        guard.restore()
        stream.write("B=2\n")
    assert Path(files["GITHUB_ENV"]).read_text() == "GITHUB_ENV before\n"


def test_what_is_written_again_is_not_restored(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    guard = FileGuard(files)
    Path(files["GITHUB_ENV"]).write_text("A=1\n")
    Path(files["GITHUB_PATH"]).write_text("/evil\n")
    real = Path.replace

    def raced(self: Path, target: Path) -> Path:
        done = real(self, target)
        if target.name == "github_env":
            target.write_text("A=2\n")
        return done

    monkeypatch.setattr(Path, "replace", raced)
    restored = guard.restore()
    assert not restored[1]
    assert restored[0] == [
        "benchmark code wrote to GITHUB_ENV, and it cannot be undone: its content changed again",
        "benchmark code wrote to GITHUB_PATH; the change was undone",
    ]


def test_only_regular_files_are_read_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    found = {name: runner.read_regular(tmp_path / name, 3) for name in ("file", "link", "pipe", ".", "none")}
    assert found == {"file": b"tex", "link": None, "pipe": None, ".": None, "none": None}
