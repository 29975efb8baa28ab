"""Reports to render: one builder a situation, with the numbers of nobody's measurements."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from gate.decide.causes import summary as decide_summary
from gate.explain.explain import MetricRatio, explain
from gate.model import (
    REPORT_SCHEMA,
    SIDES,
    Accepted,
    Better,
    Build,
    Commit,
    DecidedAt,
    Evidence,
    Failure,
    Family,
    Finding,
    HostState,
    Identical,
    IntervalKind,
    Level,
    LevelCounts,
    LookFacts,
    MemoryFacts,
    MemoryUse,
    Overall,
    PolicyFacts,
    Proof,
    QuantileCurve,
    QuantileEffect,
    RatioInterval,
    Recorded,
    Report,
    ReportVerdict,
    RoundsDone,
    RunFacts,
    Side,
    SideSummary,
    Unproved,
    Variance,
    Variances,
    Verdict,
    outcomes,
    reasons,
)  # fmt: skip
from gate.model.history import CreepCase, CreepFacts, CreepVerdict, Pin
from gate.model.profile import Frame, Profile, Stack, Unprofiled
from gate.model.report import SessionRatio, View
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import DependsOnMachine, Drift, EarlyStop

COUNTS = LevelCounts(session=1, build=5, execution=25, iteration=250)
ONE_BUILD = LevelCounts(session=1, build=1, execution=5, iteration=50)

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b \\| c",
    "back`tick ``two`` `",
    "@team please see #12 and GH-3",
    "x]( javascript:alert(1) ) [y](https://evil.example)",
    "n" * 500,
    "\u202eevil\u202c \u05d0\u05d1\u05d2 right to left",
    "two\nlines\r\n| x | y |",
    "\x1b[31mred\x1b[0m\x07\x00",
    "日本語のベンチマーク",
    "<!-- perfgate -->&amp;",
    "https://evil.example/path www.evil.example a@evil.example",
    "- item **bold** _em_ ~~gone~~ $x$",
]


def side(value: float, spread: float | None = 0.005, counts: LevelCounts = COUNTS) -> SideSummary:
    low, high = (None, None) if spread is None else (value * (1 - spread), value * (1 + spread))
    return SideSummary(value=value, low=low, high=high, counts=counts)


def interval(
    estimate: float | None, half: float | None = 0.02, kind: IntervalKind = "bounded", method: str = "fieller"
) -> RatioInterval:
    ends = (None, None) if estimate is None or half is None or kind != "bounded" else (estimate - half, estimate + half)
    df = 8.3 if method == "fieller" and kind != "withheld" else None
    return RatioInterval(estimate=estimate, low=ends[0], high=ends[1], confidence=0.95, method=method, df=df, kind=kind)


def at(confidence: float, low: float | None, high: float | None, look: int = 1, looks: int = 1) -> DecidedAt:
    return DecidedAt(confidence=confidence, low=low, high=high, look=look, looks=looks)


NOWHERE = at(0.95, None, None)


def variance(level: Level, s2: float, t2: float | None, relative: float | None) -> Variance:
    return Variance(level=level, s2=s2, t2=t2, relative=relative)


def variances() -> Variances:
    def of(mean: float) -> list[Variance]:
        return [
            variance("iteration", 4.0e-6, 4.0e-6, 2e-3 / mean),
            variance("execution", 1.1e-6, 7.0e-7, 1.05e-3 / mean),
            variance("build", 2.0e-7, -2.0e-8, 4.5e-4 / mean),
        ]

    return Variances(base=of(0.1015), head=of(0.1067))


REST: dict[str, Any] = {
    "metric": "time", "unit": "s", "better": "lower", "statistic": "mean", "factors": {}, "sessions": [],
    "threshold": 0.03, "floor": 1e-6, "p": 0.62, "p_adjusted": 1.0, "p_improvement": 0.7, "p_improvement_adjusted": 1.0,
    "accepted": None, "reason": reasons.Within(threshold=0.03), "warnings": [], "more_builds": None, "stopped": None,
    "detectable": None, "identical": None, "memory": None,
}  # fmt: skip


def finding(benchmark: str = "parse-large", verdict: Verdict = "unchanged", **changes: Any) -> Finding:
    """A finding; estimate and half set the ratio, every other keyword replaces a field."""
    estimate, half, value = (changes.pop(n, d) for n, d in (("estimate", 1.002), ("half", 0.011), ("value", 0.1015)))
    ends = (None, None) if estimate is None or half is None else (estimate - 1.7 * half, estimate + 1.7 * half)
    fields = REST | {
        "base": side(value), "head": side(value * (1.0 if estimate is None else estimate)),
        "ratio": interval(estimate, half), "decided_at": at(0.9958, *ends),
        "not_worse": verdict in ("unchanged", "improvement"), "variance": variances(), **changes,
    }  # fmt: skip
    without = fields["ratio"].kind == "withheld" or fields["ratio"].method == "exact"
    rests_on = "decided_at" if verdict in ("regression", "improvement", "accepted") else "ratio"
    return Finding(benchmark=benchmark, verdict=verdict, **({"shown": None if without else rests_on} | fields))


EXCEEDS = reasons.Exceeds(threshold=0.03, confidence=0.9958, comparisons=12, outgrown=None)
ONE_UNIT = reasons.OneUnit(unit="build", sides=["base", "head"])


def wide(
    exceeds: Literal["above", "below", "both"] = "above", *, beyond: bool = False, hopeless: bool = False
) -> reasons.TooWide:
    estimate: Literal["within", "beyond"] = "beyond" if beyond else "within"
    return reasons.TooWide(threshold=0.03, exceeds=exceeds, estimate=estimate, unit="build", hopeless=hopeless)


def told(text: str) -> reasons.Reason:
    """A reason with a text from elsewhere."""
    return reasons.AcceptedByLabel(label=text, outgrown=None)


def regressed(benchmark: str = "parse-large", **changes: Any) -> Finding:
    slower = {"estimate": 1.083, "half": 0.02, "p": 0.00002, "p_adjusted": 0.0012, "reason": EXCEEDS}
    return finding(benchmark, "regression", **(slower | changes))


def improved(benchmark: str = "render", **changes: Any) -> Finding:
    faster = {"estimate": 0.872, "half": 0.015, "p": 1.0, "p_adjusted": 1.0, "reason": EXCEEDS}
    faster |= {"p_improvement": 0.00001, "p_improvement_adjusted": 0.0001}
    return finding(benchmark, "improvement", **(faster | changes))


def withheld(benchmark: str = "startup", **changes: Any) -> Finding:
    fields: dict[str, Any] = dict.fromkeys(("p", "p_adjusted", "p_improvement", "p_improvement_adjusted")) | {
        "base": side(0.0123, None, ONE_BUILD),
        "head": side(0.0129, None, ONE_BUILD),
        "ratio": interval(1.0488, None, "withheld"),
        "decided_at": NOWHERE,
        "reason": ONE_UNIT,
        "variance": Variances(
            base=[variance("iteration", 1e-8, 1e-8, 0.008)], head=[variance("iteration", 1.2e-8, None, None)]
        ),
    }
    return finding(benchmark, "inconclusive", **(fields | changes))


def unbounded(benchmark: str = "noisy", kind: IntervalKind = "line", **changes: Any) -> Finding:
    fields = {"ratio": interval(1.2, None, kind), "decided_at": NOWHERE, "reason": reasons.UNBOUNDED, "estimate": 1.2}
    return finding(benchmark, "inconclusive", **(fields | changes))


def accepted(benchmark: str = "encode", **changes: Any) -> Finding:
    entry: dict[str, Any] = {"up_to": 0.08, "until": "2026-12-31", "reason": "new checksum, see #123"}
    fields = {"accepted": Accepted(**entry), "reason": reasons.AcceptedByEntry(**entry)}
    return finding(benchmark, "accepted", **({"estimate": 1.061, "half": 0.012} | fields | changes))


def recorded(benchmark: str = "parse-large", metric: str = "memory", **changes: Any) -> Recorded:
    fields: dict[str, Any] = {
        "unit": "B", "better": "lower", "factors": {}, "base": side(12_582_912.0, 0.001),
        "head": side(12_713_984.0, 0.001), "ratio": interval(1.0104, 0.0008), "warnings": [],
    }  # fmt: skip
    return Recorded(benchmark=benchmark, metric=metric, **(fields | changes))


def overall(
    ratio: RatioInterval, cases: int, *, group: str = "all", metric: str = "time", dropped: list[str]
) -> Overall:
    return Overall(group=group, metric=metric, ratio=ratio, cases=cases, units=5, level="build", dropped=dropped)


def build_failure(**changes: Any) -> Failure:
    fields: dict[str, Any] = {
        "side": "head",
        "build": 0,
        "status": "exit 2",
        "stderr": "cc -O2 -c src/main.c\n\x1b[1msrc/main.c:12:3: \x1b[31merror:\x1b[0m unknown type name 'size'\n"
        "   12 |   size n;\n      |   ^~~~\nmake: *** [Makefile:7: main.o] Error 1\n",
        "command": "make clean all",
        "directory": "/tmp/perfgate-x1/head",
        "environment": {"GITHUB_SHA": "", "NPM_TOKEN": "", "LC_ALL": "C", "PERFGATE_SEED": "1234"},
        "hint": "src/generated.h is not tracked by git: the checkout has only files that git tracks; "
        "make it in [build] setup or name it in [build] share",
    }
    return Failure(kind="build", **(fields | changes))


def run_facts(**changes: Any) -> RunFacts:
    fields: dict[str, Any] = {
        "id": "20261120-090000-7",
        "created": "2026-11-20T09:00:00Z",
        "perfgate": "0.1.0",
        "seed": 7,
        "base": Commit(ref="main", sha="1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"),
        "chosen": "base is the merge base of HEAD and main; head is the working tree as it is",
        "head": Commit(ref="HEAD", sha="9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", dirty=True),
        "host": {
            "system": "Linux 6.1", "machine": "x86_64", "cpu": "Example CPU @ 2.10GHz", "cores": 2,
            "governor": None, "load": [0.31, 0.28], "memory": {"total": "7.8 GiB", "swap": False},
        },
        "rounds": RoundsDone(done=5, planned=5),
        "looks": None,
        "memory": None,
        "seconds": 203.4,
        "commands": {"parse-large": "./build/app parse data/large.json", "render": "./build/app render < 'a b'"},
        "settings": {
            "plan": {"builds": 5, "executions": 5, "iterations": 10, "budget": "15m", "metrics": ["time"]},
            "build": {"command": "make clean all", "artifacts": ["build/app"], "timeout": "10m"},
            "env": {"pass": ["LD_LIBRARY_PATH"], "set": {"LC_ALL": "C"}},
        },
        "builds": [
            Build(
                side=side, build=k, seed=1000 + k, seconds=12.5,
                artifacts={"build/app": f"sha256:{side[0]}{k}" + 31 * "9a"},
            )
            for k in range(5) for side in SIDES
        ],
        "states": [
            HostState(when="begin", time="2026-11-20T09:00:00Z", state={"load": [0.31, 0.28, 0.2], "boot_id": "b1"}),
            HostState(when="end", time="2026-11-20T09:03:24Z", state={"load": [1.02, 0.6, 0.3], "boot_id": "b1"}),
        ],
    }  # fmt: skip
    return RunFacts(**(fields | changes))


def policy(**changes: Any) -> PolicyFacts:
    fields: dict[str, Any] = {
        "source": "base (perfgate.toml of main)",
        "gate": {
            "threshold": "3%", "floor": "1us", "confidence": 0.95, "interval": "auto", "family": "holm",
            "inconclusive": "pass", "missing": "fail", "min_builds": 5,
        },
        "override": [
            {"benchmark": "suite/parse-*", "metric": "*", "statistic": "*", "threshold": "10%", "floor": None}
        ],
        "accept": [
            {"benchmark": "encode", "up_to": "8%", "until": "2026-12-31", "reason": "new checksum, see #123"}
        ],
    }  # fmt: skip
    return PolicyFacts(**(fields | changes))


def report(verdict: ReportVerdict, findings: list[Finding], **changes: Any) -> Report:
    fields: dict[str, Any] = {
        "schema": REPORT_SCHEMA,
        "summary": summary(verdict, findings, changes.get("failures", []), changes.get("identical", [])),
        "stopped": None,
        "exit_code": {"pass": 0, "regression": 1, "inconclusive": 0, "error": 4}[verdict],
        "run": run_facts(),
        "policy": policy(),
        "family": Family(method="holm", size=len(findings)),
        **{name: [] for name in ("identical", "recorded", "failures", "overall", "curves", "new", "warnings")},
    }
    return Report(verdict=verdict, findings=findings, **(fields | changes))


def summary(
    verdict: ReportVerdict, findings: list[Finding], failures: list[Failure], identical: list[Identical]
) -> outcomes.Summary:
    """What decide says of such findings."""
    evidence = Evidence(
        run=None, cases=[], failures=failures, new=[], rounds=RoundsDone(done=5, planned=5), looks=[], seconds=None, slowest_round=None,
        builds=[], states=[], warnings=[],
    )  # fmt: skip
    return decide_summary(verdict, findings, evidence, identical)


def regression() -> Report:
    findings = [
        finding("lex"),
        finding("tokenize", estimate=0.994),
        improved(),
        regressed(),
        withheld(),
        finding(
            "scan", "inconclusive", estimate=1.021, half=0.029,
            reason=wide(),
            warnings=[Drift(0.031, "s")],
        ),
        finding(
            "walk", "inconclusive", estimate=0.98, half=0.03, not_worse=True,
            reason=reasons.NotWorse(threshold=0.03, floor=None, unit="s"),
            warnings=[Drift(0.031, "s")],
        ),
        accepted(),
    ]  # fmt: skip
    return report(
        "regression",
        findings,
        recorded=[
            recorded(),
            recorded(metric="user", unit="s", base=side(0.0912), head=side(0.0981), ratio=interval(1.0757)),
        ],
        overall=[overall(interval(1.004, 0.006), 7, dropped=["startup"])],
        new=["decode"],
        warnings=[
            Said("head changes the rules (gate.threshold); the rules of base apply", "rules-changed", "first"),
            Said(
                "all 5 builds of base are one program: layout was not varied (several object files, "
                "-ffunction-sections with lld, or {seed} let layouts differ)",
                "identical-builds",
                "first",
            ),
        ],
    )


def proof(**changes: Any) -> Proof:
    hashes: dict[Side, str] = {"base": "sha256:" + "1a" * 32, "head": "sha256:" + "9f" * 32}
    made = Proof(differ=["README.md", "docs/index.md", "src/parse.c"], differ_count=3, read_count=120, hash=hashes)
    return replace(made, **changes)


def identical(benchmark: str, **changes: Any) -> Identical:
    """A benchmark that was not measured; every keyword replaces a field of the finding."""
    own = changes.get("identical", proof())
    fields: dict[str, Any] = {
        "benchmark": benchmark, "metric": "time", "unit": "s", "better": "lower", "statistic": "mean",
        "threshold": 0.03, "floor": 1e-6, "identical": own,
        "reason": reasons.SameProgram(differ=own.differ_count, read=own.read_count),
    }  # fmt: skip
    return Identical(**(fields | changes))


def some_identical() -> Report:
    """Two benchmarks of a monorepo are measured, of which one regressed."""
    why = {
        "parse-large": Unproved(kind="changed", path="src/parse.c"),
        "lex": Unproved(kind="connection", path="10.0.0.7:5432"),
    }
    states = [HostState(when="begin"), HostState(when="end", unproved=why)]
    proved = [identical(name) for name in ("encode", "decode", "render", "scan | walk")]
    return report("regression", [finding("lex"), regressed()], identical=proved, run=run_facts(states=states))


def all_identical() -> Report:
    facts = run_facts(rounds=RoundsDone(done=0, planned=None), seconds=8.1)
    proved = [identical(f"suite/case-{n}", identical=proof(differ=["README.md"], differ_count=1)) for n in range(14)]
    return report("pass", [], identical=proved, run=facts)


def passing() -> Report:
    return report("pass", [finding("lex"), finding("parse"), improved()])


def inconclusive() -> Report:
    findings = [withheld(), unbounded(), unbounded("half", "half-line"), unbounded("gap", "complement")]
    unknown = dict.fromkeys(("seconds", "base", "head", "host", "commands", "chosen"))
    return report("inconclusive", findings, run=run_facts(rounds=RoundsDone(done=1, planned=None), **unknown))


def no_sign(benchmark: str = "scan", detectable: float = 0.041, **changes: Any) -> Finding:
    """No slowdown in sight, given up at the second look of four."""
    fields: dict[str, Any] = {
        "ratio": interval(1.004, 0.027, method="paired-shared"), "decided_at": at(0.9999, 0.94, 1.06, 2, 4),
        "shown": "ratio", "detectable": detectable, "stopped": "futility",
        "reason": reasons.NoSign(
            detectable=detectable, limit=1.032, real=False, confidence=0.95, unit="s", better="lower"
        ),
    }  # fmt: skip
    return finding(benchmark, "no-sign", **(fields | changes))


def quiet() -> Report:
    """Nothing in sight, and one case too noisy to say so."""
    noisy = reasons.TooNoisy(detectable=0.42, wanted=0.1, unit="s", better="lower", hopeless=False)
    found = [
        no_sign(),
        no_sign("walk", 0.062),
        finding(),
        finding(
            "wild", "inconclusive", ratio=interval(1.02, 0.2, method="paired"), reason=noisy, detectable=0.42,
            more_builds=31, stopped="futility",
        ),
    ]  # fmt: skip
    return report("inconclusive", found)


def in_sight_of_nothing() -> Report:
    """Nothing in sight anywhere."""
    found = [no_sign(), no_sign("walk", 0.062), finding()]
    nothing = outcomes.NothingRegressed(findings=3, no_sign=2, detectable=0.062)
    return report("pass", found, summary=nothing)


def only_failures() -> Report:
    executions = [
        Failure(
            kind="execution", benchmark="parse-large", side="head", build=b, execution=e, status="signal SIGSEGV",
            stderr="", command="./build/app parse data/large.json",
        )
        for b in range(2)
        for e in range(5)
    ]  # fmt: skip
    missing = Failure(kind="missing", benchmark="render", side="head")
    failures = [build_failure(), *executions, missing]
    return report("error", [], failures=failures)


def nothing() -> Report:
    unknown = ("id", "created", "perfgate", "seed", "base", "head", "chosen", "host", "commands", "seconds")
    facts = run_facts(rounds=RoundsDone(done=0, planned=None), **dict.fromkeys(unknown))
    return report("error", [], run=facts, policy=policy(override=[], accept=[]))


def hostile(names: Sequence[str] = HOSTILE) -> Report:
    findings = [
        regressed(
            name, metric=name, unit=name, factors={name: name}, warnings=[Said(f"mind {name}")],
            reason=replace(EXCEEDS, outgrown=Accepted(up_to=0.01, until=name, reason=name)),
        )
        for name in names
    ]  # fmt: skip
    failures = [
        Failure(
            kind="execution", benchmark=name, side="head", build=0, execution=0, status=name,
            stderr=f"{name}\n```\n</pre>", command=name, directory=name, environment={name: name}, hint=name,
        )
        for name in names
    ]  # fmt: skip
    first, third, fourth = names[0], names[3 % len(names)], names[4 % len(names)]
    same = {name: name for name in names}
    proofs = proof(differ=[*names], differ_count=len(names), hash={"base": first, "head": third})
    why = {name: Unproved(kind="changed", path=name) for name in names[::-1]}
    facts = run_facts(
        states=[HostState(when="end", unproved=why)], base=Commit(ref=first, sha=fourth), host=same, commands=same,
        chosen=" ".join(names), id=first, created=names[1 % len(names)], perfgate=third,
    )  # fmt: skip
    return report(
        "regression",
        findings,
        failures=failures,
        identical=[identical(f"same {name}", metric=name, identical=proofs) for name in names],
        run=facts,
        recorded=[recorded(name, metric=name) for name in names],
        overall=[overall(interval(1.0), 1, group=name, metric=name, dropped=[name]) for name in names],
        new=[*names],
        warnings=list(map(Said, names)),
        policy=policy(source=first, gate=same, override=[same]),
    )


def many(count: int = 300) -> Report:
    kinds = [regressed, improved, withheld, accepted]
    findings = [
        finding(f"suite/case-{i:03}")
        if i % 10
        else kinds[i // 10 % 4](f"suite/case-{i:03}", estimate=1.05 + i / 10_000)
        for i in range(count)
    ]
    return report("regression", findings)


def metrics() -> Report:
    """Several units and directions, exact counts, quantiles, factors and unequal designs."""
    rate: dict[str, Any] = {"metric": "throughput", "unit": "1/s", "better": "higher", "value": 81_234.0, "floor": None}
    exact = interval(1.021, 0.0, method="exact")
    few = LevelCounts(session=1, build=4, execution=19, iteration=380)
    better: Better = "higher"
    findings = [
        regressed("load", **rate, estimate=0.91),
        improved("serve", **rate, estimate=1.12),
        finding("load", metric="latency", statistic="p99", value=0.0123, base=side(0.0123, counts=few)),
        finding("load", metric="memory", unit="B", value=123_456_789.0, floor=None),
        regressed(
            "encode", metric="instructions", unit="count", floor=None, factors={"size": 10, "kind": "a"},
            base=side(1e6, 0.0), head=side(1.021e6, 0.0), ratio=exact, threshold=0.01, reason=reasons.ExactExceeds(threshold=0.01, outgrown=None),
        ),
        finding(
            "encode", "inconclusive", metric="misses", unit="", factors={"size": 20, "kind": "a"}, floor=None,
            base=side(0.0, None), head=side(3.0, None), ratio=interval(None, None, "withheld"),
            reason=reasons.ZeroBase(floor=None, unit=""),
        ),
        finding("serve", metric="score", unit="", better=better, value=0.9312),
    ]  # fmt: skip
    return report("regression", findings)


def early() -> Report:
    """Stopped at the second look, with remembered variance, and a tail that is decided beside the mean."""
    at_look = at(0.9994, 1.034, 1.081, 2, 4)
    memory = MemoryUse(
        kind="moderated", used=True, df=14.2, sessions=3, first="2026-09-01", last="2026-11-02", remembered=0.0123, present=0.0098,
        without=interval(1.057, 0.031, method="fieller-paired"),
    )  # fmt: skip
    unused = replace(memory, kind="noisier", used=False, present=0.061)
    tail = finding(
        "request", "inconclusive", metric="latency", statistic="p99", value=0.0123, estimate=1.021, half=0.06,
        decided_at=at(0.9994, 0.91, 1.14, 4, 4), memory=unused,
        reason=wide("both"),
        warnings=[Said("noisier than calibrated: the remembered variance is not used")],
    )  # fmt: skip
    mean = finding("request", metric="latency", value=0.0041, decided_at=at_look)
    slow = regressed(
        metric="latency", ratio=interval(1.057, 0.016, method="fieller-moderated"), decided_at=at_look,
        warnings=[EarlyStop(6, 12)], memory=memory,
    )  # fmt: skip
    effects = [
        QuantileEffect(tau=0.5, ratio=1.002, low=0.991, high=1.014),
        QuantileEffect(tau=0.99, ratio=1.021, low=None, high=None),
    ]
    return report(
        "regression",
        [slow, mean, tail],
        run=run_facts(
            rounds=RoundsDone(done=12, planned=12),
            looks=LookFacts(rounds=[4, 6, 8, 12], used=4),
            memory=MemoryFacts(findings=1, sessions=3, first="2026-09-01", last="2026-11-02", factor=1.2),
        ),
        overall=[overall(interval(1.021, 0.009), 2, metric="latency", dropped=[])],
        curves=[QuantileCurve(benchmark="request", metric="latency", factors={}, effects=effects)],
    )


def only_inconclusive() -> Report:
    """Nothing is clear: too few builds, too wide an interval, and one that only the number of findings holds back."""
    few = LevelCounts(session=1, build=3, execution=15, iteration=150)
    counts = {"base": side(0.1015, counts=few), "head": side(0.1063, counts=few)}
    findings = [
        finding("parse", "inconclusive", estimate=1.041, half=0.022, reason=wide(beyond=True), more_builds=4, detectable=0.061, **counts),
        finding("scan", "inconclusive", estimate=1.012, half=0.024, reason=wide(), more_builds=1, detectable=0.064, **counts),
        finding("spread", "inconclusive", estimate=0.99, half=0.31, reason=wide("both", hopeless=True), detectable=1.2, **counts),
        finding(
            "clear", "inconclusive", estimate=1.21, half=0.02, more_builds=2, **counts,
            reason=reasons.FewBuilds(needs=5, has=3),
        ),
        finding(
            "among", "inconclusive", estimate=1.051, half=0.018, more_builds=3, detectable=0.055, **counts,
            reason=reasons.Uncorrected(threshold=0.03, confidence=0.9875, comparisons=6),
        ),
        finding("wild", "inconclusive", estimate=1.4, half=1.9, reason=wide("both", beyond=True), more_builds=97, **counts),
    ]  # fmt: skip
    plan = {"builds": 12, "executions": 5, "iterations": 10, "budget": "5m", "metrics": ["time"]}
    facts = run_facts(rounds=RoundsDone(done=3, planned=3), settings={"plan": plan})
    return report("inconclusive", findings, run=facts)


def one_build() -> Report:
    facts = run_facts(rounds=RoundsDone(done=1, planned=1))
    return report("inconclusive", [withheld()], run=facts)


def quantiles() -> Report:
    """Statistics of one metric, of one case and of several, one decided at an early look."""
    tail: dict[str, Any] = {"metric": "latency", "statistic": "p99", "value": 0.0123}
    mean: dict[str, Any] = {"metric": "latency", "value": 0.0041}

    decided_at = at(0.9996, 1.11, 1.28, 1, 3)
    findings = [
        regressed(
            "GET /items", **tail, ratio=interval(1.192, 0.051), decided_at=decided_at, factors={"load": 100},
            reason=replace(EXCEEDS, confidence=0.9996, comparisons=5),
        ),
        finding("GET /items", **mean, ratio=interval(1.004, 0.012), factors={"load": 100}),
        finding("GET /items", **tail, ratio=interval(1.011, 0.014), factors={"load": 10}),
        finding("GET /items", **mean, ratio=interval(1.001, 0.009), factors={"load": 10}),
        finding(
            "PUT /items", "inconclusive", **tail, ratio=interval(1.03, None, "withheld"), factors={"load": 10},
            reason=reasons.FewValues(statistic="p99", needs=400, has=250),
        ),
    ]  # fmt: skip
    return report("regression", findings)


def factors() -> Report:
    """Findings at settings of factors, and a build and a failure that have settings."""
    busy, idle = {"load": "busy"}, {"load": "idle"}
    findings = [
        regressed("request", estimate=1.12, factors=busy),
        finding("request", factors=idle),
        finding("parse", factors=busy),
        finding("parse", factors=idle),
    ]
    failure = Failure(
        kind="execution", benchmark="encode", side="head", build=2, execution=1, factors=busy, status="exit 1"
    )
    builds = [Build(side=side, build=0, factors={"opt": opt}) for opt in ("O2", "O3") for side in SIDES]
    return report(
        "regression", findings,
        family=Family(method="holm", size=4), failures=[failure],
        run=replace(run_facts(), builds=builds),
    )  # fmt: skip


def active(of: Finding, times: float = 20.0, wall: float | None = None, half: float = 0.14) -> Finding:
    """A finding decided by active time, with wall time beside it; wall: the estimate of its ratio."""
    estimate = of.ratio.estimate if wall is None else wall
    view = View(why="sharper", times=times)
    return replace(of, metric="active", statistic="typical", view=view, beside=[_wall(of.benchmark, estimate, half)])


def _wall(benchmark: str, estimate: float | None, half: float, value: float = 0.131) -> Finding:
    why, noise = wide("both", hopeless=True), {"detectable": 0.31, "value": value}
    return finding(benchmark, "inconclusive", estimate=estimate, half=half, reason=why, **noise)


def by_wall(of: Finding, why: Literal["regression", "tasks"]) -> Finding:
    """A finding decided by wall time: active time shows no regression, or is not valid."""
    if why == "tasks":
        typical = replace(of, statistic="typical", view=View(why="tasks", times=None))
        return replace(typical, beside=[_wall(of.benchmark, of.ratio.estimate, 0.09)])
    quiet = finding(of.benchmark, metric="active", statistic="typical", estimate=1.004, half=0.006, value=0.0981)
    return replace(of, view=View(why="regression", times=None), beside=[quiet])


def views() -> Report:
    """Each way in which one view of a benchmark decides, and a benchmark that has one view alone."""
    findings = [
        active(regressed("encode", estimate=1.062, half=0.011, value=0.0982), 20.3, 1.058),
        active(finding("lex"), 5.1, 0.97),
        active(finding("tokenize", "no-sign", estimate=0.994, detectable=0.021), 43.6),
        active(finding("walk", "inconclusive", estimate=1.021, half=0.029, reason=wide(), more_builds=2), 8.4),
        by_wall(regressed("tail", estimate=1.05, half=0.012), "regression"),
        by_wall(finding("serve", "no-sign", estimate=1.003, half=0.014, detectable=0.028), "tasks"),
        finding("startup", "no-sign", estimate=1.001, half=0.013, detectable=0.024),
    ]  # fmt: skip
    return report("regression", findings)


HOSTS = ("ci-amd-1", "ci-arm-1", None)


def on_machines(*changes: float | None, rounds: int = 5) -> list[SessionRatio]:
    """A machine each; None: it has too few rounds, and so no interval."""
    method, found = "fixed-sessions", []
    for session, (host, change) in enumerate(zip(HOSTS, changes, strict=True)):
        ratio = interval(1.2, None, "withheld", method) if change is None else interval(change, 0.03, method=method)
        found.append(SessionRatio(session=session, host=host, rounds=2 if change is None else rounds, ratio=ratio))
    return found


def machines() -> Report:
    """Three machines, each judged by itself."""

    def of(base: float, head: float, ratio: RatioInterval, *changes: float | None) -> dict[str, Any]:
        counts = LevelCounts(session=3, build=15, execution=75, iteration=750)
        sides = {"base": side(base, counts=counts), "head": side(head, counts=counts)}
        return {**sides, "ratio": replace(ratio, method=method, df=None), "sessions": on_machines(*changes)}

    method = "fixed-sessions"
    exceeds = reasons.Exceeds(threshold=0.03, confidence=0.9917, comparisons=3, outgrown=None)
    depends = DependsOnMachine("+12.0% on session 0 (ci-amd-1)", "+40.0% on session 2")
    few = reasons.OnMachine(session=1, host="ci-arm-1", why=reasons.FewRoundsThere(needs=3, has=2))
    findings = [
        regressed(
            **of(0.1015, 0.1259, interval(1.24, 0.02), 1.12, 1.21, 1.40),
            decided_at=at(0.9917, 1.21, 1.27),
            reason=exceeds,
            warnings=[depends],
        ),
        withheld(**of(0.0123, 0.0148, interval(1.2, None, "withheld"), 1.19, None, 1.21), reason=few),
        finding("render", **of(0.21, 0.2104, interval(1.002, 0.011), 0.99, 1.01, 1.006)),
    ]
    return report("regression", findings, run=run_facts(rounds=RoundsDone(done=15, planned=15)))


def profile(side: Side, spent: dict[str, float], **changes: Any) -> Profile:
    """A profile of stacks such as "main>parse_object>memcmp"; what has no file below is libc's."""
    files = {"main": "src/main.c", "find_key": "src/keys.c"}
    files |= dict.fromkeys(("parse_object", "read_string", "skip_space", "next_char"), "src/json.c")
    names = list(dict.fromkeys(name for stack in spent for name in stack.split(">")))
    made = Profile(
        benchmark="parse-large", side=side, profiler="callgrind", tool="valgrind 3.19.0", unit="instructions",
        frames=[Frame(name, files.get(name, "")) for name in names],
        stacks=[Stack([names.index(n) for n in stack.split(">")], cost) for stack, cost in spent.items()],
    )  # fmt: skip
    return replace(made, **changes)


