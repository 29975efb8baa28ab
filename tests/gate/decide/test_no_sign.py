"""No sign of a slowdown: when a finding is given up, which size is told, and what is green (docs/method.md)."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.codes import Exit
from gate.model import Finding, reasons
from gate.stats.sequential import spending
from tests.gate.decide.decided import decided, settled
from tests.support.seeds import some

LOOKS = (4, 6, 8, 12)
COMMON = {"layouts": "common"}
Means = dict[str, tuple[list[float], list[float]]]


def lines(means: Means, rounds: int, fixed: bool = False, better: str = "lower", **tables: Any) -> list[dict[str, Any]]:
    plan = {"builds": 12 if fixed else {"min": 4, "max": 12}}
    gate = {"floor": "0", "threshold": "3%", "interval": "paired", **tables.get("gate", {})}
    config = {"plan": plan, **tables, "gate": gate}
    found: list[dict[str, Any]] = [{"type": "run", "seed": 1, "config": config}]
    if not fixed:
        found[0]["looks"] = config["plan"]["builds"].get("max", 56)
    for r in range(rounds):
        for name, sides in means.items():
            for side, values in zip(("base", "head"), sides, strict=True):
                metrics = {"time": {"unit": "s", "better": better, "values": [values[r]]}}
                found.append(
                    {
                        "type": "execution",
                        "benchmark": name,
                        "side": side,
                        "build": r,
                        "execution": 0,
                        "metrics": metrics,
                    }
                )
        found += [] if fixed else [{"type": "look", "look": r + 1, "settled": []}]
    return found


def drawn(seed: int, ratio: float = 1.0, sd: float = 0.01, names: str = "a") -> Means:
    rng = np.random.default_rng(seed)
    return {n: ((1 + rng.normal(0, sd, 12)).tolist(), (ratio * (1 + rng.normal(0, sd, 12))).tolist()) for n in names}


def only(found: list[dict[str, Any]]) -> Finding:
    (finding,) = decided(found).findings
    return finding


# --- when it is given up ----------------------------------------------------------------------------------------------


def power_needs(critical: float, df: int) -> float:
    """The noncentrality at which T exceeds a limit in 80% of the runs."""
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if stats.nct.sf(critical, df, middle) >= 0.8 else (middle, high)
    return high


def asked(
    k: int, looks: tuple[int, ...], sd: float, threshold: float, wanted: float, cases: int = 1
) -> tuple[int, float]:
    """The look by which one case must be seen, one number at a time, and the size that 80% of the runs see by then."""
    for end in range(k + 1, len(looks)):
        if looks[end] < 12 and end + 1 < len(looks):
            continue
        level = spending(looks).nominal(end, 0.05 / cases, paired=True)
        critical = float(stats.t.isf(level / 2, looks[end] - 1))
        size = (1 + threshold) * math.exp(power_needs(critical, looks[end] - 1) * sd / math.sqrt(looks[end])) - 1
        if size <= wanted or end + 1 == len(looks):
            return end, size
    raise AssertionError("no look is left")


def twin(
    base: list[float],
    head: list[float],
    threshold: float,
    cases: int = 1,
    looks: tuple[int, ...] = LOOKS,
    wanted: float = 0.1,
) -> int:
    """The look (from 1) at which one case is given up, one number at a time; 0: it is not."""
    design = spending(looks)
    for k, rounds in enumerate(looks[:-1]):
        d = [math.log(h / b) for b, h in zip(base[:rounds], head[:rounds], strict=True)]
        mean, sd = float(np.mean(d)), float(np.std(d, ddof=1))
        t = (mean - math.log(1 + threshold)) / (sd / math.sqrt(rounds))
        z_now = float(stats.norm.isf(stats.t.sf(t, rounds - 1)))
        if stats.t.sf(t, rounds - 1) * 2 < design.nominal(k, 0.05 / cases, paired=True):
            return 0
        sign = mean > math.log(1 + threshold) and stats.t.sf(mean / (sd / math.sqrt(rounds)), rounds - 1) < 0.025
        # what is no pass is measured on
        end, size = asked(k, looks, sd, threshold, wanted, cases)
        if sign:
            end = len(looks) - 1
            level = design.nominal(end, 0.05 / cases, paired=True)
            critical = float(stats.t.isf(level / 2, looks[end] - 1))
            size = (1 + threshold) * math.exp(power_needs(critical, looks[end] - 1) * sd / math.sqrt(looks[end])) - 1
        if wanted < size <= 1.5 * wanted:
            # its noise may yet turn out to be small enough
            continue
        time = rounds / looks[end]
        z = float(stats.norm.isf(design.nominal(end, 0.05 / cases, paired=True) / 2))
        theta = z + float(stats.norm.ppf(0.8))
        chance = stats.norm.sf((z - z_now * math.sqrt(time) - theta * (1 - time)) / math.sqrt(1 - time))
        if chance < 0.15:
            return k + 1
    return 0


@pytest.mark.parametrize("seed", some(range(25), 8, pytest.mark.nightly))
def test_it_is_given_up_where_the_formula_says(seed: int) -> None:
    ratio = float(np.random.default_rng([seed, 7]).choice([0.97, 1.0, 1.02, 1.04, 1.08]))
    means = drawn(seed, ratio, sd=0.03)
    found = only(lines(means, 12))
    expected = twin(*means["a"], threshold=0.03)
    given_up = found.stopped == "futility" or (found.stopped == "settled" and found.verdict in ("no-sign", "unchanged"))
    if found.verdict in ("regression", "improvement"):
        assert expected == 0 or found.verdict == "improvement"
    else:
        assert given_up == (expected > 0)
        assert not given_up or found.decided_at.look <= expected
        assert found.stopped != "futility" or found.decided_at.look == expected


LONG = (4, 6, 8, 12, 18, 28, 56)


@pytest.mark.parametrize("seed", some(range(24), 8, pytest.mark.nightly))
def test_a_long_plan_asks_the_first_look_that_sees_enough(seed: int) -> None:
    sd = (0.005, 0.02, 0.05, 0.12)[seed % 4]
    ratio = float(np.random.default_rng([seed, 8]).choice([0.98, 1.0, 1.02, 1.04]))
    rng = np.random.default_rng(seed)
    means = {"a": ((1 + rng.normal(0, sd, 56)).tolist(), (ratio * (1 + rng.normal(0, sd, 56))).tolist())}
    found = only(lines(means, 56, plan={"builds": {"min": 4}}, gate={"threshold": "3%", "detectable": "8%"}))
    expected = twin(*means["a"], threshold=0.03, looks=LONG, wanted=0.08)
    assert found.decided_at.looks == len(LONG)
    if found.verdict in ("regression", "improvement"):
        assert expected == 0 or found.verdict == "improvement"
    if found.stopped != "futility":
        return
    assert found.decided_at.look == expected
    rounds = LONG[expected - 1]
    base, head = (np.array(side[:rounds]) for side in means["a"])
    _, size = asked(expected - 1, LONG, float(np.std(np.log(head / base), ddof=1)), 0.03, 0.08)
    assert found.detectable == pytest.approx(size, rel=1e-4)
    # green as soon as no sign is enough, and too noisy where the last look sees too little
    if isinstance(found.reason, reasons.TooNoisy):
        assert (found.verdict, size > 0.08) == ("inconclusive", True)
    else:
        # what was worse at the last but one look, and can hardly be called any more, is no pass
        assert (found.verdict == "no-sign" and size <= 0.08) or expected == len(LONG) - 1


def test_a_long_plan_ends_as_early_as_a_short_one_where_nothing_changed() -> None:
    for seed in range(12):
        means = drawn(seed, sd=0.004, names="abcde")
        assert settled(
            lines(means, 4, plan={"builds": {"min": 4}}, gate={"threshold": "2%", "detectable": "4%"})
        ) == set("abcde")


def test_between_rounds_it_is_named_as_needing_no_more() -> None:
    means = drawn(3, sd=0.03, names="ab") | drawn(4, 1.3, sd=0.03, names="c")
    done = settled(lines(means, 4))
    final = {f.benchmark: f.decided_at.look for f in decided(lines(means, 12)).findings}
    assert done == {name for name, at in final.items() if at == 1}
    assert settled(lines(means, 4, gate={"detectable": "threshold"})) < done


def test_false_alarms_are_as_without_giving_up() -> None:
    for seed in range(15):
        means = drawn(seed, sd=0.02, names="abcd") | drawn(seed + 100, 1.06, sd=0.02, names="e")
        slower = {f.benchmark for f in decided(lines(means, 12)).findings if f.verdict == "regression"}
        usual = decided(lines(means, 12, gate={"detectable": "threshold"})).findings
        assert slower <= {f.benchmark for f in usual if f.verdict == "regression"}


def test_nothing_is_given_up_before_three_builds() -> None:
    means = drawn(5, 0.9, sd=0.01)
    found = lines(means, 2, plan={"builds": {"min": 2, "max": 12}})
    assert only(found).stopped != "futility"
    assert isinstance(
        only(found).reason, (reasons.TooWide, reasons.FewBuilds, reasons.NotWorse, reasons.BetterUncorrected)
    )


# --- what is told -----------------------------------------------------------------------------------------------------


def test_the_size_is_that_of_the_last_planned_look() -> None:
    means = drawn(9, sd=0.03)
    found = only(lines(means, 12, gate={"detectable": "50%"}))
    assert (found.verdict, found.stopped) == ("no-sign", "futility")
    base, head = (np.array(side[: LOOKS[found.decided_at.look - 1]]) for side in means["a"])
    sd = float(np.std(np.log(head / base), ddof=1))
    level = spending(LOOKS).nominal(3, 0.05, paired=True)
    critical = float(stats.t.ppf(1 - level / 2, 11))
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if stats.nct.sf(critical, 11, middle) >= 0.8 else (middle, high)
    assert found.detectable == pytest.approx(1.03 * math.exp(high * sd / math.sqrt(12)) - 1, rel=1e-4)
    reason = found.reason
    assert isinstance(reason, reasons.NoSign)
    assert (reason.detectable, reason.confidence) == (found.detectable, 0.95)
    # the plain interval, at the look that gave it up
    half = float(stats.t.ppf(0.975, len(base) - 1)) * sd / math.sqrt(len(base))
    assert reason.limit == found.ratio.high == pytest.approx(math.exp(float(np.log(head / base).mean()) + half))


def test_in_80_of_100_such_runs_a_change_of_that_size_is_found() -> None:
    sizes = [
        f.detectable for seed in range(30) for f in decided(lines(drawn(seed, sd=0.03), 12)).findings if f.detectable
    ]
    size = float(np.median(sizes))
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
    inverse = {name: ([1 / v for v in base], [1 / v for v in head]) for name, (base, head) in means.items()}
    time, rate = (
        only(lines(means, 12, gate={"detectable": "50%"})),
        only(lines(inverse, 12, better="higher", gate={"detectable": "50%"})),
    )
    assert rate.verdict == time.verdict == "no-sign"
    assert rate.detectable == pytest.approx(time.detectable)
    assert isinstance(time.reason, reasons.NoSign) and isinstance(rate.reason, reasons.NoSign)
    assert rate.reason.limit == pytest.approx(1 / time.reason.limit)


def test_a_change_that_is_real_is_said_to_be() -> None:
    found = only(lines(drawn(2, 1.015, sd=0.005), 12, fixed=True))
    assert found.verdict == "unchanged"
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


def test_worse_by_itself_is_a_sign() -> None:
    # beyond the threshold at 95%, and not after correction for many
    means = drawn(1, sd=0.02, names="bcdefghij") | drawn(40, 1.043, sd=0.02, names="a")
    found = {f.benchmark: f for f in decided(lines(means, 12, fixed=True, gate={"detectable": "50%"})).findings}
    assert found["a"].p is not None and 0.005 < found["a"].p < 0.05
    assert isinstance(found["a"].reason, reasons.Uncorrected)


def test_a_report_without_a_sign_passes() -> None:
    result = decided(lines(drawn(2, 1.02, sd=0.015), 12, fixed=True))
    assert (result.verdict, result.exit_code) == ("pass", Exit.PASS)
    # where inconclusive fails, a change must be shown not to be worse unless the rules say otherwise
    strict = {"inconclusive": "fail"}
    result = decided(lines(drawn(2, 1.02, sd=0.015), 12, fixed=True, gate=strict))
    assert (result.verdict, result.exit_code) == ("inconclusive", Exit.INCONCLUSIVE)
    result = decided(lines(drawn(2, 1.02, sd=0.015), 12, fixed=True, gate={**strict, "detectable": "10%"}))
    assert (result.verdict, result.exit_code) == ("pass", Exit.PASS)


def test_an_override_asks_for_more_of_some() -> None:
    means = drawn(2, 1.02, sd=0.015, names="ab")
    more = [{"benchmark": "b", "detectable": "threshold"}]
    found = {f.benchmark: f.verdict for f in decided(lines(means, 12, fixed=True, override=more)).findings}
    assert found == {"a": "no-sign", "b": "inconclusive"}
    finer = [{"benchmark": "b", "detectable": "3.1%"}]
    found = {f.benchmark: f.verdict for f in decided(lines(means, 12, fixed=True, override=finer)).findings}
    assert found == {"a": "no-sign", "b": "inconclusive"}


# --- variance that cases share ----------------------------------------------------------------------------------------


def test_five_cases_share_their_variance_and_then_need_four_builds() -> None:
    means = drawn(1, sd=0.01, names="bcdef") | drawn(9, 1.3, sd=0.01, names="a")
    four = {f.benchmark: f for f in decided(lines(means, 4, gate={"interval": "auto"}, build=COMMON)).findings}
    assert {f.ratio.method for f in four.values()} == {"paired-shared"}
    assert four["a"].verdict == "regression"
    few = decided(lines(dict(list(means.items())[-4:]), 4, gate={"interval": "auto"}, build=COMMON)).findings
    assert {f.ratio.method for f in few} == {"paired"}
    assert all(f.verdict != "regression" for f in few)


def test_independent_layouts_share_nothing() -> None:
    means = drawn(1, sd=0.01, names="abcdef")
    found = decided(lines(means, 12, gate={"interval": "auto"}, build={"layouts": "independent"})).findings
    assert {f.ratio.method for f in found} == {"paired"}


def test_what_both_sides_of_a_round_have_in_common_is_told() -> None:
    rng = np.random.default_rng(2)
    layout = rng.normal(0, 0.1, 12)
    base, head = ((1 + layout + rng.normal(0, 0.01, 12)).tolist() for _ in range(2))
    found = only(lines({"a": (base, head)}, 12, fixed=True))
    assert found.pairing is not None and found.pairing.gains
    logs = [np.log(side) for side in (base, head)]
    assert found.pairing.correlation == pytest.approx(float(np.corrcoef(*logs)[0, 1]))
    assert found.pairing.together == pytest.approx(float(np.std(logs[1] - logs[0], ddof=1)))
    assert found.pairing.apart == pytest.approx(math.sqrt(sum(float(np.var(side, ddof=1)) for side in logs)))
