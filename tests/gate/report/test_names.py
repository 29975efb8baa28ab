"""Two cases never share one short name, in any format, at any width; settings tell them apart."""

import html as escaping
import io
import os
import re
import subprocess
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from gate.cli.main import main
from gate.document.html import broken
from gate.model import Failure, Report, UserError
from gate.model.history import Controls
from gate.report.formats import html, junit, markdown
from gate.report.formats import text as terminal
from gate.report.material import Material
from gate.report.outputs import refuse_inputs, write
from gate.words import verdict_line
from gate.words.short_names import Names
from gate.writing.phrases import named
from gate.writing.plain import NameSet, columns
from tests.gate.report import examples
from tests.support.lines import builds, text

QUEUES = ("SpscArrayQueue", "MpscArrayQueue", "spscArrayQueue")
NAMES = [
    f"jmh/org.jctools.jmh.baseline.{'throughput.' * 8}SingleThreaded{side}.{side.lower()}Loop:{{qType={queue}}}:avgt"
    for side, queue in product(("Poll", "Offer"), QUEUES)
]
WORDS = [(side, queue) for side, queue in product(("Poll", "Offer"), QUEUES)]
"""What tells each name from the others."""


def long_names() -> Report:
    found = [examples.regressed(name, estimate=1.2 - number / 100) for number, name in enumerate(NAMES)]
    recorded = [examples.recorded(name, "user", unit="s") for name in NAMES]
    failures = [Failure(kind="execution", benchmark=f"{name}:failed", side="head", status="exit 1") for name in NAMES]
    made = examples.report("regression", found)
    return msgspec.structs.replace(made, recorded=recorded, failures=failures, new=[f"{name}:new" for name in NAMES])


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_shows_no_name_twice(width: int) -> None:
    text = terminal.written(long_names(), width=width, every=True)
    assert all(columns(line) <= width for line in text.splitlines())
    # in the table, or in a block a finding
    rows = re.findall(r"^(\S.*?)(?=\s{2,}|\n\s+✖)", text.partition("\n\n")[2], flags=re.MULTILINE)
    shown = [row for row in rows if "…" in row or ":avgt" in row][: len(NAMES)]
    assert len({*shown}) == len(shown) == len(NAMES), shown
    # a name that is wider than a line goes on below it
    failed = re.findall(r"^(\S+?) ?failed ?on ?head", re.sub(r"(?<=\S)\n {2}(?=\S)", "", text), flags=re.MULTILINE)
    assert len({*failed}) == len(NAMES), failed


def test_markdown_shows_no_name_twice() -> None:
    text = markdown.comment(long_names())
    rows = re.findall(r"&nbsp;`([^`]+)`<br>\*\*regression", text)
    assert len({*rows}) == len(rows) == len(NAMES)
    assert all(side in row and queue[:4] in row for row, (side, queue) in zip(rows, WORDS, strict=True))
    new = re.search(r"^- new: (.*): in head alone, not compared$", text, flags=re.MULTILINE)
    assert new is not None and len({*new[1].split(", ")}) == len(NAMES)


def test_the_page_shows_no_name_twice_and_breaks_none_within_a_number() -> None:
    page = html.written(long_names(), Material())
    rows = re.findall(r'<th scope="row"[^>]*><a href="#finding-\d+"><bdi>(.*?)</bdi>', page)
    assert len({*rows}) == len(rows) == len(NAMES)
    pieces = re.findall(r">([^<>]+)<", str(broken("Search_Easy0_CachedDFA/1048576 3276.5us")))
    assert "1048576 " in pieces and "3276.5" in "".join(piece for piece in pieces if "3276" in piece)
    assert "".join(pieces) == "Search_Easy0_CachedDFA/1048576 3276.5us"
    assert str(broken("<b>1")).count("<b>") == 0


def test_junit_and_headlines_show_no_name_twice() -> None:
    report = long_names()
    cases = [
        (each.get("classname"), each.get("name")) for each in ET.fromstring(junit.written(report)).iter("testcase")
    ]
    assert len({*cases}) == len(cases)
    headlines = set()
    for each in report.findings:
        first = msgspec.structs.replace(each, ratio=examples.interval(1.5, 0.1))
        others = [f for f in report.findings if f is not each]
        headlines.add(verdict_line.verdict_line(msgspec.structs.replace(report, findings=[first, *others])).name)
    assert len(headlines) == len(NAMES)


def test_settings_and_metrics_stay_apart_too_and_a_list_shortens_its_names_together() -> None:
    cases = [
        examples.finding("a", metric=f"{'latency_of_requests_' * 3}{end}", factors={"x": f"{'v' * 60}{number}"})
        for number, end in product((1, 2), ("hit", "miss"))
    ]
    names = Names(examples.report("pass", cases))
    assert len({(names.quantity(case), names.settings(case)) for case in cases}) == 4
    assert len({names.label(case) for case in cases}) == 2
    said, more, _ = named(NAMES, 3).rpartition(" and 3 more")
    assert (len({*said.split(", ")}), bool(more)) == (3, True)
    # what is not of the set is shortened by itself
    assert columns(NameSet(NAMES).short("other" * 30, 20)) <= 20


# --- settings ---------------------------------------------------------------------------------------------------------


def test_settings_that_look_alike_are_told_apart_in_every_format() -> None:
    alike = [examples.finding("parse", factors={"n": value}) for value in (1, "1", "one")]
    report = msgspec.structs.replace(examples.factors(), findings=alike)
    for render in (terminal.written, markdown.comment, html.written, junit.written):
        said = escaping.unescape(render(report))
        assert {'n="1"', "n=1", "n=one"} <= set(re.findall(r'n=(?:"1"|1|one)', said)), render


def test_every_format_says_how_many_controls_alarmed() -> None:
    report = msgspec.structs.replace(examples.regression(), controls=Controls(count=40, alarmed=2, e_value=1.1))
    for said in (junit.written(report), markdown.comment(report), terminal.written(report, every=True)):
        assert "2 of 40 controls showed a regression where nothing differs, 2.5% do by chance" in said
    assert "alarmed" not in terminal.written(report)


# --- an output never replaces what it is made from --------------------------------------------------------------------


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
