"""Benchmarks that are proved the same: findings without a number, in every format, which cost the others nothing."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gate.cli.main import main
from tests.support import lines

Line = dict[str, Any]
BENCHMARKS = [
    {"name": "encode", "command": "true", "instrument": "spawn"},
    {"name": "parse", "command": "true", "instrument": "spawn"},
    {"name": "scan", "command": "true", "instrument": "spawn"},
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`report` writes beside what it reads, or into the directory where it runs."""
    monkeypatch.chdir(tmp_path)


def run(*argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    assert not err.getvalue()
    return code, out.getvalue()


def same(name: str, **changes: Any) -> Line:
    line = {
        "type": "same",
        "benchmark": name,
        "session": 0,
        "differ": ["README.md", "docs/a.md"],
        "differ_count": 3,
        "made_count": 1,
    }
    return line | {"read_count": 120, "hash": {"base": "sha256:aa", "head": "sha256:bb"}} | changes


def values(name: str, ratio: float) -> list[Line]:
    rng = np.random.default_rng(7)
    return [
        lines.execution(side, (rng.normal(1, 0.01, 10) * (ratio if side == "head" else 1)).tolist(), build=build, benchmark=name)
        for build in range(6)
        for side in ("base", "head")
    ]  # fmt: skip


def folder_of(folder: Path, *found: Line, config: Line | None = None, measured: bool = True) -> str:
    """A run of which encode and scan are proved, and parse has values."""
    names = [benchmark["name"] for benchmark in (config or {}).get("benchmark", BENCHMARKS)]
    head: Line = {
        "type": "run", "id": "1", "base": {"sha": "a" * 40}, "head": {"sha": "b" * 40},
        "config": {"plan": {"builds": 6, "executions": 1}, "benchmark": BENCHMARKS} | (config or {}),
        "benchmarks": {"base": names, "head": names},
    }  # fmt: skip
    own = list(found) or [same("encode"), same("scan"), *(values("parse", 1.2) if measured else [])]
    (folder / "measurements.jsonl").write_text(lines.text([head, *own]))
    return str(folder)


def decided(folder: str, *argv: str) -> Line:
    found: Line = json.loads(run("decide", folder, "--json", "-", *argv)[1])
    return found


def test_a_finding_has_no_number(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path))
    found = {f["benchmark"]: f for f in report["findings"]}
    assert list(found) == ["parse", "encode", "scan"]
    proved = found["encode"]
    for key in ("base", "head", "ratio", "decided_at", "p", "p_adjusted", "shown", "stopped", "detectable", "accepted"):
        assert proved[key] is None, key
    assert proved["variance"] == {"base": [], "head": []}
    assert (proved["verdict"], proved["metric"], proved["unit"], proved["statistic"]) == (
        "identical",
        "time",
        "s",
        "mean",
    )
    assert proved["identical"] == {
        "differ": ["README.md", "docs/a.md"], "differ_count": 3, "made_count": 1, "read_count": 120,
        "hash": {"base": "sha256:aa", "head": "sha256:bb"},
    }  # fmt: skip
    assert (proved["reason"]["kind"], proved["reason"]["details"]["differ"]) == ("same-program", 3)
    assert found["parse"]["identical"] is None
    assert (report["verdict"], report["exit_code"], report["failures"]) == ("regression", 1, [])


def test_every_finding_has_the_same_keys(tmp_path: Path) -> None:
    measured, proved, _ = decided(folder_of(tmp_path))["findings"]
    assert list(measured) == list(proved)


def test_the_others_are_decided_as_if_it_were_not_there(tmp_path: Path) -> None:
    beside = decided(folder_of(tmp_path))
    alone = decided(folder_of(tmp_path, *values("parse", 1.2), config={"benchmark": BENCHMARKS[1:2]}))
    assert beside["findings"][0] == alone["findings"][0]
    assert beside["family"] == alone["family"] == {"method": "holm", "size": 1}


