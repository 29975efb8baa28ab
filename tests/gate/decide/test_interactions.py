"""Findings at settings of factors: what of head's change depends on a setting, through `perfgate decide`."""

import datetime
import io
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats

from gate.cli.main import main
from gate.config.rules import Policy
from gate.config.types import Config
from gate.decide import decide, look
from gate.decide.contrasts import contrasts_of
from gate.decide.design import subjects_of
from gate.decide.interaction_sides import mean_ratio
from gate.evidence.gather import gather
from tests.gate.report import examples
from tests.support.lines import execution, located, text

POLICY = Policy(Config(), "test", datetime.date(2026, 11, 20))
Lines = list[dict[str, Any]]
Change = dict[str, float]


def treated(
    change: Change,
    *,
    factor: str = "load",
    builds: int = 8,
    noise: float = 0.004,
    name: str = "request",
    seed: int = 1,
    values: int = 3,
    more: dict[str, Any] | None = None,
    unit: str = "s",
    better: str = "lower",
) -> Lines:
    """One factor; change: head/base at each setting. Builds differ by 1%, alike at all settings."""
    rng = np.random.default_rng(seed)
    lines = []
    for build in range(builds):
        for side in ("base", "head"):
            shared = float(rng.lognormal(0, 0.01))
            for place, (setting, ratio) in enumerate(change.items()):
                mean = 0.1 * (place + 1) * shared * (ratio if side == "head" else 1.0)
                measured = (mean * rng.normal(1, noise, values)).tolist()
                factors = {factor: setting, **(more or {})}
                lines.append(
                    execution(
                        side, measured, build=build, benchmark=name, factors=factors, unit=unit, better=better
                    )
                )  # fmt: skip
    return lines


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep sentences on one line, whatever terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "140")


def decided(folder: Path, lines: Lines, *argv: str) -> dict[str, Any]:
    path, out, err = folder / "m.jsonl", io.StringIO(), io.StringIO()
    path.write_text(text(lines))
    code = main(["decide", str(path), "--json", str(folder / "r.json"), *argv], out, err)
    found: dict[str, Any] = json.loads((folder / "r.json").read_text())
    return found | {"code": code, "text": out.getvalue(), "err": err.getvalue()}


def where(finding: dict[str, Any]) -> list[str]:
    """What a finding is confined to, or larger at."""
    return [each["text"] for each in finding["where"]]


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {",".join(map(str, f["factors"].values())): f["verdict"] for f in report["findings"]}


def test_a_regression_at_one_setting_is_named_as_that(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.0, "busy": 1.25}))
    assert (found["code"], verdicts(found)) == (1, {"idle": "unchanged", "busy": "regression"})
    (one,) = found["interactions"]
    assert {key: one[key] for key in ("benchmark", "metric", "statistic", "factor", "setting", "against")} == {
        "benchmark": "request", "metric": "time", "statistic": "mean", "factor": "load", "setting": "busy",
        "against": ["idle"],
    }  # fmt: skip
    assert (one["verdict"], one["only"]) == ("worse", True)
    assert one["ratio"]["estimate"] == pytest.approx(1.25, rel=0.01)
    size = found["findings"][1]["ratio"]["estimate"] - 1
    assert one["text"] == f"head is {size:.1%} slower only under load=busy"
    assert found["summary"]["text"] == "1 of 2 findings regressed: request time only under load=busy"
    assert where(found["findings"][1]) == ["only under load=busy"]
    assert where(found["findings"][0]) == []
    assert found["family"] == {"method": "holm", "size": 3}
    assert f"by factor\n  request: {one['text']}; load=busy against idle: " in found["text"]


def test_the_first_setting_may_be_the_one_that_regressed(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.25, "busy": 1.0}))
    (one,) = found["interactions"]
    assert (one["setting"], one["verdict"], one["only"]) == ("busy", "better", True)
    assert one["text"].endswith("slower only under load=idle")
    assert found["summary"]["text"].endswith("request time only under load=idle")
    assert where(found["findings"][0]) == ["only under load=idle"]


