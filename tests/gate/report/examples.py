"""Reports to render: one builder a situation, with the numbers of nobody's measurements."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from gate.decide.reasons import summary as decide_summary
from gate.explain.explain import Measured, explain
from gate.model import (
    REPORT_SCHEMA,
    SIDES,
    Accepted,
    Better,
    Build,
    Commit,
    Counts,
    DecidedAt,
    Evidence,
    Failure,
    Family,
    Finding,
    HostState,
    Identical,
    IntervalKind,
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
    Round,
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
from gate.model.history import CreepCase, CreepFacts, CreepVerdict, Pin, Suspect
from gate.model.profile import Frame, Profile, Stack, Unprofiled
from gate.model.report import Pairing, SessionRatio, View
from gate.model.warnings.base import Said
from gate.model.warnings.estimates import (
    DependsOnMachine,
    Drift,
    EarlyStop,
    NoisierThanRemembered,
    NormalTail,
    OnSession,
)
from gate.model.warnings.measured import IdenticalBuilds, SameBuilds
from gate.model.warnings.setup import RulesChanged

COUNTS = Counts(session=1, build=5, execution=25, iteration=250)
ONE_BUILD = Counts(session=1, build=1, execution=5, iteration=50)

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


def side(value: float, spread: float | None = 0.005, counts: Counts = COUNTS) -> SideSummary:
    low, high = (None, None) if spread is None else (value * (1 - spread), value * (1 + spread))
    return SideSummary(value=value, low=low, high=high, counts=counts)


def interval(
    estimate: float | None, half: float | None = 0.02, kind: IntervalKind = "bounded", method: str = "fieller"
) -> RatioInterval:
    bounded = estimate is not None and half is not None and kind == "bounded"
    return RatioInterval(
        estimate=estimate,
        low=estimate - half if bounded and estimate is not None and half is not None else None,
        high=estimate + half if bounded and estimate is not None and half is not None else None,
        confidence=0.95,
        method=method,
        df=8.3 if method == "fieller" and kind != "withheld" else None,
        kind=kind,
    )


def variances() -> Variances:
    def of(mean: float) -> list[Variance]:
        return [
            Variance(level="iteration", s2=4.0e-6, t2=4.0e-6, relative=2e-3 / mean),
            Variance(level="execution", s2=1.1e-6, t2=7.0e-7, relative=1.05e-3 / mean),
            Variance(level="build", s2=2.0e-7, t2=-2.0e-8, relative=4.5e-4 / mean),
        ]

    return Variances(base=of(0.1015), head=of(0.1067))


def finding(benchmark: str = "parse-large", verdict: Verdict = "unchanged", **changes: Any) -> Finding:
    """A finding; estimate and half set the ratio, every other keyword replaces a field."""
    estimate = changes.pop("estimate", 1.002)
    half = changes.pop("half", 0.011)
    value = changes.pop("value", 0.1015)
    decided = estimate is not None and half is not None
    fields: dict[str, Any] = {
        "metric": "time",
        "unit": "s",
        "better": "lower",
        "statistic": "mean",
        "factors": {},
        "base": side(value),
        "head": side(value * (1.0 if estimate is None else estimate)),
        "ratio": interval(estimate, half),
        "sessions": [],
        "decided_at": DecidedAt(
            confidence=0.9958,
            low=estimate - 1.7 * half if decided else None,
            high=estimate + 1.7 * half if decided else None,
            look=1,
            looks=1,
        ),
        "threshold": 0.03,
        "floor": 1e-6,
        "p": 0.62,
        "p_adjusted": 1.0,
        "p_improvement": 0.7,
        "p_improvement_adjusted": 1.0,
        "accepted": None,
        "reason": reasons.Within(threshold=0.03),
        "warnings": [],
        "not_worse": verdict in ("unchanged", "improvement"),
        "more_builds": None,
        "stopped": None,
        "detectable": None,
        "identical": None,
        "variance": variances(),
        "memory": None,
    }
    fields |= changes
    rests_on = "decided_at" if verdict in ("regression", "improvement", "accepted") else "ratio"
    without = fields["ratio"].kind == "withheld" or fields["ratio"].method == "exact"
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
    fields: dict[str, Any] = {
        "estimate": 1.083,
        "half": 0.02,
        "p": 0.00002,
        "p_adjusted": 0.0012,
        "reason": EXCEEDS,
    }
    return finding(benchmark, "regression", **(fields | changes))


def improved(benchmark: str = "render", **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "estimate": 0.872,
        "half": 0.015,
        "p": 1.0,
        "p_adjusted": 1.0,
        "p_improvement": 0.00001,
        "p_improvement_adjusted": 0.0001,
        "reason": EXCEEDS,
    }
    return finding(benchmark, "improvement", **(fields | changes))


def withheld(benchmark: str = "startup", **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "base": side(0.0123, None, ONE_BUILD),
        "head": side(0.0129, None, ONE_BUILD),
        "ratio": interval(1.0488, None, "withheld"),
        "decided_at": DecidedAt(confidence=0.95, low=None, high=None, look=1, looks=1),
        "p": None,
        "p_adjusted": None,
        "p_improvement": None,
        "p_improvement_adjusted": None,
        "reason": ONE_UNIT,
        "variance": Variances(
            base=[Variance(level="iteration", s2=1e-8, t2=1e-8, relative=0.008)],
            head=[Variance(level="iteration", s2=1.2e-8, t2=None, relative=None)],
        ),
    }
    return finding(benchmark, "inconclusive", **(fields | changes))


def unbounded(benchmark: str = "noisy", kind: IntervalKind = "line", **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "ratio": interval(1.2, None, kind),
        "decided_at": DecidedAt(confidence=0.95, low=None, high=None, look=1, looks=1),
        "reason": reasons.Unbounded(),
        "estimate": 1.2,
    }
    return finding(benchmark, "inconclusive", **(fields | changes))


def accepted(benchmark: str = "encode", **changes: Any) -> Finding:
    entry = Accepted(up_to=0.08, until="2026-12-31", reason="new checksum, see #123")
    fields: dict[str, Any] = {
        "estimate": 1.061,
        "half": 0.012,
        "accepted": entry,
        "reason": reasons.AcceptedByEntry(up_to=0.08, until="2026-12-31", reason="new checksum, see #123"),
    }
    return finding(benchmark, "accepted", **(fields | changes))


def recorded(benchmark: str = "parse-large", metric: str = "memory", **changes: Any) -> Recorded:
    fields: dict[str, Any] = {
        "unit": "B",
        "better": "lower",
        "factors": {},
        "base": side(12_582_912.0, 0.001),
        "head": side(12_713_984.0, 0.001),
        "ratio": interval(1.0104, 0.0008),
        "warnings": [],
    }
    return Recorded(benchmark=benchmark, metric=metric, **(fields | changes))


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
        "rounds": Round(done=5, planned=5),
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
        "recorded": [],
        "failures": [],
        "overall": [],
        "curves": [],
        "new": [],
        "warnings": [],
    }
    return Report(verdict=verdict, findings=findings, **({"identical": []} | fields | changes))


def summary(
    verdict: ReportVerdict, findings: list[Finding], failures: list[Failure], identical: list[Identical]
) -> outcomes.Summary:
    """What decide says of such findings."""
    evidence = Evidence(
        run=None, cases=[], failures=failures, new=[], rounds=Round(done=5, planned=5), looks=[], seconds=None, slowest_round=None,
        builds=[], states=[], warnings=[],
    )  # fmt: skip
    return decide_summary(verdict, findings, evidence, identical)


def regression() -> Report:
    findings = [
        finding("lex"),
        finding("tokenize", estimate=0.994),
        improved(),
        regressed(warnings=[NormalTail(5, 5)]),
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
        overall=[
            Overall(
                group="all",
                metric="time",
                ratio=interval(1.004, 0.006),
                cases=7,
                units=5,
                level="build",
                dropped=["startup"],
            )
        ],
        new=["decode"],
        warnings=[
            RulesChanged(("gate.threshold",), "base"),
            IdenticalBuilds((SameBuilds(5, "base", ""),)),
        ],
    )


def proof(**changes: Any) -> Proof:
    fields: dict[str, Any] = {
        "differ": ["README.md", "docs/index.md", "src/parse.c"],
        "differ_count": 3,
        "read_count": 120,
        "hash": {"base": "sha256:" + "1a" * 32, "head": "sha256:" + "9f" * 32},
    }
    return Proof(**(fields | changes))


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
    facts = run_facts(rounds=Round(done=0, planned=None), seconds=8.1)
    proved = [identical(f"suite/case-{n}", identical=proof(differ=["README.md"], differ_count=1)) for n in range(14)]
    return report("pass", [], identical=proved, run=facts)


def passing() -> Report:
    return report("pass", [finding("lex"), finding("parse"), improved()])


def inconclusive() -> Report:
    findings = [withheld(), unbounded(), unbounded("half", "half-line"), unbounded("gap", "complement")]
    facts = run_facts(
        rounds=Round(done=1, planned=None), seconds=None, base=None, head=None, host=None, commands=None, chosen=None
    )
    return report("inconclusive", findings, run=facts)


def no_sign(benchmark: str = "scan", detectable: float = 0.041, **changes: Any) -> Finding:
    """No slowdown in sight, given up at the second look of four."""
    pairing = Pairing(rounds=6, correlation=0.89, together=0.058, apart=0.168, gains=True)
    return finding(
        benchmark,
        "no-sign",
        **{
            "ratio": interval(1.004, 0.027, method="paired-shared"),
            "decided_at": DecidedAt(confidence=0.9999, low=0.94, high=1.06, look=2, looks=4),
            "shown": "ratio",
            "detectable": detectable,
            "stopped": "futility",
            "pairing": pairing,
            "reason": reasons.NoSign(
                detectable=detectable, limit=1.032, real=False, confidence=0.95, unit="s", better="lower"
            ),
            **changes,
        },
    )


def quiet() -> Report:
    """Nothing in sight, and one case too noisy to say so."""
    noisy = reasons.TooNoisy(detectable=0.42, wanted=0.1, unit="s", better="lower", hopeless=False)
    noise = Pairing(rounds=6, correlation=0.05, together=0.31, apart=0.32, gains=False)
    found = [
        no_sign(),
        no_sign("walk", 0.062),
        finding(),
        finding(
            "wild", "inconclusive", ratio=interval(1.02, 0.2, method="paired"), reason=noisy, detectable=0.42,
            more_builds=31, stopped="futility", pairing=noise,
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
    facts = run_facts(
        id=None, created=None, perfgate=None, seed=None, base=None, head=None, chosen=None, host=None, commands=None,
        seconds=None,
        rounds=Round(done=0, planned=None),
    )  # fmt: skip
    return report("error", [], run=facts, policy=policy(override=[], accept=[]))


def hostile() -> Report:
    findings = [
        regressed(
            name,
            metric=name,
            unit=name,
            factors={name: name},
            warnings=[Said(f"mind {name}")],
            reason=msgspec.structs.replace(EXCEEDS, outgrown=Accepted(up_to=0.01, until=name, reason=name)),
        )
        for name in HOSTILE
    ]
    failures = [
        Failure(
            kind="execution", benchmark=name, side="head", build=0, execution=0, status=name,
            stderr=f"{name}\n```\n</pre>", command=name, directory=name, environment={name: name}, hint=name,
        )
        for name in HOSTILE
    ]  # fmt: skip
    same = {name: name for name in HOSTILE}
    hashes: dict[Side, str] = {"base": HOSTILE[0], "head": HOSTILE[3]}
    proofs = proof(differ=HOSTILE, differ_count=len(HOSTILE), hash=hashes)
    why = {name: Unproved(kind="changed", path=name) for name in HOSTILE[::-1]}
    facts = run_facts(
        states=[HostState(when="end", unproved=why)],
        base=Commit(ref=HOSTILE[0], sha=HOSTILE[4]), host={name: name for name in HOSTILE},
        commands={name: name for name in HOSTILE}, chosen=" ".join(HOSTILE),
        id=HOSTILE[0], created=HOSTILE[1], perfgate=HOSTILE[3],
    )  # fmt: skip
    return report(
        "regression",
        findings,
        failures=failures,
        identical=[identical(f"same {name}", metric=name, identical=proofs) for name in HOSTILE],
        run=facts,
        recorded=[recorded(name, metric=name) for name in HOSTILE],
        overall=[
            Overall(group=name, metric=name, ratio=interval(1.0), cases=1, units=5, level="build", dropped=[name])
            for name in HOSTILE
        ],
        new=HOSTILE,
        warnings=list(map(Said, HOSTILE)),
        policy=policy(source=HOSTILE[0], gate=same, override=[same]),
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
    few = Counts(session=1, build=4, execution=19, iteration=380)
    better: Better = "higher"
    findings = [
        regressed("load", **rate, estimate=0.91),
        improved("serve", **rate, estimate=1.12),
        finding("load", metric="latency", statistic="p99", value=0.0123, base=side(0.0123, counts=few)),
        finding("load", metric="memory", unit="B", value=123_456_789.0, floor=None),
        regressed(
            "encode", metric="instructions", unit="count", floor=None, factors={"size": 10, "kind": "a"},
            base=SideSummary(value=1_000_000.0, low=1e6, high=1e6, counts=COUNTS),
            head=SideSummary(value=1_021_000.0, low=1.021e6, high=1.021e6, counts=COUNTS),
            ratio=exact, threshold=0.01, reason=reasons.ExactExceeds(threshold=0.01, outgrown=None),
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
    at_look = DecidedAt(confidence=0.9994, low=1.034, high=1.081, look=2, looks=4)
    memory = MemoryUse(
        kind="moderated", used=True, df=14.2, sessions=3, first="2026-09-01", last="2026-11-02", remembered=0.0123, present=0.0098,
        without=interval(1.057, 0.031, method="fieller-paired"),
    )  # fmt: skip
    unused = msgspec.structs.replace(memory, kind="noisier", used=False, present=0.061)
    tail = finding(
        "request", "inconclusive", metric="latency", statistic="p99", value=0.0123, estimate=1.021, half=0.06,
        decided_at=DecidedAt(confidence=0.9994, low=0.91, high=1.14, look=4, looks=4), memory=unused,
        reason=wide("both"),
        warnings=[NoisierThanRemembered()],
    )  # fmt: skip
    mean = finding("request", metric="latency", value=0.0041, decided_at=at_look)
    slow = regressed(
        metric="latency", ratio=interval(1.057, 0.016, method="fieller-moderated"), decided_at=at_look,
        warnings=[EarlyStop(6, 12)], memory=memory,
    )  # fmt: skip
    return report(
        "regression",
        [slow, mean, tail],
        run=run_facts(
            rounds=Round(done=12, planned=12),
            looks=LookFacts(rounds=[4, 6, 8, 12], used=4),
            memory=MemoryFacts(findings=1, sessions=3, first="2026-09-01", last="2026-11-02", factor=1.2),
        ),
        overall=[
            Overall(
                group="all", metric="latency", ratio=interval(1.021, 0.009), cases=2, units=5, level="build", dropped=[]
            )
        ],
        curves=[
            QuantileCurve(
                benchmark="request",
                metric="latency",
                factors={},
                effects=[
                    QuantileEffect(tau=0.5, ratio=1.002, low=0.991, high=1.014),
                    QuantileEffect(tau=0.99, ratio=1.021, low=None, high=None),
                ],
            )
        ],
    )


def only_inconclusive() -> Report:
    """Nothing is clear: too few builds, too wide an interval, and one that only the number of findings holds back."""
    few = Counts(session=1, build=3, execution=15, iteration=150)
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
    facts = run_facts(rounds=Round(done=3, planned=3), settings={"plan": plan})
    return report("inconclusive", findings, run=facts)


def one_build() -> Report:
    facts = run_facts(rounds=Round(done=1, planned=1))
    return report("inconclusive", [withheld()], run=facts)


def quantiles() -> Report:
    """Statistics of one metric, of one case and of several, one decided at an early look."""
    tail: dict[str, Any] = {"metric": "latency", "statistic": "p99", "value": 0.0123}
    mean: dict[str, Any] = {"metric": "latency", "value": 0.0041}

    decided_at = DecidedAt(confidence=0.9996, low=1.11, high=1.28, look=1, looks=3)
    findings = [
        regressed(
            "GET /items", **tail, ratio=interval(1.192, 0.051), decided_at=decided_at, factors={"load": 100},
            reason=msgspec.structs.replace(EXCEEDS, confidence=0.9996, comparisons=5),
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
        run=msgspec.structs.replace(run_facts(), builds=builds),
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
    ratios = [
        interval(1.2, None, "withheld", "fixed-sessions")
        if each is None
        else interval(each, 0.03, "bounded", "fixed-sessions")
        for each in changes
    ]
    return [
        SessionRatio(session=k, host=host, rounds=2 if change is None else rounds, ratio=ratio)
        for k, (host, change, ratio) in enumerate(zip(HOSTS, changes, ratios, strict=True))
    ]


def machines() -> Report:
    """Three machines, each judged by itself."""
    counts = Counts(session=3, build=15, execution=75, iteration=750)
    method = "fixed-sessions"
    depends = DependsOnMachine(OnSession(0, "ci-amd-1", 1.12), OnSession(2, None, 1.4))
    few = reasons.OnMachine(session=1, host="ci-arm-1", why=reasons.FewRoundsThere(needs=3, has=2))
    findings = [
        regressed(
            base=side(0.1015, counts=counts),
            head=side(0.1259, counts=counts),
            ratio=interval(1.24, 0.02, method=method),
            decided_at=DecidedAt(confidence=0.9917, low=1.21, high=1.27, look=1, looks=1),
            reason=reasons.Exceeds(threshold=0.03, confidence=0.9917, comparisons=3, outgrown=None),
            sessions=on_machines(1.12, 1.21, 1.40),
            warnings=[depends],
        ),
        withheld(
            base=side(0.0123, counts=counts),
            head=side(0.0148, counts=counts),
            ratio=interval(1.2, None, "withheld", method),
            reason=few,
            sessions=on_machines(1.19, None, 1.21),
        ),
        finding(
            "render",
            base=side(0.21, counts=counts),
            head=side(0.2104, counts=counts),
            ratio=interval(1.002, 0.011, method=method),
            sessions=on_machines(0.99, 1.01, 1.006),
        ),
    ]
    return report("regression", findings, run=run_facts(rounds=Round(done=15, planned=15)))


def profile(side: Side, spent: dict[str, float], **changes: Any) -> Profile:
    """A profile of stacks such as "main>parse_object>memcmp"; what has no file below is libc's."""
    files = {"main": "src/main.c", "parse_object": "src/json.c", "read_string": "src/json.c", "find_key": "src/keys.c",
             "skip_space": "src/json.c", "next_char": "src/json.c"}  # fmt: skip
    names = list(dict.fromkeys(name for stack in spent for name in stack.split(">")))
    fields: dict[str, Any] = {
        "benchmark": "parse-large",
        "side": side,
        "profiler": "callgrind",
        "tool": "valgrind 3.19.0",
        "unit": "instructions",
        "frames": [Frame(name, files.get(name, "")) for name in names],
        "stacks": [Stack([names.index(n) for n in stack.split(">")], cost) for stack, cost in spent.items()],
    }
    return Profile(**(fields | changes))