@pytest.mark.parametrize("how", ["decide", "report", "json"])
def test_every_format_says_it(tmp_path: Path, how: str) -> None:
    folder = folder_of(tmp_path)
    source = [folder]
    if how == "json":
        kept = tmp_path / "kept"
        kept.mkdir()
        (kept / "report.json").write_text(run("decide", folder, "--json", "-")[1])
        source = [str(kept)]
    command = "decide" if how == "decide" else "report"
    code, text = run(command, *source)
    assert code == 1
    said = " ".join(text.split())
    assert "unaffected, not measured " in said
    assert (
        "unaffected, not measured encode, scan 3 paths differ between base and head: README.md, docs/a.md, and 1 made by the builds."
        in said
    )
    for form in ("markdown", "summary", "html"):
        written = run("report", *source, "--format", form)[1]
        assert "These benchmarks read none of them" in written, form
        assert "1 regression" in " ".join(written.replace("<b>", "").replace("</b>", "").split()), form
    junit = ElementTree.fromstring(run("report", *source, "--format", "junit")[1])  # our own
    cases = {case.get("name"): case for case in junit.iter("testcase")}
    assert len(cases) == 3
    assert [child.tag for child in cases["encode"]] == ["system-out"]


def test_all_identical_is_a_pass(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path, *map(same, ("encode", "parse", "scan"))))
    assert (report["verdict"], report["exit_code"]) == ("pass", 0)
    assert (report["summary"]["kind"], report["summary"]["details"]["benchmarks"]) == ("all-identical", 3)
    assert (report["failures"], report["warnings"], report["family"]["size"]) == ([], [], 0)
    for form in ("text", "markdown", "summary", "html", "junit"):
        written = " ".join(run("report", str(tmp_path), "--format", form)[1].split())
        assert "all 3 benchmarks are unaffected: same program, same data" in written, form
        assert "0 rounds" not in written and "of 6 rounds" not in written, form
    code, table = run("report", str(tmp_path), "--format", "csv")
    assert code == 0 and len(table.splitlines()) == 1


def test_what_is_neither_proved_nor_measured_is_an_error(tmp_path: Path) -> None:
    report = decided(folder_of(tmp_path, same("encode"), same("scan")))
    assert (report["verdict"], report["exit_code"]) == ("error", 4)
    assert [(f["kind"], f["benchmark"]) for f in report["failures"]] == [("missing", "parse")]


@pytest.mark.parametrize("kind", ["setup", "build"])
def test_a_build_that_failed_is_an_error_beside_proofs(tmp_path: Path, kind: str) -> None:
    failure = {"type": "failure", "kind": kind, "side": "head", "build": 1, "status": "exit 2"}
    report = decided(folder_of(tmp_path, same("encode"), same("scan"), failure))
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
def test_the_metrics_are_those_that_would_be_decided(
    tmp_path: Path, benchmark: Line, plan: Line, metrics: list[tuple[str, str, str]]
) -> None:
    config = {"benchmark": [{"name": "x", "command": "true", **benchmark}], "plan": {"builds": 6, **plan}}
    report = decided(folder_of(tmp_path, same("x"), config=config))
    assert [(f["metric"], f["unit"], f["statistic"]) for f in report["findings"]] == metrics
    assert report["exit_code"] == 0


def test_rules_of_the_benchmark_are_its_own(tmp_path: Path) -> None:
    config = {
        "gate": {"threshold": "5%"},
        "override": [{"benchmark": "enc*", "threshold": "9%"}],
        "accept": [{"benchmark": "encode", "up_to": "8%", "until": "2999-12-31", "reason": "known"}],
    }
    report = decided(folder_of(tmp_path, config=config | {"benchmark": BENCHMARKS}))
    found = {f["benchmark"]: f for f in report["findings"]}
    assert (found["encode"]["threshold"], found["scan"]["threshold"]) == (0.09, 0.05)
    assert (found["encode"]["verdict"], found["encode"]["accepted"]) == ("identical", None)


def test_a_proof_of_a_file_without_rules(tmp_path: Path) -> None:
    path = tmp_path / "only.jsonl"
    path.write_text(lines.text([same("x")]))
    report = decided(str(path))
    assert [(f["benchmark"], f["metric"], f["verdict"]) for f in report["findings"]] == [("x", "time", "identical")]
    assert report["exit_code"] == 0