def test_a_regression_everywhere_and_more_at_one_setting(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.3, "busy": 1.5}))
    (one,) = found["interactions"]
    assert verdicts(found) == {"idle": "regression", "busy": "regression"}
    assert (one["verdict"], one["only"]) == ("worse", False)
    assert f"more under load=busy (x{one['ratio']['estimate']:.2f} of the others)" in one["text"]
    assert one["text"] in found["text"].replace("\n    ", " ")
    (more,) = found["findings"][1]["where"]
    assert (more["kind"], more["settings"], more["over"]) == ("more-under", {"load": "busy"}, [])
    assert more["ratio"] == one["ratio"]["estimate"]
    assert where(found["findings"][0]) == []


def test_a_regression_alike_everywhere_is_no_interaction(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.3, "busy": 1.3}, seed=2))
    (one,) = found["interactions"]
    assert (one["verdict"], one["only"]) == ("same", False)
    assert one["text"].startswith("the change does not depend on load")
    assert "no change is shown to depend on a setting" in found["text"]
    assert not any(map(where, found["findings"]))


def test_an_interaction_never_fails_a_report(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 0.99, "busy": 1.01}, noise=0.0005), "--set", "gate.threshold=15%")
    (one,) = found["interactions"]
    assert (found["code"], found["verdict"]) == (0, "pass")
    assert one["verdict"] == "worse"
    assert one["text"].endswith("which is real, but below the threshold of 15%")
    assert not any(map(where, found["findings"]))


def test_an_improvement_at_one_setting(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.0, "busy": 0.8}))
    (one,) = found["interactions"]
    assert (one["verdict"], one["only"]) == ("better", True)
    assert one["text"].endswith("faster only under load=busy")


def test_a_rate_that_is_better_higher_turns_the_direction(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.0, "busy": 0.75}, unit="", better="higher"))
    (one,) = found["interactions"]
    assert (one["verdict"], one["only"]) == ("worse", True)
    assert one["text"].endswith("lower in time only under load=busy")


def test_of_three_settings_each_is_compared_with_the_others(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.0, "mid": 1.0, "busy": 1.3}))
    rows = {i["setting"]: i for i in found["interactions"]}
    assert {s: i["against"] for s, i in rows.items()} == {
        "idle": ["mid", "busy"],
        "mid": ["idle", "busy"],
        "busy": ["idle", "mid"],
    }
    assert {s: i["verdict"] for s, i in rows.items()} == {"idle": "better", "mid": "better", "busy": "worse"}
    assert rows["busy"]["text"].endswith("slower only under load=busy")
    assert rows["busy"]["ratio"]["estimate"] == pytest.approx(1.3, rel=0.01)
    assert rows["idle"]["ratio"]["estimate"] == pytest.approx(1.3**-0.5, rel=0.01)
    # one line a factor says it
    assert found["text"].count("  request: head is") == 1


def many(builds: int, *, benchmarks: int = 5) -> Lines:
    """Benchmarks of which the first alone depends on the load; layouts are common."""
    lines: Lines = [{"type": "run", "config": {"build": {}}}]
    for k in range(benchmarks):
        lines += treated({"idle": 1.0, "busy": 1.06 if k == 0 else 1.0}, builds=builds, name=f"b{k}", seed=3 + k)
    return lines


def test_interactions_share_their_variance_as_findings_do(tmp_path: Path) -> None:
    found = decided(tmp_path, many(4))["interactions"]
    assert {i["ratio"]["method"] for i in found} == {"paired-shared"}
    assert all(3 < i["ratio"]["df"] <= 11 for i in found)
    # four builds are enough with it, as for a finding
    assert found[0]["verdict"] == "worse"
    few = decided(tmp_path, many(4, benchmarks=4))["interactions"]
    assert {i["ratio"]["method"] for i in few} == {"paired"}
    assert few[0]["verdict"] == "inconclusive"
    assert few[0]["outcome"]["few_builds"] == 4


def test_the_shared_variance_is_that_of_the_rounds_contrasts(tmp_path: Path) -> None:
    lines = many(6)
    rows = decided(tmp_path, lines)["interactions"]
    d: dict[tuple[str, int], float] = {}
    for line in lines[1:]:
        key = (line["benchmark"], line["build"])
        sign = (1 if line["side"] == "head" else -1) * (1 if line["factors"]["load"] == "busy" else -1)
        d[key] = d.get(key, 0.0) + sign * math.log(np.mean(line["metrics"]["time"]["values"]))
    by = {name: np.array([d[name, build] for build in range(6)]) for name in dict.fromkeys(key for key, _ in d)}
    for row in rows:
        own = by[row["benchmark"]]
        assert math.log(row["ratio"]["estimate"]) == pytest.approx(own.mean())
        variances = sorted(v.var(ddof=1) for v in by.values())
        half = math.log(row["ratio"]["high"] / row["ratio"]["low"]) / 2
        used = (half / stats.t.ppf(0.975, row["ratio"]["df"])) ** 2 * 6
        assert variances[0] < used < variances[-1] * 2


