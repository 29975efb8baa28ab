"""Each format of each example as it was last looked at; PERFGATE_UPDATE_GOLDEN=1 writes them anew."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.model import Report
from gate.report import json, parts
from gate.report.formats import junit, markdown
from gate.report.formats import text as terminal
from tests.gate.report import examples

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
FORMATS: dict[str, Callable[[Report], str]] = {
    "txt": lambda report: terminal.written(report, width=100),
    "narrow.txt": lambda report: terminal.written(report, width=60),
    "color.txt": lambda report: terminal.written(report, width=100, color=True),
    "md": markdown.comment,
    "summary.md": markdown.summary,
    "xml": junit.written,
    "json": json.render,
}
# what the others have of colour, narrowness, more room and JSON, these have as well
CASES = [
    *((name, kind) for name in examples.ALL for kind in ("txt", "md")),
    *((name, "narrow.txt") for name in ("regression", "machines", "views")),
    ("regression", "color.txt"),
    ("hostile", "summary.md"),
    *((name, "xml") for name in ("regression", "failures", "hostile", "some_identical")),
    *((name, "json") for name in ("regression", "failures")),
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_output_is_the_one_that_was_looked_at(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # of a run that does not say when it was
    monkeypatch.setattr(parts, "today", lambda: datetime.date(2026, 11, 20))
    path = GOLDEN / f"{name}.{kind}"
    got = FORMATS[kind](examples.ALL[name]())
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(got, encoding="utf-8", newline="")
    assert got == path.read_bytes().decode("utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{kind}" for name, kind in CASES}