def profiles() -> tuple[Profile, Profile]:
    """A key that is looked for in a list, a helper that was taken out of another function, and a little more to read."""
    base = {
        "main": 1e6, "main>parse_object": 20e6, "main>parse_object>find_key": 6e6,
        "main>parse_object>find_key>memcmp": 4e6, "main>parse_object>read_string": 30e6,
        "main>parse_object>read_string>memcpy": 8e6, "main>parse_object>skip_space": 12e6,
    }  # fmt: skip
    head = base | {
        "main>parse_object>find_key": 9e6,
        "main>parse_object>find_key>memcmp": 14e6,
        "main>parse_object>read_string": 31e6,
        "main>parse_object>skip_space": 5e6,
        "main>parse_object>skip_space>next_char": 7.2e6,
    }
    return profile("base", base), profile("head", head, changed=["src/keys.c", "README.md"])


def explained() -> Report:
    """A regression with its functions, one whose profile does not show it, and one that could not be profiled."""
    base, head = profiles()
    waits = replace(base, benchmark="serve", unit="samples", profiler="perf")
    return report(
        "regression",
        [regressed(), regressed("serve"), regressed("render")],
        explanations=[
            explain(base, head, MetricRatio("time", "s", 1.18, 1.17, 1.19)),
            explain(waits, replace(waits, side="head"), MetricRatio("time", "s", 1.4, 1.35, 1.45)),
        ],
        unprofiled=[
            Unprofiled(benchmark="render", kind="no-profiler", profiler="callgrind", install="apt-get install valgrind")
        ],
    )


