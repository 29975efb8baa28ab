"""The nouns of a designed experiment and of its analysis: their fields are the keys of study.json.

A factor has settings; a treatment is a setting of each factor; a response is a case whose values are explained. All
values are in the base unit of the response (its logarithm where `scale` is "log").
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gate.model.names import Better
from gate.model.records import Commit, Failure

Setting = str | int | float
Scale = Literal["value", "log"]
Varies = Literal["execution", "build", "session"]
Block = Literal["replicate", "build", "session"]
"""Within what executions are compared: an iteration of the design, a round of builds, a session."""
Error = Literal["session", "build", "build x treatment", "execution"]
"""An error stratum: what its terms are tested against (Montgomery, Design and Analysis of Experiments, chapter 14)."""


class Factor(msgspec.Struct, frozen=True, kw_only=True):
    """What is varied, and its settings from low to high; the first is coded -1.

    varies: the lowest unit within which the setting stays the same; its effect can be told from the luck of one such
    unit only where there are several.
    """

    name: str
    settings: list[Setting]
    varies: Varies = "execution"


class Treatment(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of settings, and what was measured of it.

    quantiles: tau -> type 8 quantile of all its values, of those that have enough values for it.
    """

    settings: dict[str, Setting]
    sessions: int
    builds: int
    executions: int
    values: int
    mean: float
    """Of the units of analysis, each counting alike."""
    sd: float | None
    """Of the units of analysis; None with one."""
    quantiles: dict[str, float]


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One row of QR Table 3 or 4: what a term adds at some settings.

    For factors of two settings it is half the change from the first to the second (QR section 5); with more settings it
    is the distance from the mean over the settings. settings: those at which it is added; {}: the intercept.
    """

    term: str
    settings: dict[str, Setting]
    estimate: float
    low: float | None
    high: float | None
    p: float | None


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """A factor or an interaction in the linear model: "load", "load:sched".

    sum_of_squares: what the model loses without it (type III; on balanced data the same as any other type). share: of
    the total sum of squares. stratum: whose error it is tested against, with error_df degrees of freedom; None: there
    is no such error. p_adjusted: in the family of the response where it has one, else by Holm over the terms. aliases:
    terms that the treatments do not tell it from, the lowest order first; its effects are theirs as much as its own.
    partial_aliases: what an effect of 1 of another term that is not in the model adds to this one's.
    """

    term: str
    factors: list[str]
    df: int
    sum_of_squares: float
    share: float | None
    f: float | None
    p: float | None
    p_adjusted: float | None
    effects: list[Effect]
    stratum: Error = "execution"
    error_df: float | None = None
    aliases: list[str] = []
    partial_aliases: dict[str, float] = {}


class Stratum(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the linear model, above what lies within it.

    mean_square: of balanced data, for one unit of analysis. component: the variance of sessions, builds, builds by
    treatment or units; of balanced data by the analysis of variance, 0 where that is negative, else by REML.
    """

    name: Error
    groups: int
    df: float | None
    mean_square: float | None
    component: float | None


class LinearModel(msgspec.Struct, frozen=True, kw_only=True):
    """Least squares with effect coding, as QR Table 3; with errors of several strata as statistics.md 17 has them.

    block: within what executions are compared, fixed columns of so many `blocks`; None: there are none. method: how
    errors are told apart; projections are exact, for balanced data. unexplained: residual share of the total sum of
    squares, 1 - r2. inestimable: terms that the treatments measured do not tell from others, in words; they are not in
    the model.
    """

    observations: int
    intercept: Effect
    terms: list[Term]
    residual_df: int
    residual_ss: float
    residual_sd: float | None
    total_ss: float
    r2: float | None
    unexplained: float | None
    inestimable: list[str]
    block: Block | None = None
    blocks: int = 1
    method: Literal["least squares", "projections", "REML"] = "least squares"
    strata: list[Stratum] = []


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One hypothesis of the family of a response: that a term does nothing to a statistic.

    statistic: "mean", "p50", "p90", "p99" or another quantile, "spread". weight: its share of alpha, 1 being that of a
    factor's effect on the mean. p_adjusted: by Holm's procedure with weights (Holm 1979, section 3) over all claims of
    the response, None before alpha is shared; claimed: p_adjusted is below alpha. by: what it is tested against, an
    error or Lenth's pseudo standard error.
    """

    term: str
    statistic: str
    weight: float
    p: float | None
    p_adjusted: float | None = None
    claimed: bool = False
    by: Literal["error", "lenth"] = "error"


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One contrast of a two-level design: half the change, as an effect elsewhere. aliases: as those of a Term.

    active: beyond the limit for all contrasts at once (SME); possible: beyond that for one of them (ME).
    """

    term: str
    factors: list[str]
    aliases: list[str]
    estimate: float
    active: bool
    possible: bool