def test_a_selection_takes_its_proofs_along(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    report = decided(folder, "--benchmark", "encode")
    assert [f["benchmark"] for f in report["findings"]] == ["encode"]
    assert [w["kind"] for w in report["warnings"]] == ["selected-only"]
    suite = {
        "benchmark": [{"name": "x", "command": "true", "instrument": "pytest-benchmark"}],
        "plan": {"builds": 6, "executions": 1},
    }
    report = decided(folder_of(tmp_path, same("x"), config=suite), "--benchmark", "x/case-*")
    assert [f["benchmark"] for f in report["findings"]] == ["x"]


def test_why_the_others_were_measured_is_in_the_details(tmp_path: Path) -> None:
    end = {"type": "host", "when": "end", "unproved": {"parse": {"kind": "changed", "path": "src/parse.c"}}}
    folder = folder_of(tmp_path, same("encode"), same("scan"), *values("parse", 1.2), end)
    why = "src/parse.c, which it opens or looks at, differs"
    page = run("report", folder, "--format", "html")[1]
    assert "Why 1 benchmark was measured" in page and why in page
    assert why not in run("report", folder)[1]
    assert f"parse: {why}" in run("report", folder, "--all")[1]
    assert decided(folder)["run"]["states"][0]["unproved"]["parse"]["text"] == why


def test_what_had_no_time_for_a_proof_is_in_the_report_itself(tmp_path: Path) -> None:
    long = {name: {"kind": "too-long", "seconds": 75.0} for name in ("parse", "load")}
    end = {"type": "host", "when": "end", "unproved": long}
    folder = folder_of(tmp_path, same("encode"), same("scan"), *values("parse", 1.2), end)
    said = " ".join(run("report", folder)[1].split())
    assert (
        "parse could not be proved unaffected: one traced start takes longer than 1 min 15 s, its part of plan.budget (1 more benchmark likewise)"
    ) in said


def test_a_plan_needs_values(tmp_path: Path) -> None:
    err = io.StringIO()
    assert main(("plan", folder_of(tmp_path, *map(same, ("encode", "parse", "scan")))), io.StringIO(), err) == 2
    assert "nothing to plan from: encode, parse, scan: unaffected, so not measured" in err.getvalue()


# --- compare ----------------------------------------------------------------------------------------------------------


def test_compare_names_what_its_run_did_not_measure(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    for form in ("text", "markdown"):
        code, text = run("compare", folder, "--format", form)
        assert code == 0
        said = " ".join(text.split())
        assert "because base and head run the same program on the same data: encode, scan" in said.replace("`", ""), (
            form
        )
        assert "gave no values" not in said
    rows = list(csv.DictReader(io.StringIO(run("compare", folder, "--format", "csv")[1])))
    assert [(row["benchmark"], row["change"], row["ratio"]) for row in rows if row["column"] == "head"][1:] == [
        ("encode", "identical", ""), ("scan", "identical", ""),
    ]  # fmt: skip
    assert json.loads(run("compare", folder, "--format", "json")[1])["identical"] == ["encode", "scan"]


def test_compare_of_a_run_that_measured_nothing(tmp_path: Path) -> None:
    code, text = run("compare", folder_of(tmp_path, *map(same, ("encode", "parse", "scan"))))
    assert code == 0
    assert "nothing to compare: all benchmarks run the same program on the same data" in " ".join(text.split())


def test_compare_of_two_runs(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    first = folder_of(tmp_path / "a")
    second = folder_of(tmp_path / "b", *values("parse", 1.1), *values("encode", 1.0), same("scan"))
    code, text = run("compare", first, second)
    said = " ".join(text.split())
    assert code == 0
    # a row without a value of base
    assert re.search(r"\nencode +\S+ ± \S+\n", text)
    assert f"not measured by {first}, because base and head run the same program on the same data: encode, scan" in said
    assert f"not measured by {second}, because base and head run the same program on the same data: scan" in said
    assert "gave no values" not in said


def test_nothing_disturbs_what_was_not_measured(tmp_path: Path) -> None:
    """A busy host, or builds without a difference, would be warnings about values."""
    hashes = {"app": "sha256:a"}
    builds: list[Line] = [{"type": "build", "side": side, "build": 0, "artifacts": hashes} for side in ("base", "head")]
    states: list[Line] = [
        {"type": "host", "when": when, "state": {"load": load, "processors": 2}}
        for when, load in (("begin", 0.3), ("end", 9.0))
    ]
    proofs = [same(name) for name in ("scan", "parse", "encode")]
    busy, quiet = [*builds, states[0], *values("parse", 1.0), states[1]], [*builds, states[0], *proofs, states[1]]
    kinds = {
        w["kind"]
        for w in decided(
            folder_of(tmp_path, *busy, config={"benchmark": BENCHMARKS[1:2], "build": {"artifacts": ["app"]}})
        )["warnings"]
    }
    assert {"identical-sides", "load"} <= kinds
    report = decided(folder_of(tmp_path, *quiet))
    assert report["warnings"] == []
    # and they stand in the order of the configuration
    assert [f["benchmark"] for f in report["findings"]] == ["encode", "parse", "scan"]
