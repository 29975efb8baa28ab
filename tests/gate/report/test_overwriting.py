"""An output never replaces what it is made from, by whatever name."""

import io
import os
import subprocess
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.model import UserError
from gate.report.outputs import refuse_inputs, write
from tests.support.lines import builds, text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in `run`, with links to its measurements beside it."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "run"
    made.mkdir()
    lines = [line for side in ("base", "head") for line in builds(side, [[[1.0, 1.1]], [[1.2, 1.0]]], benchmark="x")]
    (made / "measurements.jsonl").write_text(text(lines), encoding="utf-8")
    (tmp_path / "symbolic").symlink_to("run/measurements.jsonl")
    os.link(made / "measurements.jsonl", tmp_path / "hard")
    return made


def test_an_output_that_is_an_input_is_refused(folder: Path) -> None:
    before = (folder / "measurements.jsonl").read_bytes()
    for command in (
        "decide symbolic --json symbolic",
        "decide run --html hard",
        "decide run/measurements.jsonl --markdown symbolic",
        "decide run --junit run/../run/measurements.jsonl",
        "report run --json symbolic",
        "plan hard --json run/measurements.jsonl",
        "study analyse hard --json hard",
        "study analyse run --html hard",
    ):
        out, err = io.StringIO(), io.StringIO()
        assert main(command.split(), out, err) == 2
        why = "is read as an input, and would be replaced by the output: name another file"
        assert (out.getvalue(), err.getvalue()) == ("", f"perfgate: {command.split()[-1]}: {why}\n")
        assert (folder / "measurements.jsonl").read_bytes() == before
        assert [file.name for file in folder.iterdir()] == ["measurements.jsonl"]


def test_a_report_is_written_again_from_itself_but_not_over_what_it_reads(folder: Path) -> None:
    for command in ("report run", "report run --json run/report.json", "report run/report.json --out run"):
        assert main(command.split(), io.StringIO(), io.StringIO()) != 2, command
    (folder / "measurements.jsonl").rename(folder / "comment.md")
    before, err = (folder / "comment.md").read_bytes(), io.StringIO()
    assert main(["report", "run/comment.md", "--out", "run"], io.StringIO(), err) == 2
    assert "run/comment.md: is read as an input" in err.getvalue()
    assert (folder / "comment.md").read_bytes() == before


def test_packed_measurements_and_parts_are_inputs_too(folder: Path, tmp_path: Path) -> None:
    packed = folder / "measurements.jsonl.gz"
    packed.write_bytes(b"")
    part = tmp_path / "parts" / "perfgate-0-data"
    part.mkdir(parents=True)
    (part / "measurements.jsonl").write_text("", encoding="utf-8")
    for given, target in ((folder, packed), (tmp_path / "parts", part / "measurements.jsonl")):
        with pytest.raises(UserError, match="is read as an input"):
            refuse_inputs([given], [tmp_path / "other", target])
    others = [Path(name) for name in ("-", "new.json", "/dev/null", "run/report.json", "no/such/folder/x")]
    refuse_inputs([folder, Path("-"), Path("/dev/null"), Path("missing")], others)


def test_standard_input_is_a_file_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "measurements.jsonl").open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(UserError, match="hard: is read as an input"):
            refuse_inputs([Path("-")], [Path("hard")])


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as dead:
        pass
    killed, of_another = tmp_path / f".report.json.perfgate-{dead.pid}", tmp_path / f".comment.md.perfgate-{dead.pid}"
    living, users = tmp_path / f".report.json.perfgate-{os.getppid()}", tmp_path / ".report.json.perfgate-old"
    for path in (killed, of_another, living, users):
        path.touch()
    write(tmp_path / "report.json", "{}")
    assert set(tmp_path.iterdir()) == {tmp_path / "report.json", of_another, living, users}