class Lenth(msgspec.Struct, frozen=True, kw_only=True):
    """Lenth's analysis of treatments measured once, all with two settings: pseudo standard error and limits.

    contrasts: the largest first. df: of the limits, a third of the number of contrasts.
    """

    contrasts: list[Contrast]
    pse: float
    me: float
    sme: float
    df: float
    confidence: float


class ModelCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A test: its name, its statistic with degrees of freedom, p, and what it says in words. holds: nothing against."""

    name: str
    statistic: float | None
    df: list[float]
    p: float | None
    holds: bool
    words: str


class Residual(msgspec.Struct, frozen=True, kw_only=True):
    """One observation of the linear model. quantile: of the normal distribution at its rank. order: None: not known."""

    fitted: float
    residual: float
    quantile: float
    cook: float | None
    order: int | None


class Diagnostics(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the linear model may be believed. warnings: in plain words, empty where nothing speaks against it."""

    checks: list[ModelCheck]
    residuals: list[Residual]
    """At most 500 of them, those with the largest residuals always among them."""
    largest_cook: float | None
    where: str | None
    """The observation with the largest Cook's distance, in words."""
    warnings: list[str]


class QuantileModel(msgspec.Struct, frozen=True, kw_only=True):
    """Quantile regression at one tau, all interactions up to the order asked for, as QR Table 4.

    effects: the intercept first. iid: the same effects with the intervals of the paper, which take values for
    independent; None: not asked for. iid_errors: their standard errors. enough: whether every treatment has 10 values
    beyond the quantile.
    """

    tau: float
    effects: list[Effect]
    iid: list[Effect] | None
    iid_errors: list[float | None] | None
    df: int | None
    enough: bool


class QuantileEffects(msgspec.Struct, frozen=True, kw_only=True):
    """Quantile regression effects over the distribution, as QR Fig. 7. cluster: within what values may be dependent."""

    cluster: Varies
    clusters: int
    models: list[QuantileModel]
    inestimable: list[str]
    warnings: list[str]


class RankTest(msgspec.Struct, frozen=True, kw_only=True):
    """A Kruskal-Wallis test (QR 4.6): of a factor's settings at some settings of the others, or within one setting.

    p_adjusted: by Holm over the tests of the response; None: not known, or the sum over the other factors.
    """

    factor: str
    setting: Setting | None
    """The treatments that have it are compared; None: the settings of the factor are."""
    at: dict[str, Setting]
    """What is held; {}: the tests at each combination of the other factors, added up."""
    groups: int
    statistic: float | None
    df: int | None
    p: float | None
    p_adjusted: float | None