def profiles() -> tuple[Profile, Profile]:
    """A key that is looked for in a list, a helper that was taken out of another function, and a little more to read."""
    base = {
        "main": 1e6,
        "main>parse_object": 20e6,
        "main>parse_object>find_key": 6e6,
        "main>parse_object>find_key>memcmp": 4e6,
        "main>parse_object>read_string": 30e6,
        "main>parse_object>read_string>memcpy": 8e6,
        "main>parse_object>skip_space": 12e6,
    }
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
            explain(base, head, Measured("time", "s", 1.18, 1.17, 1.19)),
            explain(waits, replace(waits, side="head"), Measured("time", "s", 1.4, 1.35, 1.45), pictured=False),
        ],
        unprofiled=[
            Unprofiled(benchmark="render", kind="no-profiler", profiler="callgrind", install="apt-get install valgrind")
        ],
    )


def creep_case(benchmark: str, verdict: CreepVerdict, **changes: Any) -> CreepCase:
    made = CreepCase(
        benchmark=benchmark, metric="time", statistic="mean", factors={}, better="lower", verdict=verdict,
        threshold=0.03, nights=21, window=16, ratio=1.052, tonight=1.061, p=0.002, more=None,
        quiet=0 if verdict == "crept" else 3, suspects=[],
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


def creep() -> Report:
    since = reasons.Crept(threshold=0.03, nights=16, since="2026-11-11", confidence=0.95, outgrown=None)
    crept = finding(
        "parse-large", "regression", reason=since, p=None, p_adjusted=0.002,
        ratio=RatioInterval(
            estimate=1.052, low=1.038, high=None, confidence=0.95, method="nights", df=None, kind="half-line"
        ),
        decided_at=DecidedAt(confidence=0.95, low=1.038, high=None, look=1, looks=1),
    )  # fmt: skip
    alone = finding(
        "encode", "inconclusive", estimate=1.043, half=0.01,
        reason=reasons.Unconfirmed(threshold=0.03, nights=21, more=6),
    )  # fmt: skip
    suspects = [
        Suspect(commit=f"{number:02d}" + "c0ffee" * 6 + "00", subject=subject, log_ratio=size, share=share, accepted=number == 2)
        for number, subject, size, share in (
            (1, "Keep comments in the tree", 0.019, 0.41), (2, "Check <names> twice, see @team #12", 0.012, 0.23),
        )
    ]  # fmt: skip
    pin = Pin(against="latest-tag", tag="v1.2", sha="a1" * 20, commits=14)
    cases = [
        creep_case("parse-large", "crept", suspects=suspects),
        creep_case("encode", "unconfirmed", ratio=1.02, more=6),
        creep_case("lex", "none", ratio=1.001),
    ]
    facts = CreepFacts(pin=pin, nights=21, error=0.05, unused=None, history=True, cases=cases)
    return report("regression", [crept, alone, finding("lex")], creep=facts)


ALL = {
    "creep": creep,
    "regression": regression,
    "explained": explained,
    "pass": passing,
    "inconclusive": inconclusive,
    "failures": only_failures,
    "nothing": nothing,
    "hostile": hostile,
    "many": many,
    "metrics": metrics,
    "early": early,
    "only_inconclusive": only_inconclusive,
    "one_build": one_build,
    "quantiles": quantiles,
    "views": views,
    "factors": factors,
    "machines": machines,
    "some_identical": some_identical,
    "all_identical": all_identical,
    "quiet": quiet,
    "in_sight_of_nothing": in_sight_of_nothing,
}
