import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate.report import json
from gate.words.streams import ASCII_ONLY, colored
from tests.gate.report import examples
from tests.support.seeds import some

ROOT = Path(__file__).parents[3]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables, on_terminal, elsewhere in (
        ("", True, False),
        ("TERM=dumb", False, False),
        ("NO_COLOR=1", False, False),
        ("NO_COLOR=", True, False),
        ("FORCE_COLOR=1", True, True),
        ("FORCE_COLOR=1 TERM=dumb", True, True),
        ("FORCE_COLOR=0", True, False),
        ("FORCE_COLOR=", True, False),
        ("FORCE_COLOR=1 NO_COLOR=1", False, False),
    ):
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, _, value in (each.partition("=") for each in variables.split()):
            monkeypatch.setenv(name, value)
        assert (colored(Terminal()), colored(io.StringIO())) == (on_terminal, elsewhere), variables


def test_a_table_keeps_its_columns_where_the_glyphs_are_lacking() -> None:
    text = "✖ ░░│░░ ├──●─► ¹ ⁴ é 日"
    assert text.encode("ascii", ASCII_ONLY) == rb"x ..|.. [--o-> 1 4 \xe9 \u65e5"
    assert text.encode("latin-1", ASCII_ONLY) == rb"x ..|.. [--o-> " + "¹".encode("latin-1") + b" 4 \xe9 " + rb"\u65e5"


@pytest.mark.parametrize("encoding", some(["ascii", "latin-1", "utf-8"], 1, pytest.mark.nightly))
def test_a_report_is_printed_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.render(examples.hostile()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from gate.cli.main import run; run()", "report", "report.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding, "FORCE_COLOR": "1", "NO_COLOR": ""},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    first = "✖ Regression".encode(encoding, ASCII_ONLY)
    assert done.stdout.startswith(b"\x1b[1;31m" + first)