class MeanInterval(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a treatment's units with its BCa interval (NIST Fig. 1); None: too few units, or all the same."""

    settings: dict[str, Setting]
    units: int
    mean: float
    low: float | None
    high: float | None


class SpreadTest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether settings differ in their variance (QR section 7): ratio second/first and its F test for two settings."""

    factor: str
    at: dict[str, Setting]
    """Settings of the other factors; {}: of the whole, each treatment's own mean taken off."""
    ratio: float | None
    f_p: float | None
    levene_p: float | None


class OneWayRow(msgspec.Struct, frozen=True, kw_only=True):
    """One setting in a one-way table (SCHED appendix). letters: settings that share one do not differ."""

    setting: Setting
    count: int
    mean: float
    sd: float | None
    quantiles: dict[str, float]
    """Of the units: "minimum", "10%", "25%", "median", "75%", "90%", "maximum"."""
    letters: str


class PairwiseDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Difference b - a of two settings' means with its Tukey-Kramer interval and p."""

    a: Setting
    b: Setting
    difference: float
    low: float | None
    high: float | None
    p: float | None


class OneWay(msgspec.Struct, frozen=True, kw_only=True):
    """One factor at fixed settings of the others: quantile table, Tukey-Kramer comparisons and groups."""

    factor: str
    at: dict[str, Setting]
    rows: list[OneWayRow]
    pairs: list[PairwiseDifference]


class PercentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of SCHED's result tables: two settings, their difference, "2.3% faster"."""

    factor: str
    at: dict[str, Setting]
    first: Setting
    second: Setting
    first_mean: float
    second_mean: float
    difference: float
    percent: float | None
    """second/first - 1; None where first is not above 0."""
    low: float | None
    high: float | None
    """Interval of percent."""
    words: str


class MeanPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A mean of treatment means in a main effects or interaction plot (NIST Fig. 12)."""

    settings: dict[str, Setting]
    mean: float
    treatments: int


class MainEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Means by the setting of one factor (one name) or of two (an interaction plot)."""

    factors: list[str]
    points: list[MeanPoint]


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """One box of a block plot: the treatments with these settings of the other factors, as (setting, mean)."""

    at: dict[str, Setting]
    points: list[tuple[Setting, float]]


class Blocks(msgspec.Struct, frozen=True, kw_only=True):
    """A block plot (NIST 4.6.3) for one factor.

    order: its settings from lowest to highest mean where every box has the same order; None: they differ. chance: that
    all boxes have one same order by chance, 1/(k!)^(boxes-1), for two settings NIST's 1/2^(boxes-1); of boxes with all
    settings only. same: how many boxes have the commonest order.
    """

    factor: str
    boxes: list[Box]
    complete: int
    order: list[Setting] | None
    same: int
    chance: float | None


class SampleSize(msgspec.Struct, frozen=True, kw_only=True):
    """One size of the sample-size study (NIST Fig. 10 and 11), by subsamples of one treatment's units.

    widths: lower quartile, median, upper quartile of the widths of the intervals. coverage: share of the intervals that
    hold the mean of all units, its distance corrected for subsamples drawn without replacement
    (gate.stats.design.sample_size).
    """

    size: int
    method: Literal["t", "bca"]
    widths: tuple[float, float, float]
    coverage: float
    subsamples: int


class SampleSizes(msgspec.Struct, frozen=True, kw_only=True):
    """The sample-size study of one treatment. median_effect: median magnitude of main effects, the change not its half.

    enough: the size from which on all median t intervals are narrower than that effect; None: none of these.
    """

    settings: dict[str, Setting]
    units: int
    confidence: float
    rows: list[SampleSize]
    median_effect: float | None
    enough: int | None


class SeriesPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One unit in time. order: position in the run, counted over sessions; treatment: index in the list."""

    order: int
    session: int
    build: int
    treatment: int
    value: float


class Dependence(msgspec.Struct, frozen=True, kw_only=True):
    """Whether values depend on the session or the build they were taken in (NIST Fig. 5), treatments taken out."""

    level: Varies
    units: int
    check: ModelCheck
    share: float | None
    """Of the residual sum of squares that lies between these units, beyond what chance gives."""


class Abridged(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis again without some treatments (NIST A.2 to A.4). treatments: how many stay."""

    name: str
    treatments: int
    balanced: bool
    linear: LinearModel
    mains: list[MainEffect]
    interactions: list[MainEffect]
    blocks: list[Blocks]


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """Everything said about one case. words: which factors matter for what, by how much, and whether it is enough."""

    benchmark: str
    metric: str
    unit: str
    better: Better
    scale: Scale
    factors: list[Factor]
    treatments: list[Treatment]
    lacking: list[dict[str, Setting]]
    """Combinations of settings that were not measured."""
    balanced: bool
    other_scale: str
    """What the linear model would say there, in words; "": there are values without a logarithm, or nothing to test."""
    linear: LinearModel | None
    """None: too few observations or settings; `warnings` says what is lacking."""
    claims: list[Claim]
    """One family: what sentences may say."""
    diagnostics: Diagnostics | None
    quantiles: QuantileEffects | None
    ranks: list[RankTest]
    """Kruskal-Wallis by factor and within a setting."""
    means: list[MeanInterval]
    spreads: list[SpreadTest]
    one_ways: list[OneWay]
    percents: list[PercentRow]
    mains: list[MainEffect]
    interactions: list[MainEffect]
    blocks: list[Blocks]
    sample_sizes: SampleSizes | None
    dependences: list[Dependence]
    series: list[SeriesPoint]
    abridged: list[Abridged]
    questionable: list[dict[str, Setting]]
    """The treatments that an abridged data set is without."""
    histograms: list[dict[str, Setting]]
    """The treatments whose histograms were asked for; none: any."""
    words: list[str]
    warnings: list[str]
    lenth: Lenth | None = None
    """Of two-level designs with one unit a treatment, which have no error of their own."""


class StudyRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run that was analysed."""

    id: str | None
    created: str | None
    seed: int | None
    base: Commit | None
    head: Commit | None
    host: dict[str, Any] | None
    session: int | None


class StudyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis of a designed experiment; nothing in it passes or fails."""

    schema: int
    perfgate: str
    confidence: float
    order: int
    """Interactions of up to so many factors are in the linear model."""
    seed: int
    files: list[str]
    runs: list[StudyRun]
    commands: dict[str, str]
    unfinished: str
    """That the design was not measured to its end, in words; "" where it was or no design is known."""
    responses: list[Response]
    failures: list[Failure]
    warnings: list[str]
