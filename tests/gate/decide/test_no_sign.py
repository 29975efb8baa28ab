"""No sign of a slowdown: when a finding is given up, which size would have shown, and what is green (docs/method.md)."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.codes import Exit
from gate.model import Finding, Report, reasons
from gate.stats.sequential import spending
from tests.gate.decide.decided import Lines, Means, decided, ones, only, rounds_of, settled, typed
from tests.support.lines import text
from tests.support.seeds import some

LOOKS = (4, 6, 8, 12)
LONG = (*LOOKS, 18, 28, 56)
COMMON = {"layouts": "common"}


def lines(means: Means, rounds: int, fixed: bool = False, better: str = "lower", **tables: Any) -> Lines:
    gate = {"floor": "0", "threshold": "3%", "interval": "paired", **tables.pop("gate", {})}
    plan = {"builds": 12 if fixed else {"min": 4, "max": 12}}
    return rounds_of(means, rounds, {"plan": plan, **tables, "gate": gate}, better=better)


def drawn(seed: int, ratio: float = 1.0, sd: float = 0.01, names: str = "a", rounds: int = 12) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {n: (1 + rng.normal(0, sd, rounds), ratio * (1 + rng.normal(0, sd, rounds))) for n in names}


def by_name(found: Lines) -> dict[str, Finding]:
    return {f.benchmark: f for f in decided(found).findings}


# --- when it is given up ----------------------------------------------------------------------------------------------


def power_needs(critical: float, df: int) -> float:
    """The noncentrality at which T exceeds a limit in 80% of the runs."""
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if stats.nct.sf(critical, df, middle) >= 0.8 else (middle, high)
    return high


def seen(end: int, looks: tuple[int, ...], sd: float, threshold: float) -> float:
    """The size that 80% of the runs see by a look, one number at a time."""
    level = spending(looks).nominal(end, 0.05, paired=True)
    critical = float(stats.t.isf(level / 2, looks[end] - 1))
    return (1 + threshold) * math.exp(power_needs(critical, looks[end] - 1) * sd / math.sqrt(looks[end])) - 1


def asked(k: int, looks: tuple[int, ...], sd: float, threshold: float, wanted: float) -> int:
    """The look by which one case must be seen: the first of at least twelve rounds that sees enough, or the last."""
    last = len(looks) - 1
    later = [end for end in range(k + 1, last) if looks[end] >= 12]
    return next((end for end in later if seen(end, looks, sd, threshold) <= wanted), last)


def twin(base: Any, head: Any, threshold: float, looks: tuple[int, ...], wanted: float) -> int:
    """The look (from 1) at which one case is given up, one number at a time; 0: it is not."""
    design = spending(looks)
    for k, rounds in enumerate(looks[:-1]):
        d = [math.log(h / b) for b, h in zip(base[:rounds], head[:rounds], strict=True)]
        mean, sd = float(np.mean(d)), float(np.std(d, ddof=1))
        t = (mean - math.log(1 + threshold)) / (sd / math.sqrt(rounds))
        z_now = float(stats.norm.isf(stats.t.sf(t, rounds - 1)))
        if stats.t.sf(t, rounds - 1) * 2 < design.nominal(k, 0.05, paired=True):
            return 0
        # an improvement in sight waits for its verdict
        if mean < -math.log(1 + threshold) and stats.t.cdf(mean / (sd / math.sqrt(rounds)), rounds - 1) < 0.05:
            continue
        sign = mean > math.log(1 + threshold) and stats.t.sf(mean / (sd / math.sqrt(rounds)), rounds - 1) < 0.025
        # what is no pass is measured on
        end = len(looks) - 1 if sign else asked(k, looks, sd, threshold, wanted)
        if wanted < seen(end, looks, sd, threshold) <= 1.5 * wanted:
            # its noise may yet turn out to be small enough
            continue
        time = rounds / looks[end]
        z = float(stats.norm.isf(design.nominal(end, 0.05, paired=True) / 2))
        theta = z + float(stats.norm.ppf(0.8))
        if stats.norm.sf((z - z_now * math.sqrt(time) - theta * (1 - time)) / math.sqrt(1 - time)) < 0.15:
            return k + 1
    return 0


@pytest.mark.parametrize("seed", some(range(25), 8, pytest.mark.nightly))
@pytest.mark.parametrize(
    ("looks", "most", "wanted", "spreads"),
    # a long plan asks the first look that sees enough
    [(LOOKS, 12, 0.1, (0.03,)), (LONG, None, 0.08, (0.005, 0.02, 0.05, 0.12))],
    ids=["short", "long"],
)
def test_it_is_given_up_where_the_formula_says(
    seed: int, looks: tuple[int, ...], most: int | None, wanted: float, spreads: tuple[float, ...]
) -> None:
    ratio = float(np.random.default_rng([seed, 7]).choice([0.97, 1.0, 1.02, 1.04, 1.08]))
    means = drawn(seed, ratio, spreads[seed % len(spreads)], rounds=looks[-1])
    plan = {"builds": {"min": 4} | ({} if most is None else {"max": most})}
    found = only(lines(means, looks[-1], plan=plan, gate={"detectable": wanted}))
    expected = twin(means["a"][0], means["a"][1], 0.03, looks, wanted)
    assert found.decided_at.looks == len(looks)
    if found.verdict in ("regression", "improvement"):
        assert expected == 0 or found.verdict == "improvement"
    elif looks is LOOKS:
        given_up = found.stopped == "futility" or (found.stopped == "settled" and found.verdict != "inconclusive")
        assert given_up == (expected > 0)
        assert not given_up or found.decided_at.look <= expected
    if found.stopped != "futility":
        return
    assert found.decided_at.look == expected
    base, head = (side[: looks[expected - 1]] for side in means["a"])
    sd = float(np.std(np.log(head / base), ddof=1))
    size = seen(asked(expected - 1, looks, sd, 0.03, wanted), looks, sd, 0.03)
    assert found.detectable == pytest.approx(size, rel=1e-4)
    # green as soon as no sign is enough, and too noisy where the last look sees too little
    if isinstance(found.reason, reasons.TooNoisy):
        assert (found.verdict, size > wanted) == ("inconclusive", True)
    else:
        # what was worse at the last but one look, and can hardly be called any more, is no pass
        assert (found.verdict == "no-sign" and size <= wanted) or expected == len(looks) - 1


def test_a_long_plan_ends_as_early_as_a_short_one_where_nothing_changed() -> None:
    rules: dict[str, Any] = {"plan": {"builds": {"min": 4}}, "gate": {"threshold": "2%", "detectable": "4%"}}
    for seed in range(12):
        assert settled(lines(drawn(seed, sd=0.004, names="abcde"), 4, **rules)) == set("abcde")
    # between rounds it is named as needing no more
    means = drawn(3, sd=0.03, names="ab") | drawn(4, 1.3, sd=0.03, names="c")
    done = settled(lines(means, 4))
    assert done == {name for name, f in by_name(lines(means, 12)).items() if f.decided_at.look == 1}
    assert settled(lines(means, 4, gate={"detectable": "threshold"})) < done


def test_false_alarms_are_as_without_giving_up() -> None:
    for seed in range(15):
        means = drawn(seed, sd=0.02, names="abcd") | drawn(seed + 100, 1.06, sd=0.02, names="e")
        slower, usual = (
            {name for name, f in by_name(lines(means, 12, gate=gate)).items() if f.verdict == "regression"}
            for gate in ({}, {"detectable": "threshold"})
        )
        assert slower <= usual


def test_nothing_is_given_up_before_three_builds() -> None:
    means = drawn(5, 0.9, sd=0.01)
    found = only(lines(means, 2, plan={"builds": {"min": 2, "max": 12}}))
    assert found.stopped != "futility"
    assert isinstance(found.reason, (reasons.TooWide, reasons.FewBuilds, reasons.NotWorse, reasons.BetterUncorrected))


# --- what is told -----------------------------------------------------------------------------------------------------


def test_the_size_is_that_of_the_last_planned_look() -> None:
    means = drawn(9, sd=0.03)
    found = only(lines(means, 12, gate={"detectable": "50%"}))
    assert (found.verdict, found.stopped) == ("no-sign", "futility")
    base, head = (side[: LOOKS[found.decided_at.look - 1]] for side in means["a"])
    sd, reason = float(np.std(np.log(head / base), ddof=1)), found.reason
    assert found.detectable == pytest.approx(seen(3, LOOKS, sd, 0.03), rel=1e-4)
    assert isinstance(reason, reasons.NoSign)
    assert (reason.detectable, reason.confidence) == (found.detectable, 0.95)
    # the plain interval, at the look that gave it up
    half = float(stats.t.ppf(0.975, len(base) - 1)) * sd / math.sqrt(len(base))
    assert reason.limit == found.ratio.high == pytest.approx(math.exp(float(np.log(head / base).mean()) + half))


def test_in_80_of_100_such_runs_a_change_of_that_size_is_found() -> None:
    sizes = [only(lines(drawn(seed, sd=0.03), 12)).detectable for seed in range(30)]
    size = float(np.median([each for each in sizes if each]))
    found = [only(lines(drawn(1000 + seed, 1 + size, sd=0.03), 12)).verdict for seed in range(120)]
    assert 0.69 < found.count("regression") / len(found) < 0.90


def test_too_noisy_for_the_size_that_is_asked_for_is_inconclusive() -> None:
    means = drawn(9, sd=0.03)
    size = only(lines(means, 12, gate={"detectable": "50%"})).detectable
    assert size is not None
    noisy = only(lines(means, 12, gate={"detectable": size * 0.66}))
    assert noisy.verdict == "inconclusive"
    assert noisy.reason == reasons.TooNoisy(
        detectable=size, wanted=size * 0.66, unit="s", better="lower", hopeless=False
    )
    assert noisy.more_builds is not None
    assert only(lines(means, 12, gate={"detectable": size * 1.01})).verdict == "no-sign"
    # four rounds do not know the noise well: what is nearly seen is measured on, and this one is seen in the end
    later = only(lines(means, 12, gate={"detectable": size * 0.99}))
    assert later.verdict == "no-sign" and later.decided_at.look > noisy.decided_at.look


def test_of_a_rate_the_lower_end_is_the_worse_one() -> None:
    means = drawn(9, sd=0.03)
    inverse = {name: (1 / base, 1 / head) for name, (base, head) in means.items()}
    time = only(lines(means, 12, gate={"detectable": "50%"}))
    rate = only(lines(inverse, 12, better="higher", gate={"detectable": "50%"}))
    assert rate.verdict == time.verdict == "no-sign"
    assert rate.detectable == pytest.approx(time.detectable)
    assert isinstance(time.reason, reasons.NoSign) and isinstance(rate.reason, reasons.NoSign)
    assert rate.reason.limit == pytest.approx(1 / time.reason.limit)


def test_a_change_that_is_real_is_said_to_be() -> None:
    assert only(lines(drawn(2, 1.015, sd=0.005), 12, fixed=True)).verdict == "unchanged"
    found = only(lines(drawn(2, 1.025, sd=0.008), 12, fixed=True))
    assert found.verdict == "no-sign"
    assert isinstance(found.reason, reasons.NoSign) and found.reason.real


def test_a_slowdown_that_is_real_and_probably_beyond_the_threshold_is_no_lack_of_a_sign() -> None:
    inconclusive = 0
    for seed in range(40):
        found = only(lines(drawn(seed, 1.06, sd=0.028), 12, fixed=True))
        likely = found.ratio.low is not None and found.ratio.low > 1 and (found.ratio.estimate or 0.0) > 1.03
        assert found.verdict != "no-sign" or not likely
        if found.verdict == "inconclusive" and likely:
            inconclusive += 1
            assert isinstance(found.reason, reasons.TooWide)
            assert (found.reason.exceeds, found.reason.estimate) == ("above", "beyond")
    assert inconclusive > 5


# --- what is green ----------------------------------------------------------------------------------------------------


def test_a_fixed_design_says_so_at_its_end_and_not_before() -> None:
    means = drawn(2, 1.02, sd=0.015)
    assert only(lines(means, 12, fixed=True)).verdict == "no-sign"
    # the budget ended
    early = only(lines(means, 9, fixed=True))
    assert early.verdict == "inconclusive"
    assert not isinstance(early.reason, (reasons.NoSign, reasons.TooNoisy))
    # worse by itself is a sign: beyond the threshold at 95%, and not after correction for many
    means = drawn(1, sd=0.02, names="bcdefghij") | drawn(40, 1.043, sd=0.02, names="a")
    found = by_name(lines(means, 12, fixed=True, gate={"detectable": "50%"}))["a"]
    assert found.p is not None and 0.005 < found.p < 0.05
    assert isinstance(found.reason, reasons.Uncorrected)


@pytest.mark.parametrize(
    ("gate", "verdict", "code"),
    [
        ({}, "pass", Exit.PASS),
        # where inconclusive fails, a change must be shown not to be worse unless the rules say otherwise
        ({"inconclusive": "fail"}, "inconclusive", Exit.INCONCLUSIVE),
        ({"inconclusive": "fail", "detectable": "10%"}, "pass", Exit.PASS),
    ],
)
def test_a_report_without_a_sign_passes(gate: dict[str, Any], verdict: str, code: Exit) -> None:
    result = decided(lines(drawn(2, 1.02, sd=0.015), 12, fixed=True, gate=gate))
    assert (result.verdict, result.exit_code) == (verdict, code)


def test_an_override_asks_for_more_of_some() -> None:
    means = drawn(2, 1.02, sd=0.015, names="ab")
    for detectable in ("threshold", "3.1%"):
        more = [{"benchmark": "b", "detectable": detectable}]
        found = by_name(lines(means, 12, fixed=True, override=more))
        assert {name: f.verdict for name, f in found.items()} == {"a": "no-sign", "b": "inconclusive"}


# --- variance that cases share ----------------------------------------------------------------------------------------


def test_five_cases_share_their_variance_and_then_need_four_builds() -> None:
    means = drawn(1, sd=0.01, names="bcdef") | drawn(9, 1.3, sd=0.01, names="a")
    auto: dict[str, Any] = {"gate": {"interval": "auto"}}
    four = by_name(lines(means, 4, **auto, build=COMMON))
    assert ({f.ratio.method for f in four.values()}, four["a"].verdict) == ({"paired-shared"}, "regression")
    few = by_name(lines(dict(list(means.items())[-4:]), 4, **auto, build=COMMON))
    assert {f.ratio.method for f in few.values()} == {"paired"}
    assert all(f.verdict != "regression" for f in few.values())
    # independent layouts share nothing
    apart = by_name(lines(means, 12, **auto, build={"layouts": "independent"}))
    assert {f.ratio.method for f in apart.values()} == {"paired"}


# --- the size that would have shown, of unpaired intervals --------------------------------------------------------------


def report(means: Means, rules: Any = (), **gate: Any) -> Report:
    """A run of six builds of a value each."""
    gate = {"threshold": "3%", "floor": "0", "interval": "fieller", "detectable": "threshold", **gate}
    found = [line for name, sides in means.items() for line in ones(*sides, benchmark=name)]
    return decided(found, {"gate": gate, "benchmark": list(rules)})


def normal_sides(rng: np.random.Generator, builds: int, sd: float) -> tuple[list[float], list[float]]:
    return rng.normal(1, sd, builds).tolist(), rng.normal(1, sd, builds).tolist()


def by_power(base: list[float], head: list[float], threshold: float, alpha: float) -> float:
    """The smallest change by bisection on the power of T, without any closed form."""
    b, h, n = np.array(base), np.array(head), len(base)
    v_x, v_y = (float(s.var(ddof=1)) / n / float(s.mean()) ** 2 for s in (b, h))
    # Satterthwaite's degrees at the estimated ratio
    u, w = float(b.var(ddof=1)) * (h.mean() / b.mean()) ** 2, float(h.var(ddof=1))
    df = (u + w) ** 2 / ((u**2 + w**2) / (n - 1))
    limit = float(stats.t.ppf(1 - alpha / 2, df))

    def power(change: float) -> float:
        t = (change - threshold) / math.sqrt((1 + change) ** 2 * v_y + (1 + threshold) ** 2 * v_x)
        return float(stats.nct.sf(limit, df, t))

    low, high = threshold, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= 0.8 else (middle, high)
    return high


@pytest.mark.parametrize("cases", [1, 12])
@pytest.mark.parametrize("sd", [0.005, 0.05])
def test_a_literal_twin(cases: int, sd: float) -> None:
    rng = np.random.default_rng(4)
    means = {f"case-{k}": normal_sides(rng, 6, sd) for k in range(cases)}
    for finding in report(means).findings:
        assert finding.verdict in ("inconclusive", "unchanged")
        expected = by_power(*means[finding.benchmark], threshold=0.03, alpha=0.05 / cases)
        assert finding.detectable == pytest.approx(expected, rel=1e-4)


def test_what_looks_leave_at_the_last_one() -> None:
    means = {"a": normal_sides(np.random.default_rng(9), 12, 0.03)}
    gate = {"threshold": "3%", "floor": "0", "interval": "fieller", "detectable": "threshold"}
    found = only(rounds_of(means, 12, {"plan": {"builds": {"min": 4, "max": 12}}, "gate": gate}))
    alpha = spending((4, 6, 8, 12)).nominal(3, 0.05)
    assert found.verdict == "inconclusive"
    assert found.detectable == pytest.approx(by_power(*means["a"], threshold=0.03, alpha=alpha), rel=1e-4)


def test_a_floor_is_needed_too() -> None:
    means = {"a": normal_sides(np.random.default_rng(4), 6, 0.005)}
    without, found = (report(means, floor=floor).findings[0].detectable for floor in ("0", "0.2s"))
    assert without is not None and without < 0.2
    assert found is not None and 0.2 < found < 0.25


@pytest.mark.parametrize(
    ("means", "rules"),
    [
        (([1.0, 1.01, 0.99], [1.0, 1.02, 0.98]), {}),
        (([1.0, 1.9, 0.1, 1.7, 0.2], [1.1, 1.8, 0.2, 1.9, 0.1]), {}),
        (([1.0] * 5, [1.0] * 5), {"exact": True}),
    ],
    ids=["too few builds", "too noisy for any", "exact"],
)
def test_where_nothing_would_be_called_there_is_none(means: tuple[list[float], list[float]], rules: Any) -> None:
    table = {"name": "a", "command": "x", "instrument": "values", "metric": {"time": rules}}
    (found,) = report({"a": means}, [table]).findings
    assert found.verdict in ("inconclusive", "unchanged")
    assert found.detectable is None


def test_every_format_says_it_and_one_finding_has_one_sentence(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    found: Lines = [{"type": "run", "config": {"gate": {"floor": "0", "detectable": "threshold"}}}]
    for name, sd in (("calm", 0.004), ("noisy", 0.06)):
        found += ones(*normal_sides(rng, 6, sd), benchmark=name)
    (tmp_path / "measurements.jsonl").write_text(text(found))
    report = json.loads(typed("decide", str(tmp_path), "--json", "-")[1])
    noisy = next(f["detectable"] for f in report["findings"] if f["benchmark"] == "noisy")
    for form in ("markdown", "summary", "html"):
        said = typed("report", str(tmp_path), "--format", form)[1].replace("&nbsp;", " ")
        assert f"{noisy * 100:.1f}" in said
    alone = typed("decide", str(tmp_path), "--benchmark", "noisy", "--all")[1]
    assert " ".join(alone.split()).count("this run catches slowdowns above") == 1