def test_a_report_says_where_no_change_is_shown(tmp_path: Path) -> None:
    lines = treated({"idle": 1.0, "busy": 1.3}, noise=0.03)
    (one,) = decided(tmp_path, lines, "--set", "gate.show=not-worse", "--set", "gate.threshold=0%")["interactions"]
    assert (one["verdict"], one["only"], one["outcome"]["shown"]) == ("worse", False, "worse")
    assert "and not shown to have changed under load=idle (" in one["text"]


def test_numbers_ascend_and_the_rules_say_the_order_of_names(tmp_path: Path) -> None:
    numbers = treated({"8": 1.0, "1": 1.0}, factor="clients")
    for line in numbers:
        line["factors"] = {"clients": float(line["factors"]["clients"])}
    assert [(i["setting"], i["against"]) for i in decided(tmp_path, numbers)["interactions"]] == [(8.0, [1.0])]
    study: dict[str, Any] = {"factor": {"load": {"busy": {}, "idle": {}}}}
    lines = treated({"idle": 1.0, "busy": 1.0})
    found = decided(tmp_path, [{"type": "run", "config": {}}, *lines])
    assert found["interactions"][0]["setting"] == "busy"
    named = [{"type": "run", "config": {"study": study}}, *lines]

    evidence = gather(located(*named), Config())
    (contrast,) = contrasts_of(subjects_of(evidence, POLICY), evidence.run).found
    assert (contrast.setting, contrast.against) == ("idle", ("busy",))


def crossed(change: dict[tuple[str, str], float], builds: int = 8) -> Lines:
    """Two factors, load and sched, at the combinations that are given."""
    lines: Lines = []
    for sched in dict.fromkeys(sched for _, sched in change):
        own = {load: ratio for (load, at), ratio in change.items() if at == sched}
        lines += treated(own, builds=builds, more={"sched": sched}, seed=len(lines))
    return lines


def test_the_settings_of_other_factors_are_averaged_over(tmp_path: Path) -> None:
    change = {("idle", "a"): 1.0, ("busy", "a"): 1.2, ("idle", "b"): 1.0, ("busy", "b"): 1.3}
    found = decided(tmp_path, crossed(change))
    rows = {i["factor"]: i for i in found["interactions"]}
    assert rows["load"]["ratio"]["estimate"] == pytest.approx(math.sqrt(1.2 * 1.3), rel=0.01)
    assert rows["sched"]["ratio"]["estimate"] == pytest.approx(math.sqrt(1.3 / 1.2), rel=0.02)
    assert rows["load"]["only"]
    assert not rows["sched"]["only"]
    # both findings have one name, and their range is said, not their average
    assert found["summary"]["text"] == "2 of 4 findings regressed: request time only under load=busy"
    low, high = (found["findings"][i]["ratio"]["estimate"] - 1 for i in (1, 3))
    assert rows["load"]["text"] == f"head is {low:.1%} to {high:.1%} slower only under load=busy"
    assert ", on average over load: worse under sched=b (x1.0" in rows["sched"]["text"]


def acting(change: dict[tuple[Any, Any], float], factor: str = "n") -> Lines:
    """Two factors that act together: load and another, whose settings are of any kind."""
    lines: Lines = []
    for at in dict.fromkeys(at for _, at in change):
        own = {load: ratio for (load, other), ratio in change.items() if other == at}
        lines += treated(own, more={factor: at}, seed=len(lines) + 3, noise=0.002)
    return lines


