"""Benchmarks that are proved the same: findings without a number, in every format, which cost the others nothing."""

import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gate.cli.main import main
from tests.gate.decide.decided import Lines, typed
from tests.support.lines import execution, text

Line = dict[str, Any]
NAMES = ("encode", "parse", "scan")
BENCHMARKS = [{"name": name, "command": "true", "instrument": "spawn"} for name in NAMES]
PROOF = {
    "differ": ["README.md", "docs/a.md"], "differ_count": 3, "made_count": 1, "read_count": 120,
    "hash": {"base": "sha256:aa", "head": "sha256:bb"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`report` writes beside what it reads, or into the directory where it runs."""
    monkeypatch.chdir(tmp_path)


def same(*names: str) -> Lines:
    return [{"type": "same", "benchmark": name, "session": 0, **PROOF} for name in names]


def values(name: str, ratio: float) -> Lines:
    rng = np.random.default_rng(7)
    drawn = ((b, side, rng.normal(1, 0.01, 10)) for b in range(6) for side in ("base", "head"))
    return [
        execution(side, (own * (ratio if side == "head" else 1)).tolist(), build=build, benchmark=name)
        for build, side, own in drawn
    ]


def folder_of(folder: Path, *found: Line, **config: Any) -> str:
    """A run of which, unless lines are given, encode and scan are proved, and parse has values."""
    tables = {"plan": {"builds": 6, "executions": 1}, "benchmark": BENCHMARKS, **config}
    names = [benchmark["name"] for benchmark in tables["benchmark"]]
    head: Line = {
        "type": "run", "id": "1", "base": {"sha": "a" * 40}, "head": {"sha": "b" * 40}, "config": tables,
        "benchmarks": {"base": names, "head": names},
    }  # fmt: skip
    own = list(found) or [*same("encode", "scan"), *values("parse", 1.2)]
    (folder / "measurements.jsonl").write_text(text([head, *own]))
    return str(folder)


def decided(folder: str, *argv: str) -> Line:
    found: Line = json.loads(typed("decide", folder, "--json", "-", *argv)[1])
    return found


def shown(*argv: str) -> str:
    code, text = typed(*argv)
    assert code in (0, 1)
    return " ".join(text.split())


def test_a_finding_has_no_number_and_the_others_are_decided_as_if_it_were_not_there(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path))
    measured, proved, other = report["findings"]
    assert [f["benchmark"] for f in (measured, proved, other)] == ["parse", "encode", "scan"]
    # every finding has the same keys
    assert list(measured) == list(proved)
    for key in ("base", "head", "ratio", "decided_at", "p", "p_adjusted", "shown", "stopped", "detectable", "accepted"):
        assert proved[key] is None, key
    assert proved["variance"] == {"base": [], "head": []}
    of = [proved[key] for key in ("verdict", "metric", "unit", "statistic")]
    assert of == ["identical", "time", "s", "mean"]
    assert (proved["identical"], measured["identical"]) == (PROOF, None)
    assert (proved["reason"]["kind"], proved["reason"]["details"]["differ"]) == ("same-program", 3)
    assert (report["verdict"], report["exit_code"], report["failures"]) == ("regression", 1, [])
    alone = decided(folder_of(tmp_path, *values("parse", 1.2), benchmark=BENCHMARKS[1:2]))
    assert measured == alone["findings"][0]
    assert report["family"] == alone["family"] == {"method": "holm", "size": 1}


def test_every_format_says_it_from_the_run_and_from_its_report(tmp_path: Path) -> None:
    folder, kept = folder_of(tmp_path), tmp_path / "kept"
    kept.mkdir()
    (kept / "report.json").write_text(typed("decide", folder, "--json", "-")[1])
    proved = "unaffected, not measured encode, scan 3 paths differ between base and head: README.md, docs/a.md, and 1 made by the builds."
    assert proved in shown("decide", folder)
    for source in (folder, str(kept)):
        assert proved in shown("report", source)
        for form in ("markdown", "summary", "html"):
            written = shown("report", source, "--format", form)
            assert "These benchmarks read none of them" in written, form
            assert "1 regression" in written.replace("<b>", "").replace("</b>", ""), form
    junit = ElementTree.fromstring(typed("report", folder, "--format", "junit")[1])  # our own
    cases = {case.get("name"): [child.tag for child in case] for case in junit.iter("testcase")}
    assert (len(cases), cases["encode"]) == (3, ["system-out"])


def test_all_identical_is_a_pass(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path, *same(*NAMES)))
    assert (report["verdict"], report["exit_code"]) == ("pass", 0)
    assert (report["summary"]["kind"], report["summary"]["details"]["benchmarks"]) == ("all-identical", 3)
    assert (report["failures"], report["warnings"], report["family"]["size"]) == ([], [], 0)
    for form in ("text", "markdown", "summary", "html", "junit"):
        written = shown("report", str(tmp_path), "--format", form)
        assert "all 3 benchmarks are unaffected: same program, same data" in written, form
        assert "0 rounds" not in written and "of 6 rounds" not in written, form
    code, table = typed("report", str(tmp_path), "--format", "csv")
    assert code == 0 and len(table.splitlines()) == 1


def test_what_is_neither_proved_nor_measured_is_an_error_and_so_is_a_build_that_failed(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path, *same("encode", "scan")))
    assert (report["verdict"], report["exit_code"]) == ("error", 4)
    assert [(f["kind"], f["benchmark"]) for f in report["failures"]] == [("missing", "parse")]
    for kind in ("setup", "build"):
        failure = {"type": "failure", "kind": kind, "side": "head", "build": 1, "status": "exit 2"}
        (tmp_path / kind).mkdir()
        report = decided(folder_of(tmp_path / kind, *same("encode", "scan"), failure))
    assert (report["verdict"], report["exit_code"], len(report["findings"])) == ("error", 4, 2)
    assert [(each["kind"], each["benchmark"]) for each in report["failures"]] == [(kind, None)]


@pytest.mark.parametrize(
    ("benchmark", "plan", "metrics"),
    [
        ({"instrument": "spawn"}, {}, [("time", "s", "mean")]),
        ({"instrument": "hyperfine"}, {"metrics": ["time", "memory"]}, [("time", "s", "mean"), ("memory", "B", "mean")]),
        ({"instrument": "values"}, {}, [("time", "s", "mean")]),
        (
            {
                "instrument": "values",
                "metric": {"latency": {"unit": "ms", "statistics": ["mean", "p99"]}, "size": {"unit": "B", "exact": True}},
            },
            {},
            [("latency", "s", "mean"), ("latency", "s", "p99"), ("size", "B", "mean")],
        ),
        ({"instrument": "callgrind"}, {}, [("instructions", "", "mean")]),
        ({"instrument": "pytest-benchmark"}, {}, [("time", "s", "mean")]),
        # that the rules decide nothing of it is no reason to be silent
        ({"instrument": "spawn"}, {"metrics": ["other"]}, [("time", "s", "mean")]),
    ],
)  # fmt: skip
def test_the_metrics_decided(tmp_path: Path, benchmark: Line, plan: Line, metrics: list[tuple[str, str, str]]) -> None:
    table = {"name": "x", "command": "true", **benchmark}
    report = decided(folder_of(tmp_path, *same("x"), benchmark=[table], plan={"builds": 6, **plan}))
    assert [(f["metric"], f["unit"], f["statistic"]) for f in report["findings"]] == metrics
    assert report["exit_code"] == 0


def test_rules_of_the_benchmark_are_its_own(tmp_path: Path) -> None:
    rules: Line = {
        "gate": {"threshold": "5%"},
        "override": [{"benchmark": "enc*", "threshold": "9%"}],
        "accept": [{"benchmark": "encode", "up_to": "8%", "until": "2999-12-31", "reason": "known"}],
    }
    found = {f["benchmark"]: f for f in decided(folder_of(tmp_path, **rules))["findings"]}
    assert (found["encode"]["threshold"], found["scan"]["threshold"]) == (0.09, 0.05)
    assert (found["encode"]["verdict"], found["encode"]["accepted"]) == ("identical", None)


def test_a_proof_of_a_file_without_rules(tmp_path: Path) -> None:
    path = tmp_path / "only.jsonl"
    path.write_text(text(same("x")))
    report = decided(str(path))
    assert [(f["benchmark"], f["metric"], f["verdict"]) for f in report["findings"]] == [("x", "time", "identical")]
    assert report["exit_code"] == 0


def test_a_selection_takes_its_proofs_along(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path), "--benchmark", "encode")
    assert [f["benchmark"] for f in report["findings"]] == ["encode"]
    assert [w["kind"] for w in report["warnings"]] == ["selected-only"]
    suite = {"name": "x", "command": "true", "instrument": "pytest-benchmark"}
    report = decided(folder_of(tmp_path, *same("x"), benchmark=[suite]), "--benchmark", "x/case-*")
    assert [f["benchmark"] for f in report["findings"]] == ["x"]


def test_why_the_others_were_measured_is_in_the_details_and_a_lack_of_time_in_the_report(tmp_path: Path) -> None:
    measured = [*same("encode", "scan"), *values("parse", 1.2)]

    def folder(**unproved: Line) -> str:
        own = tmp_path / str(len(unproved))
        own.mkdir()
        return folder_of(own, *measured, {"type": "host", "when": "end", "unproved": unproved})

    opened = folder(parse={"kind": "changed", "path": "src/parse.c"})
    why = "src/parse.c, which it opens or looks at, differs"
    page = typed("report", opened, "--format", "html")[1]
    assert "Why 1 benchmark was measured" in page and why in page
    assert why not in shown("report", opened)
    assert f"parse: {why}" in shown("report", opened, "--all")
    assert decided(opened)["run"]["states"][0]["unproved"]["parse"]["text"] == why
    long = {"kind": "too-long", "seconds": 75.0}
    assert (
        "parse could not be proved unaffected: one traced start takes longer than 1 min 15 s, its part of plan.budget (1 more benchmark likewise)"
    ) in shown("report", folder(parse=long, load=long))


def test_nothing_disturbs_what_was_not_measured(tmp_path: Path) -> None:
    """A busy host, or builds without a difference, would be warnings about values."""
    hashes = {"app": "sha256:a"}
    builds: Lines = [{"type": "build", "side": side, "build": 0, "artifacts": hashes} for side in ("base", "head")]
    begin, end = (
        {"type": "host", "when": when, "state": {"load": load, "processors": 2}}
        for when, load in (("begin", 0.3), ("end", 9.0))
    )
    busy: Line = {"benchmark": BENCHMARKS[1:2], "build": {"artifacts": ["app"]}}
    report = decided(folder_of(tmp_path, *builds, begin, *values("parse", 1.0), end, **busy))
    assert {"identical-sides", "host-event"} <= {w["kind"] for w in report["warnings"]}
    report = decided(folder_of(tmp_path, *builds, begin, *same("scan", "parse", "encode"), end))
    assert report["warnings"] == []
    # and they stand in the order of the configuration
    assert [f["benchmark"] for f in report["findings"]] == [*NAMES]


def test_a_plan_needs_values(tmp_path: Path) -> None:
    err = io.StringIO()
    assert main(("plan", folder_of(tmp_path, *same(*NAMES))), io.StringIO(), err) == 2
    assert "nothing to plan from: encode, parse, scan: unaffected, so not measured" in err.getvalue()


def test_compare_names_what_its_runs_did_not_measure(tmp_path: Path) -> None:
    first, second, nothing = (tmp_path / name for name in "abc")
    for folder in (first, second, nothing):
        folder.mkdir()
    one = folder_of(first)
    because = "because base and head run the same program on the same data"
    for form in ("text", "markdown"):
        said = shown("compare", one, "--format", form)
        assert f"{because}: encode, scan" in said.replace("`", "") and "gave no values" not in said, form
    assert json.loads(typed("compare", one, "--format", "json")[1])["identical"] == ["encode", "scan"]
    # of a run that measured nothing, and of two runs
    said = shown("compare", folder_of(nothing, *same(*NAMES)))
    assert "nothing to compare: all benchmarks run the same program on the same data" in said
    other = folder_of(second, *values("parse", 1.1), *values("encode", 1.0), *same("scan"))
    code, table = typed("compare", one, other)
    # a row without a value of base
    assert code == 0 and re.search(r"\nencode +\S+ ± \S+\n", table)
    said = " ".join(table.split())
    assert f"not measured by {one}, {because}: encode, scan" in said
    assert f"not measured by {other}, {because}: scan" in said
    assert "gave no values" not in said
