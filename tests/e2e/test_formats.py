"""Every format of every kind of run: it comes out whole, in its size, with the exit code of the report."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import cmarkgfm  # type: ignore[import-untyped]  # it has no types
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # the same

from gate.cli.groups import RulesOptions
from gate.cli.main import main
from gate.evidence.records import read_inputs
from gate.planning.deciding import decide_inputs
from gate.report.outputs import rendered
from tests.support import runs

FORMATS: tuple[str, ...] = ("text", "markdown", "summary", "json", "html", "junit", "csv")
READ = ("text", "markdown", "summary", "junit")
"""Formats that people read where nothing else makes names harmless: what drives a terminal is written as an escape."""
COMMENT, SUMMARY = 60_000, 1 << 20
EXIT = {"pass": 0, "regression": 1, "inconclusive": 0, "error": 4}


def report(folder: Path) -> int:
    """Run `perfgate report`, which fills the folder, and return its exit code."""
    out, err = io.StringIO(), io.StringIO()
    code = main(["report", str(folder / "measurements.jsonl"), "--out", str(folder), "--format", "csv"], out, err)
    assert err.getvalue() == ""
    check("csv", out.getvalue(), values_of(folder))
    return code


def formats(folder: Path) -> dict[str, str]:
    """Render a run in every format; decided once, since the page takes its time."""
    decided = decide_inputs(read_inputs([str(folder)]), RulesOptions())
    return {form: rendered(decided, form) for form in FORMATS}


def check(form: str, text: str, values: int) -> None:
    """Read a format as the machines do that it is written for."""
    if form == "json":
        assert json.loads(text)["schema"] == 2
    elif form == "junit":
        assert ET.fromstring(text.encode()).tag == "testsuites"
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len(rows) == values + 1
        assert len({len(row) for row in rows}) == 1
    elif form == "html":
        assert text.startswith("<!DOCTYPE html>")
        assert text.rstrip().endswith("</html>")
    elif form == "markdown":
        assert len(text.encode()) <= COMMENT
    elif form == "summary":
        assert len(text.encode()) <= SUMMARY
    assert text.endswith("\n")
    if form in READ:
        # bars keep their width by spaces that do not break
        assert {c for c in text if not c.isprintable()} <= {"\n", "\xa0"}


def values_of(folder: Path) -> int:
    lines = [
        json.loads(line) for line in (folder / "measurements.jsonl").read_text(encoding="utf-8").split("\n") if line
    ]
    metrics = [metric for line in lines if line["type"] == "execution" for metric in line["metrics"].values()]
    return sum(len(metric["values"]) for metric in metrics)


@pytest.mark.parametrize("name", runs.RUNS)
def test_every_format_of_a_run(name: str, tmp_path: Path) -> None:
    folder = runs.write(tmp_path, runs.RUNS[name]())
    code, values = report(folder), values_of(folder)
    texts = formats(folder)
    assert code == EXIT[json.loads(texts["json"])["verdict"]]
    for form, text in texts.items():
        check(form, text, values)
    # the folder holds the same
    assert (folder / "report.json").read_bytes().decode() == texts["json"]
    assert (folder / "report.html").read_bytes().decode() == texts["html"]


LARGE: dict[str, tuple[runs.Shape, int]] = {
    "100 cases": (runs.Shape(cases=100, iterations=4), 5_000_000),
    "500 cases": (runs.Shape(cases=500, iterations=2, executions=2), 10_000_000),
    "100,000 values": (runs.Shape(executions=5, iterations=2000), 5_000_000),
}


@pytest.mark.endtoend
@pytest.mark.parametrize("name", LARGE)
def test_large_runs_keep_to_their_sizes(name: str, tmp_path: Path) -> None:
    shape, most = LARGE[name]
    folder = runs.write(tmp_path, runs.plain(shape))
    values = 2 * shape.cases * shape.builds * shape.executions * shape.iterations
    for form, text in formats(folder).items():
        check(form, text, values)
        assert form != "html" or len(text.encode()) < most


EXTENSIONS = ["table", "autolink", "strikethrough", "tagfilter"]
EXPECTED = {
    "!--", "p", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "code", "pre", "ul", "ol", "li", "b", "strong", "br", "sub", "h1", "h2", "h3", "h4",
}  # fmt: skip
"""Elements that a comment is made of: neither a link nor an image among them."""


@pytest.mark.parametrize("form", ["markdown", "summary"])
def test_hostile_names_are_text_in_markdown(form: str, tmp_path: Path) -> None:
    folder = runs.write(tmp_path, runs.hostile())
    decided = decide_inputs(read_inputs([str(folder)]), RulesOptions())
    text = rendered(decided, form)
    html = cmarkgfm.markdown_to_html_with_extensions(text, Options.CMARK_OPT_UNSAFE, EXTENSIONS)
    tags = set(re.findall(r"<(/?[a-zA-Z!][^\s>]*)", html))
    assert {tag.strip("/") for tag in tags} <= EXPECTED