def reasons(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The verdict of each finding, and what interactions add to its reason."""
    return [(f["verdict"], "; ".join(where(f))) for f in found["findings"]]


def test_a_combination_that_alone_regressed_is_named(tmp_path: Path) -> None:
    found = decided(tmp_path, acting({("a", 1): 1.0, ("b", 1): 1.0, ("a", 2): 1.0, ("b", 2): 1.3}))
    assert [verdict for verdict, _ in reasons(found)] == ["unchanged"] * 3 + ["regression"]
    size = found["findings"][3]["ratio"]["estimate"] - 1
    said = f"head is {size:.1%} slower only under load=b, n=2"
    assert [(i["factor"], i["verdict"], i["only"], i["text"]) for i in found["interactions"]] == [
        ("load", "worse", False, said),
        ("n", "worse", False, said),
    ]
    assert found["summary"]["text"] == "1 of 4 findings regressed: request time only under load=b n=2"
    assert where(found["findings"][3]) == ["only under load=b, n=2"]
    assert found["text"].split("by factor\n")[1].count(said) == 1
    assert "1 more is in report.json and report.html." in found["text"]


def test_a_combination_may_be_of_some_of_the_factors_and_of_more_than_two_settings(tmp_path: Path) -> None:
    lines = []
    for third in ("x", "y"):
        change = {(load, n): 1.3 if (load, n) == ("b", 2) else 1.0 for load in ("a", "b", "c") for n in (1, 2)}
        for line in acting(change):
            line["factors"]["kind"] = third
            lines.append(line)
    found = decided(tmp_path, lines)
    assert found["summary"]["text"] == "2 of 12 findings regressed: request time only under load=b n=2"
    said = {i["text"] for i in found["interactions"] if i["setting"] in ("b", 2)}
    assert len(said) == 1
    assert said.pop().endswith(" slower only under load=b, n=2")
    # the others of its factor are averages over the other factors, and say so
    (rest,) = (i["text"] for i in found["interactions"] if i["setting"] == "a")
    assert ", on average over n and kind: better under load=a" in rest


def test_a_combination_that_alone_improved_is_named(tmp_path: Path) -> None:
    found = decided(tmp_path, acting({("a", 1): 1.0, ("b", 1): 1.0, ("a", 2): 1.0, ("b", 2): 0.7}))
    assert all(i["text"].endswith(" faster only under load=b, n=2") for i in found["interactions"])
    assert all("only under" not in reason for _, reason in reasons(found))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({("a", 1): 1.0, ("b", 1): 1.3, ("a", 2): 1.3, ("b", 2): 1.6}, "all but one regress"),
        ({("a", 1): 1.0, ("b", 1): 1.052, ("a", 2): 1.0, ("b", 2): 1.3}, "one more is open"),
        ({("a", 1): 1.3, ("b", 1): 1.0, ("a", 2): 1.0, ("b", 2): 1.6}, "two regress that share no setting"),
    ],
)
def test_what_no_setting_and_no_combination_has_alone_is_an_average(
    tmp_path: Path, change: dict[tuple[Any, Any], float], why: str
) -> None:
    lines = acting(change)
    found = decided(tmp_path, lines, "--set", "gate.threshold=5%")
    for row in found["interactions"]:
        other = {"load": "n", "n": "load"}[row["factor"]]
        assert row["verdict"] == "worse", why
        assert "only under" not in row["text"]
        assert f", on average over {other}: " in row["text"]
    assert "only under" not in found["summary"]["text"]
    assert all("only under" not in reason for _, reason in reasons(found))


def test_where_all_regressed_more_under_is_an_average_too(tmp_path: Path) -> None:
    found = decided(tmp_path, acting({("a", 1): 1.3, ("b", 1): 1.3, ("a", 2): 1.3, ("b", 2): 1.8}))
    (load, n) = (f"more under {at} (x{i['ratio']['estimate']:.2f} of the others, on average over {other})"
                 for at, other, i in zip(("load=b", "n=2"), ("n", "load"), found["interactions"], strict=True))  # fmt: skip
    assert where(found["findings"][3]) == [load, n]
    assert found["summary"]["text"] == "4 of 4 findings regressed: request time at every setting"


def test_opposite_changes_that_cancel_are_said_to_be_an_average(tmp_path: Path) -> None:
    found = decided(tmp_path, acting({("a", 1): 1.3, ("b", 1): 1.0, ("a", 2): 1.0, ("b", 2): 1.3}))
    assert [(i["verdict"], i["text"].partition(":")[0]) for i in found["interactions"]] == [
        ("same", "the change does not depend on load, on average over n"),
        ("same", "the change does not depend on n, on average over load"),
    ]
    assert found["summary"]["text"].startswith(
        "2 of 4 findings regressed: request time at 2 of 4 combinations of settings ("
    )


def test_a_finding_without_a_partner_counts_for_only_under(tmp_path: Path) -> None:
    # load=busy, sched=b has no load=idle, so that no interaction has it; but it did not regress
    change = {("idle", "a"): 1.0, ("busy", "a"): 1.3, ("busy", "b"): 1.0}
    found = decided(tmp_path, crossed(change))
    rows = {i["factor"]: i for i in found["interactions"]}
    assert (rows["load"]["verdict"], rows["sched"]["verdict"]) == ("worse", "better")
    assert rows["load"]["only"] is False
    assert rows["sched"]["only"] is False
    assert all(i["text"].endswith(" slower only under load=busy, sched=a") for i in rows.values())


def test_many_factors_have_one_headline(tmp_path: Path) -> None:
    names = [f"f{i}" for i in range(1, 6)]
    lines = []
    for number in range(2 ** len(names)):
        more = {name: number >> place & 1 for place, name in enumerate(names)}
        lines += treated({"0": 1.0, "1": 1.3}, factor="f0", more=more, seed=number, values=2)
    found = decided(tmp_path, lines, "--set", "gate.threshold=10%")
    assert found["summary"]["text"] == '32 of 64 findings regressed: request time only under f0="1"'
    (row,) = (i for i in found["interactions"] if i["factor"] == "f0")
    assert row["text"].endswith(' slower only under f0="1"')
    assert "on average" not in row["text"]
    (row,) = (i for i in found["interactions"] if i["factor"] == "f1")
    assert "on average over the other 5 factors" in row["text"]


def test_a_text_that_looks_like_a_number_stands_in_quotes(tmp_path: Path) -> None:
    found = decided(tmp_path, acting({("a", 1): 1.0, ("a", "1"): 1.3, ("a", "1e3"): 1.0, ("a", "x2"): 1.0}))
    text = found["text"]
    assert found["summary"]["text"] == '1 of 4 findings regressed: request time only under n="1"'
    assert {i["setting"] for i in found["interactions"]} == {1, "1", "1e3", "x2"}
    assert 'n="1" against 1, "1e3", x2: ' in text
    rows = [next(w for w in line.split() if w.startswith("n=")) for line in text.splitlines() if "load=a" in line]
    assert set(rows) >= {"n=1", 'n="1"', 'n="1e3"', "n=x2"}


def test_an_incomplete_combination_is_left_out_and_named(tmp_path: Path) -> None:
    change = {("idle", "a"): 1.0, ("busy", "a"): 1.2, ("busy", "b"): 2.0}
    found = decided(tmp_path, crossed(change))
    rows = {i["factor"]: i for i in found["interactions"]}
    assert rows["load"]["ratio"]["estimate"] == pytest.approx(1.2, rel=0.01)
    assert rows["sched"]["ratio"]["estimate"] == pytest.approx(2.0 / 1.2, rel=0.02)
    left_out = [w for w in found["warnings"] if w["kind"] == "combinations-left-out"]
    assert [(w["benchmark"], w["metric"], w["factor"], w["compared"], w["combinations"]) for w in left_out] == [
        ("request", "time", "load", True, [{"at": ["sched=b"], "lacking": ["idle"]}]),
        ("request", "time", "sched", True, [{"at": ["load=idle"], "lacking": ["b"]}]),
    ]


def test_a_factor_without_a_whole_combination_is_not_compared(tmp_path: Path) -> None:
    found = decided(tmp_path, crossed({("idle", "a"): 1.0, ("busy", "b"): 1.2}))
    assert found["interactions"] == []
    assert any(
        (w["kind"], w.get("factor"), w.get("compared")) == ("combinations-left-out", "load", False)
        for w in found["warnings"]
    )


def without(lines: Lines, side: str, build: int, load: str) -> Lines:
    return [e for e in lines if (e["side"], e["build"], e["factors"]["load"]) != (side, build, load)]


def logs(lines: Lines, side: str, load: str) -> dict[int, float]:
    return {
        e["build"]: math.log(float(np.mean(e["metrics"]["time"]["values"])))
        for e in lines
        if e["side"] == side and e["factors"]["load"] == load
    }


def contrast(lines: Lines, side: str) -> dict[int, float]:
    idle, busy = (logs(lines, side, load) for load in ("idle", "busy"))
    return {build: busy[build] - idle[build] for build in busy if build in idle}


@pytest.mark.parametrize("method", ["fieller-paired", "fieller"])
def test_the_interval_is_that_of_t_on_the_contrasts_of_builds(tmp_path: Path, method: str) -> None:
    lines = treated({"idle": 1.0, "busy": 1.02}, builds=6, noise=0.02)
    (one,) = decided(tmp_path, lines, "--set", f"gate.interval={method}")["interactions"]
    base, head = (np.array(list(contrast(lines, side).values())) for side in ("base", "head"))
    test = stats.ttest_rel(head, base) if method == "fieller-paired" else stats.ttest_ind(head, base, equal_var=False)
    limits = test.confidence_interval(0.95)
    assert one["ratio"]["method"] == method
    assert one["ratio"]["estimate"] == pytest.approx(math.exp(head.mean() - base.mean()), rel=1e-12)
    assert one["ratio"]["df"] == pytest.approx(test.df, rel=1e-9)
    assert (one["ratio"]["low"], one["ratio"]["high"]) == pytest.approx((math.exp(limits.low), math.exp(limits.high)))
    assert one["p"] == pytest.approx(test.pvalue, rel=1e-9)


def test_a_build_that_lacks_a_setting_has_no_contrast(tmp_path: Path) -> None:
    lines = without(treated({"idle": 1.0, "busy": 1.02}, noise=0.02), "head", 3, "idle")
    (one,) = decided(tmp_path, lines)["interactions"]
    base, head = (np.array(list(contrast(lines, side).values())) for side in ("base", "head"))
    assert (len(base), len(head)) == (8, 7)
    # the round that lacks a partner is left out
    test = stats.ttest_rel(head, np.delete(base, 3))
    assert one["ratio"]["method"] == "paired"
    assert one["p"] == pytest.approx(test.pvalue, rel=1e-9)


def test_quantiles_have_interactions_of_their_own(tmp_path: Path) -> None:
    toml = tmp_path / "perfgate.toml"
    toml.write_text('[[benchmark]]\nname = "request"\ncommand = "x"\nmetric.time.statistics = ["mean", "p50"]\n')
    lines = treated({"idle": 1.0, "busy": 1.3}, values=30, noise=0.01)
    found = decided(tmp_path, lines, "--config", str(toml))
    assert [(i["statistic"], i["verdict"]) for i in found["interactions"]] == [("mean", "worse"), ("p50", "worse")]
    assert found["interactions"][1]["text"].startswith("head's p50 time is ")
    # definition 8 at the median of 30 values is their median
    of = {
        side: [
            np.log(np.median(b["metrics"]["time"]["values"])) - np.log(np.median(a["metrics"]["time"]["values"]))
            for a, b in zip(*([e for e in lines if e["side"] == side and e["factors"]["load"] == load]
                              for load in ("idle", "busy")), strict=True)
        ]
        for side in ("base", "head")
    }  # fmt: skip
    low, high = stats.ttest_rel(of["head"], of["base"]).confidence_interval(0.95)
    ratio = found["interactions"][1]["ratio"]
    assert (ratio["low"], ratio["high"]) == pytest.approx((math.exp(low), math.exp(high)))
    few = decided(tmp_path, treated({"idle": 1.0, "busy": 1.3}), "--config", str(toml))["interactions"][1]
    assert (few["ratio"]["kind"], few["p"], few["verdict"]) == ("withheld", None, "inconclusive")
    assert few["outcome"]["at"] == {"load": "busy"}
    assert {key: few["outcome"]["why"][key] for key in ("kind", "statistic", "needs", "has")} == {
        "kind": "few-values", "statistic": "p50", "needs": 20, "has": 3,
    }  # fmt: skip


def counts(change: dict[str, tuple[float, float]]) -> Lines:
    return [
        execution(side, [value], build=build, metric="n", unit="", better="lower", factors={"load": load})
        for build in range(5)
        for load, both in change.items()
        for side, value in zip(("base", "head"), both, strict=True)
    ]


def test_exact_metrics_are_compared_as_numbers(tmp_path: Path) -> None:
    toml = tmp_path / "perfgate.toml"
    toml.write_text(
        '[[benchmark]]\nname = "bench"\ncommand = "x"\ninstrument = "values"\n[benchmark.metric.n]\nexact = true\n'
    )

    def of(change: dict[str, tuple[float, float]]) -> dict[str, Any]:
        return decided(tmp_path, counts(change), "--config", str(toml))

    found = of({"idle": (1000, 1000), "busy": (3000, 3600)})
    (one,) = found["interactions"]
    assert (one["verdict"], one["only"], one["p"], one["ratio"]["method"]) == ("worse", True, 0.0, "exact")
    assert one["ratio"]["low"] == one["ratio"]["high"] == pytest.approx(1.2)
    # numbers share no error
    assert found["family"]["size"] == 0
    (same,) = of({"idle": (1000, 1100), "busy": (3000, 3300)})["interactions"]
    assert (same["verdict"], same["outcome"]) == ("same", {"kind": "same", "over": []})
    (zero,) = of({"idle": (1000, 1100), "busy": (3000, 0)})["interactions"]
    assert zero["ratio"]["kind"] == "withheld"
    assert (zero["outcome"]["at"], zero["outcome"]["why"]["kind"]) == ({"load": "busy"}, "zero-value")


def changed(lines: Lines, load: str, value: float | None) -> Lines:
    for line in lines:
        if line["factors"]["load"] == load:
            line["metrics"]["time"]["values"] = [value]
    return lines


@pytest.mark.parametrize(
    ("lines", "at", "why"),
    [
        (treated({"idle": 1.0, "busy": 1.5}, builds=1), {"load": "busy"}, "one-unit"),
        (changed(treated({"idle": 1.0, "busy": 1.0}), "idle", 0.5), {"load": "idle"}, "no-spread"),
        (changed(treated({"idle": 1.0, "busy": 1.0}), "busy", -0.5), {"load": "busy"}, "negative-values"),
        (changed(treated({"idle": 1.0, "busy": 1.0}), "busy", 0.0), {"load": "busy"}, "both-zero"),
        (
            [e for e in treated({"idle": 1.0, "busy": 1.0}) if (e["build"] < 4) == (e["factors"]["load"] == "idle")],
            {},
            "incomplete-builds",
        ),
    ],
)
def test_what_has_no_interval_says_why(tmp_path: Path, lines: Lines, at: dict[str, str], why: str) -> None:
    (one,) = decided(tmp_path, lines)["interactions"]
    assert (one["ratio"]["kind"], one["p"], one["p_adjusted"], one["verdict"]) == (
        "withheld",
        None,
        None,
        "inconclusive",
    )
    found = one["outcome"]
    assert (found["kind"], found["at"], found["why"]["kind"]) == ("not-known", at, why)


def test_min_builds_holds_for_only_under(tmp_path: Path) -> None:
    found = decided(tmp_path, treated({"idle": 1.0, "busy": 1.5}, builds=4))
    (one,) = found["interactions"]
    assert (one["verdict"], one["only"], one["p_adjusted"]) == ("inconclusive", False, None)
    assert one["p"] < 0.001
    assert one["text"].endswith("it looks real, but this has 4 builds a side, too few for a verdict")
    enough = decided(tmp_path, treated({"idle": 1.0, "busy": 1.5}, builds=4), "--set", "gate.min_builds=4")
    assert enough["interactions"][0]["only"]


def test_interactions_take_their_share_of_the_error(tmp_path: Path) -> None:
    alone = decided(tmp_path, treated({"idle": 1.0}))
    both = decided(tmp_path, treated({"idle": 1.0, "busy": 1.0}))
    assert (alone["interactions"], alone["family"]["size"], both["family"]["size"]) == ([], 1, 3)
    # nothing is rejected, so that all are tested at alpha/3
    assert both["findings"][0]["decided_at"]["confidence"] == pytest.approx(0.95)
    assert {f["verdict"] for f in both["findings"]} <= {"unchanged", "inconclusive"}
    found = decided(tmp_path, treated({"idle": 1.0, "busy": 1.5}))
    confidences = [f["decided_at"]["confidence"] for f in found["findings"] if f["verdict"] == "regression"]
    # the interaction's p is the smallest of three, the regression's the next: alpha/2
    assert confidences == [pytest.approx(1 - 0.05 / 2)]


def sessions(change: Change) -> Lines:
    speeds = (1.0, 2.3, 0.6, 1.4)
    return [
        {**line, "session": session, "metrics": {"time": {"unit": "s", "values": [
            speed * v for v in line["metrics"]["time"]["values"]]}}}
        for session, speed in enumerate(speeds)
        for line in treated(change, builds=5, seed=session)
    ]  # fmt: skip


def test_machines_of_several_speeds_pair_by_session(tmp_path: Path) -> None:
    (one,) = decided(tmp_path, sessions({"idle": 1.0, "busy": 1.3}))["interactions"]
    assert (one["verdict"], one["ratio"]["df"], one["ratio"]["method"]) == ("worse", 3.0, "paired")
    assert one["ratio"]["estimate"] == pytest.approx(1.3, rel=0.02)


def looked(change: Change, rounds: int, settled: dict[int, list[str]]) -> Lines:
    lines: Lines = [{"type": "run", "seed": 1, "looks": 12, "config": {"plan": {"builds": {"min": 4, "max": 12}}}}]
    measured = treated(change, builds=rounds)
    for number in range(rounds):
        lines += [line for line in measured if line["build"] == number]
        lines.append({"type": "look", "look": number + 1, "settled": settled.get(number + 1, [])})
    return lines


def test_a_look_spends_as_little_on_an_interaction_as_on_a_finding(tmp_path: Path) -> None:
    found = decided(tmp_path, looked({"idle": 1.0, "busy": 1.4}, 6, {6: ["request"]}))
    (one,) = found["interactions"]
    assert one["verdict"] == "worse"
    # the second look of four, at rounds 4, 6, 8 and 12
    assert one["ratio"]["confidence"] == found["findings"][1]["ratio"]["confidence"]
    assert one["ratio"]["confidence"] > 0.99
    assert one["p_adjusted"] > one["p"]


def test_nothing_is_measured_for_an_interaction_alone(tmp_path: Path) -> None:

    evidence = gather(located(*looked({"idle": 1.5, "busy": 1.505}, 6, {})), Config())
    assert [i.verdict for i in decide(evidence, POLICY).interactions] != ["worse"]
    assert look(evidence, POLICY) == {"request"}


def test_without_factors_there_is_nothing_of_all_this(tmp_path: Path) -> None:
    lines = [{key: value for key, value in line.items() if key != "factors"} for line in treated({"idle": 1.2})]
    found = decided(tmp_path, lines)
    assert (found["interactions"], found["family"]["size"]) == ([], 1)
    assert "by factor" not in found["text"]


def test_an_experiment_on_one_side_names_the_command_that_reads_it(tmp_path: Path) -> None:
    path, out, err = tmp_path / "m.jsonl", io.StringIO(), io.StringIO()
    path.write_text(text([e for e in treated({"idle": 1.0, "busy": 1.0}) if e["side"] == "head"]))
    assert main(["decide", str(path)], out, err) == 2
    said = f"perfgate: {path}: a study of head alone has nothing to compare: "
    assert (out.getvalue(), err.getvalue()) == ("", f"{said}run `perfgate study analyse {path}`\n")


def test_a_build_of_base_that_failed_is_no_experiment_on_head(tmp_path: Path) -> None:
    failure = {"type": "failure", "kind": "build", "side": "base", "build": 0, "status": "exit 2"}
    found = decided(tmp_path, [*(e for e in treated({"idle": 1.0, "busy": 1.0}) if e["side"] == "head"), failure])
    assert (found["code"], found["verdict"]) == (4, "error")


def test_the_same_execution_at_one_setting_twice_names_the_setting(tmp_path: Path) -> None:
    lines = treated({"idle": 1.0, "busy": 1.0})
    path, out, err = tmp_path / "m.jsonl", io.StringIO(), io.StringIO()
    path.write_text(text([*lines, lines[1]]))
    assert main(["decide", str(path)], out, err) == 2
    assert "the same execution twice (request, time, base, load=busy, build 0, execution 0)" in err.getvalue()


def test_the_mean_of_ratios_is_geometric_and_needs_all_of_them() -> None:
    found = examples.regressed("a")

    def of(*estimates: float | None) -> float | None:
        return mean_ratio(
            [msgspec.structs.replace(found, ratio=msgspec.structs.replace(found.ratio, estimate=e)) for e in estimates]
        )

    assert of(0.5, 2.0, 8.0) == pytest.approx(2.0)
    assert (of(), of(2.0, None), of(None, 2.0), of(2.0, 0.0)) == (None, None, None, None)