def creep_case(benchmark: str, verdict: CreepVerdict, **changes: Any) -> CreepCase:
    made = CreepCase(
        benchmark=benchmark, metric="time", statistic="mean", factors={}, better="lower", verdict=verdict,
        threshold=0.03, nights=21, window=16, ratio=1.052, tonight=1.061, p=0.002, more=None,
    )  # fmt: skip
    return replace(made, **changes)


def creep() -> Report:
    since = reasons.Crept(threshold=0.03, nights=16, since="2026-11-11", confidence=0.95, outgrown=None)
    crept = finding(
        "parse-large", "regression", reason=since, p=None, p_adjusted=0.002,
        ratio=replace(interval(1.052, None, "half-line", "nights"), low=1.038),
        decided_at=at(0.95, 1.038, None),
    )  # fmt: skip
    alone = finding(
        "encode", "inconclusive", estimate=1.043, half=0.01,
        reason=reasons.Unconfirmed(threshold=0.03, nights=21, more=6),
    )  # fmt: skip
    pin = Pin(against="latest-tag", tag="v1.2", sha="a1" * 20, commits=14)
    cases = [
        creep_case("parse-large", "crept"),
        creep_case("encode", "unconfirmed", ratio=1.02, more=6),
        creep_case("lex", "none", ratio=1.001),
    ]
    facts = CreepFacts(pin=pin, nights=21, error=0.05, unused=None, cases=cases)
    return report("regression", [crept, alone, finding("lex")], creep=facts)


ALL = {
    "pass": passing,
    "failures": only_failures,
    **{
        each.__name__: each
        for each in (
            creep, regression, explained, inconclusive, nothing, hostile, many, metrics, early, only_inconclusive, one_build,
            quantiles, views, factors, machines, some_identical, all_identical, quiet, in_sight_of_nothing,
        )
    },
}  # fmt: skip
