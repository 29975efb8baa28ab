"""Every warning, as a value and as its sentence: a kind without an example here fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import msgspec
import pytest

from gate.model import Report
from gate.model.warnings import AnyWarning, OfRun, typed
from gate.model.warnings import checkout as c
from gate.model.warnings import estimates as e
from gate.model.warnings import hosts as h
from gate.model.warnings import measured as m
from gate.model.warnings import setup as s
from gate.model.warnings import study as y
from gate.model.warnings.base import Base, Said
from gate.report import json as report_json
from gate.report import junit
from gate.report.markdown import comment, summary
from gate.report.markdown.opening import weigh
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.page.document import page_of
from gate.report.text import terminal as plain_text
from tests.gate.report import examples

A = h.Machine("aaaaaaaaaaaa", "a", "6.1.0", "boot-a-1")
B = h.Machine("aaaaaaaaaaaa", "b", "6.1.0", "boot-b-1")
OTHER_KERNEL = h.Machine("aaaaaaaaaaaa", "a", "6.8.0", "boot-a-2")
OTHER_BOOT = h.Machine("aaaaaaaaaaaa", "a", "6.1.0", "boot-a-2")
OTHER_MAKE = h.Machine("bbbbbbbbbbbb", None, "6.1.0", "boot-c-1")
OTHER_FACT = f"{'y' * 20}…{'y' * 19}"
COMPARES = "the ratio also compares the machines"

UNFIT: list[tuple[h.Problem, str]] = [
    (h.LowPowerProfile(), "governor: platform profile low-power"),
    (h.HeldDown(("powersave",)), "governor: powersave"),
    (h.OnBattery(), "power supply: battery, discharging"),
    (h.LittleMemory(2**26, 2**31, False), "memory: 64 MiB of 2.0 GiB available"),
    (h.LittleMemory(2**26, 2**31, True), "memory: 64 MiB of 2.0 GiB available in its control group"),
    (h.NoTemporaryFiles("/tmp", "unreadable", error="No such file"), "temporary files: /tmp: No such file"),
    (h.NoTemporaryFiles("/tmp", "unwritable"), "temporary files: /tmp cannot be written"),
    (
        h.NoTemporaryFiles("/tmp", "noexec"),
        "temporary files: /tmp is mounted noexec: what is built there does not start",
    ),
    (h.NoTemporaryFiles("/tmp", "full", 5_000_000), "temporary files: /tmp has only 4.8 MiB free"),
]

EXAMPLES: dict[str, list[tuple[AnyWarning, str]]] = {
    "said": [(Said("<as it stands>"), "<as it stands>")],
    "of-run": [
        (
            OfRun("base", m.TornLine("m.jsonl")),
            "base's run: m.jsonl: the last line is incomplete and is left out",
        )
    ],
    # --- estimates
    "not-exact": [
        (e.NotExact("values"), "declared exact, but its values differ: treated as measured"),
        (e.NotExact("ratio"), "declared exact, but its ratio differs from session to session: treated as measured"),
    ],
    "builds-cut": [
        (e.BuildsCut(), "builds differ in their number of values: surplus executions are left out")
    ],
    "builds-unlike": [
        (e.BuildsUnlike(), "builds differ by more than 1.5 times in their number of values, which biases a quantile")
    ],
    "few-executions": [
        (
            e.FewExecutions(1),
            "the quantile of a build rests on 1 execution: too few to show how executions differ",
        ),
        (
            e.FewExecutions(2),
            "the quantile of a build rests on 2 executions: too few to show how executions differ",
        ),
    ],
    "one-sided-sessions": [
        (e.OneSidedSessions((2,)), "session 2 measured only one side and is left out"),
        (e.OneSidedSessions((2, 4)), "sessions 2, 4 measured only one side and are left out"),
    ],
    "rounds-left-out": [
        (e.RoundsLeftOut(1, (3,)), "1 round of session 3 is left out: only one side has values there"),
        (e.RoundsLeftOut(4, (0, 3)), "4 rounds of sessions 0 and 3 are left out: only one side has values there"),
    ],
    "depends-on-machine": [
        (
            e.DependsOnMachine(e.OnSession(0, "ci-arm-1", 0.98), e.OnSession(4, None, 1.4)),
            "the change depends on the machine: -2.0% on session 0 (ci-arm-1), +40.0% on session 4",
        )
    ],
    "one-unit": [
        (e.OneUnit("build"), "one build a side: the variation between builds is unknown"),
        (e.OneUnit("session"), "one session a side: the variation between sessions is unknown"),
    ],
    "unlike-spreads": [
        (
            e.UnlikeSpreads("head", 4.23, "build"),
            "head's builds spread 4.2 times as much as base's: the mean may not tell the whole story",
        ),
        (
            e.UnlikeSpreads("base", 2e7, "session"),
            "base's sessions spread more than 1000 times as much as head's: the mean may not tell the whole story",
        ),
        (
            e.UnlikeSpreads("base", None, "build"),
            "base's builds spread, and head's do not: the mean may not tell the whole story",
        ),
    ],
    "no-spread": [(e.NoSpread(), "no spread: all resamples are equal")],
    "flat-resampling": [
        (
            e.FlatResampling("build"),
            "FLAT treats all values as independent: the interval is too narrow where executions or builds differ",
        )
    ],
    "noise-counted-twice": [
        (
            e.NoiseCountedTwice(),
            "RRR counts the noise of lower levels twice: the interval is wider than its confidence says",
        )
    ],
    "few-units": [
        (e.FewUnits(4, "build"), "a bootstrap over 4 builds may cover only 80-90% instead of 95%"),
        (e.FewUnits(3, "session"), "a bootstrap over 3 sessions may cover only 80-90% instead of 95%"),
    ],
    "undefined-resamples": [
        (
            e.UndefinedResamples(3, 2000),
            "base's mean is not above 0 in 3 of 2,000 resamples, which count against both limits",
        )
    ],
    "imprecise-limits": [
        (e.ImpreciseLimits(0.95, 0.0123, 4000), "95% limits known to ±1.2% only: 4,000 replicates"),
        (e.ImpreciseLimits(0.9995, None, 2000), "99.95% limits not known: 2,000 replicates"),
    ],
    "trend": [
        (e.Trend(-0.04, "s", True), "still warming up: second half 4.0% faster"),
        (e.Trend(0.04, "s", False), "not steady: second half 4.0% slower"),
        (e.Trend(-0.04, "B", False), "not steady: second half 4.0% lower"),
        (e.Trend(0.04, "", False), "not steady: second half 4.0% higher"),
    ],
    "drift": [
        (e.Drift(0.031, "s"), "host drift: both sides 3.1% slower from the first round to the last"),
        (e.Drift(-0.031, "1/s"), "host drift: both sides 3.1% lower from the first round to the last"),
    ],
    "order-effect": [
        (
            e.OrderEffect(0.012, "s"),
            "side-by-order interaction: whichever side runs second is 1.2% slower",
        )
    ],
    "sessions-differ": [
        (
            e.SessionsDiffer(0.052),
            "sessions differ: both sides vary by 5.2% (standard deviation), more than their builds explain",
        )
    ],
    "ratio-by-session": [
        (
            e.RatioBySession(0.021),
            "the ratio depends on the session: it varies by 2.1% (standard deviation), more than their builds explain",
        )
    ],
    "autocorrelation": [
        (
            e.Autocorrelation(0.5, 30, 10),
            "iterations are correlated (0.50): 30 carry the information of 10",
        )
    ],
    "normal-tail": [
        (
            e.NormalTail(5, 6),
            "a p value this small assumes normally distributed builds: 5 + 6 builds alone cannot show it",
        )
    ],
    "implausible": [
        (
            e.Implausible((e.Improvement("parse", "time", "mean", "s", "lower", 0.055),)),
            "parse is 94.5% faster: does head still do the work?",
        ),
        (
            e.Implausible(tuple(e.Improvement(n, "rate", "p99", "req/s", "higher", 2.5) for n in "abcd")),
            ("a rate p99 is 150% higher, b rate p99 is 150% higher, c rate p99 is 150% higher and 1 more: does head "
            "still do the work?"),
        ),
    ],
    "early-stop": [
        (e.EarlyStop(6, 12), "stopped at round 6 of 12: early stopping tends to exaggerate the change")
    ],
    "carry-over": [
        (
            e.CarryOver("head", 0.012),
            "head is 1.2% slower after base than after itself: half of that is in the ratio",
        ),
        (
            e.CarryOver("base", -0.006),
            "base is 0.60% faster after head than after itself: half of that is in the ratio",
        ),
    ],
    "noisier-than-remembered": [
        (e.NoisierThanRemembered(), "noisier than calibrated: the remembered variance is not used")
    ],
    "noisy-host": [(e.NoisyHost(2.34), "the host is 2.3 times as noisy as calibrated: every interval allows for it")],
    # --- hosts
    "unfit-host": [
        (
            h.UnfitHost(h.OnBattery(), (h.OnMachine(0, "m0"), h.OnMachine(2, None))),
            "session 0 (m0) and session 2: the host was unfit when measuring began: power supply: battery, discharging",
        ),
        (h.UnfitHost("steal time"), "the host was unfit when measuring began: steal time"),
        *(
            (h.UnfitHost(problem), f"the host was unfit when measuring began: {said}")
            for problem, said in UNFIT
        ),
    ],
    "rebooted": [
        (h.Rebooted(), "host: the machine was rebooted during the run"),
        (h.Rebooted(session=1), "host: session 1: the machine was rebooted during the run"),
        (h.Rebooted(session=1, host="m1"), "host: session 1 (m1): the machine was rebooted during the run"),
        (h.Rebooted(run="base", session=0), "host: base's run: session 0: the machine was rebooted during the run"),
    ],
    "kernel-changed": [(h.KernelChanged("6.1", "6.8"), "host: the kernel changed from 6.1 to 6.8")],
    "steal": [
        (h.Steal(0.042), "host: the hypervisor took 4.2% of the CPU time that programs wanted (steal)")
    ],
    "throttled": [
        (h.Throttled(12, 3.1), "host: the control group's quota throttled the processors 12 times (3.1 s)"),
        (h.Throttled(1, 0.2), "host: the control group's quota throttled the processors once (200 ms)"),
    ],
    "load": [
        (h.Load(0.3, 6.24, 4), "host: the load was 0.3 at the start, 6.2 at the end on 4 processors"),
        (h.Load(0.3, 6.24, 1), "host: the load was 0.3 at the start, 6.2 at the end on 1 processor"),
        (h.Load(0.3, 5.2, None), "host: the load was 0.3 at the start, 5.2 at the end"),
    ],
    "pressure": [
        (h.Pressure("memory", 0.032), "host: memory pressure: some program waited for memory 3.2% of the time"),
        (h.Pressure("cpu", 0.34), "host: cpu pressure: some program waited for a processor 34.0% of the time"),
        (h.Pressure("io", 0.5), "host: io pressure: some program waited for a disk 50.0% of the time"),
    ],
    "swapped": [(h.Swapped(10, 390), "host: memory was swapped: 10 pages to disk, 390 back")],
    "thermal-throttling": [
        (h.ThermalThrottling(3), "host: thermal throttling: heat slowed the processors down 3 times")
    ],
    "out-of-memory": [
        (h.OutOfMemory(1), "host: the kernel killed a process because memory ran out"),
        (h.OutOfMemory(2), "host: the kernel killed 2 processes because memory ran out"),
    ],
    "frequency-setting": [
        (
            h.FrequencySetting("governor", "performance", "powersave"),
            "host: governor changed from performance to powersave",
        ),
        (h.FrequencySetting("turbo", False, True), "host: turbo changed from off to on"),
    ],
    "several-machines": [
        (
            h.SeveralMachines((A, B)),
            "host: measured on 2 machines or boots, host a and host b; only the facts of the first are shown",
        )
    ],
    "sides-apart": [
        (h.SidesApart((), None, (A,), (B,)), f"base was measured on host a, head on host b: {COMPARES}"),
        (
            h.SidesApart((), None, (A,), (OTHER_KERNEL,)),
            f"base was measured on host a (kernel 6.1.0), head on host a (kernel 6.8.0): {COMPARES}",
        ),
        (
            h.SidesApart((), None, (A,), (OTHER_BOOT,)),
            f"base was measured on host a (boot boot-a-1), head on host a (boot boot-a-2): {COMPARES}",
        ),
        (
            h.SidesApart((), None, (A,), (OTHER_MAKE,)),
            f"base was measured on host a (machine aaaaaaaa), head on an unnamed host (machine bbbbbbbb): {COMPARES}",
        ),
        (
            h.SidesApart(("p", "q"), 1, (A,), (A, B)),
            f"p and q: session 1: base was measured on host a, head on host a and host b: {COMPARES}",
        ),
        (
            h.SidesApart(tuple("pqrst"), None, (A,), (None,)),
            ("p, q, r and 2 more: base was measured on host a, head on an unnamed machine: "
            f"{COMPARES}"),
        ),
        (
            h.SidesApart((), None, (A,), (B,), (h.FactOfSides("cpu", ("X",), ("Y",)),)),
            f"base was measured on host a, head on host b; base and head differ in cpu (X, Y): {COMPARES}",
        ),
        (
            h.SidesApart(
                (), None, (), (), (h.FactOfSides("cpu", ("X", "Z"), ("Y",)), h.FactOfSides("system", ("a", "b"), ("a", "b"))),
            ),
            "base and head differ in cpu (X and Z, Y); each side mixes system (a and b): the ratio also compares these",
        ),
        (
            h.SidesApart((), None, (), (), (h.FactOfSides("f", (f"{'x' * 30}-a{'y' * 30}",), (f"{'x' * 30}-b{'y' * 30}",)),)),
            (f"base and head differ in f ({'x' * 8}…a{'y' * 30}, {'x' * 8}…b{'y' * 30}): the ratio also compares these"),
        ),
        (
            h.SidesApart((), None, (), (), tuple(h.FactOfSides(name, ("x",), ("y" * 50,)) for name in "abcde")),
            (f"base and head differ in {', '.join(f'{name} (x, {OTHER_FACT})' for name in 'abcd')} and 1 more: "
            "the ratio also compares these"),
        ),
    ],
    "sides-mixed": [
        (
            h.SidesMixed((), 2, (A, B)),
            "session 2: base and head were each measured on host a and host b: the values mix machines",
        )
    ],
    # --- measured
    "torn-line": [
        (m.TornLine("m.jsonl"), "m.jsonl: the last line is incomplete and is left out")
    ],
    "selected-only": [
        (
            m.SelectedOnly(2, 5),
            "2 of 5 measured benchmarks are decided (--benchmark): the verdict and the error level cover only these",
        )
    ],
    "sides-by-order": [
        (
            m.SidesByOrder("old.json", "new.json"),
            "old.json was taken as base and new.json as head: write base=FILE and head=FILE to say otherwise",
        )
    ],
    "columns-of-file": [
        (
            m.ColumnsOfFile("data.js", "commit", "1a2b", "3c4d"),
            "of data.js the commit '1a2b' was taken as base and '3c4d' as head, its last two",
        )
    ],
    "lines-left-out": [
        (
            m.LinesLeftOut("b1.txt", "line 5: a result of BenchmarkX is left out", 0),
            "b1.txt: line 5: a result of BenchmarkX is left out",
        ),
        (
            m.LinesLeftOut("b1.txt", "line 5: a result of BenchmarkX is left out", 9),
            "b1.txt: line 5: a result of BenchmarkX is left out; and 9 more such lines",
        ),
    ],
    "without-values": [
        (
            m.WithoutValues("median"),
            "an aggregate of another tool, without the values behind it: shown, never decided",
        )
    ],
    "figures-of-tool": [
        (
            m.FiguresOfTool(("time", "throughput"), "median"),
            "time, throughput: each value is the median that the tool gives for a build, not one measured time",
        ),
        (
            m.FiguresOfTool(("size",), "value"),
            "size: each value is the figure that the tool gives for a build, not one measured time",
        ),
    ],
    "same-values": [
        (m.SameValues(), "base and head have the same values, so every ratio is 1: are they the same measurements?")
    ],
    "measured-separately": [
        (
            m.MeasuredSeparately(),
            ("measured separately: changes of the machine between the runs are part of every ratio, and no interval "
            "includes them; `perfgate check` measures both in turns"),
        )
    ],
    "requests-failed": [
        (
            m.RequestsFailed("login", 0.0, 0.021),
            "login: requests failed (0.0% of base's, 2.1% of head's); times are of the others alone",
        )
    ],
    "foreign-values": [
        (
            m.ForeignValues(),
            ("the values come from the pull request's own workflow run, which its author can change: treat the verdict "
            "as advice"),
        )
    ],
    "rounds-short": [(m.RoundsShort(2, 5), "2 of 5 planned rounds were measured")],
    "budget-rounds": [(m.BudgetRounds(5, 12), "only 5 of 12 rounds fit the budget, judging by the first two")],
    "after-last-look": [
        (m.AfterLastLook(6), "the last look was after round 6: later rounds do not count")
    ],
    "executions-short": [
        (m.ExecutionsShort("b", "", 4, 3, 6), "b: base has 4 and head 3 of 6 executions"),
        (m.ExecutionsShort("b", "load=busy", 2, 2, 6), "b at load=busy: base has 2 and head 2 of 6 executions"),
    ],
    "parts-short": [
        (
            m.PartsShort((m.PartShort("shard 1 of 2", 3, 5), m.PartShort("shard 2 of 2", 4, 5))),
            "shard 1 of 2 measured 3 of its 5 rounds; shard 2 of 2 measured 4 of its 5 rounds",
        )
    ],
    "two-sessions": [
        (
            m.TwoSessions(),
            ("2 sessions: little is known about how sessions differ (1 degree of freedom), so only large changes can be "
            "shown; a third session narrows the intervals most"),
        )
    ],
    "looks-ignored": [(m.LooksIgnored(), "a bootstrap interval does not correct for the looks of this run")],
    "undecided-benchmarks": [
        (
            m.UndecidedBenchmarks(("a", "b", "c", "d"), ("hits", "B/op")),
            ("no metric of a, b, c and 1 more is decided: declare one in a `[benchmark.metric.NAME]` (hits, B/op)"),
        ),
        (
            m.UndecidedBenchmarks(("a",), ("hits",), named=True),
            "no metric of a is decided: add one to `metrics` in `[plan]` (hits)",
        ),
    ],
    "unknown-direction": [
        (
            m.UnknownDirection(("MatchesFound",), ("BM_Find/8",)),
            ("direction unknown: nothing says which values of MatchesFound (BM_Find/8) are better, so it is shown and not decided. "
            'Add an `[[override]]` entry with `metric = "MatchesFound"` and `better = "lower"` or '
            '`better = "higher"` to perfgate.toml'),
        ),
        (
            m.UnknownDirection(("a", "b", "c", "d"), ("x", "y")),
            ("direction unknown: nothing says which values of a, b, c and 1 more (x, y) are better, so they are shown and not "
            'decided. Add an `[[override]]` entry with `metric = "a"` and `better = "lower"` or '
            '`better = "higher"` to perfgate.toml'),
        ),
    ],
    "metric-missing": [
        (m.MetricMissing("b", "time", "{}", 1), "b: metric time gave no values in session 1"),
        (m.MetricMissing("b", "time", '{"n":1}', 0), 'b: metric time at {"n":1} gave no values in session 0'),
    ],
    "unknown-unit": [
        (
            m.UnknownUnit("latency", "usec", "us"),
            'metric latency: "usec" is not a known unit: write "us"; its values are compared as they are, without a default floor',
        ),
        (
            m.UnknownUnit("time", "furlong", None),
            'metric time: "furlong" is not a unit of time: write s, ms, us or ns; its values are compared as they are, without a default floor',
        ),
    ],
    "not-steady": [
        (
            m.NotSteady(2, 1, 6, None),
            "3 of 6 executions reached no steady state (2 of base and 1 of head): all their values count",
        ),
        (
            m.NotSteady(0, 1, 3, 10),
            ("1 of 3 executions reached no steady state (1 of head): all their values count; fewer than 10 values "
            "cannot show one"),
        ),
    ],
    "outlived": [
        (
            m.Outlived(0, 7, 40),
            "after 7 of 40 executions (7 of head) a process that the command had started still ran: no value includes its work",
        ),
    ],
    "values-short": [
        (
            m.ValuesShort(2, 1, 20, 10),
            "3 of 20 executions gave fewer than the 10 values asked for (2 of base and 1 of head), and others exactly as many: was their output cut off?",
        ),
    ],
    "identical-builds": [
        (
            m.IdenticalBuilds((m.SameBuilds(2, "base", ""), m.SameBuilds(2, "head", "opt=O3"))),
            ("build variance not sampled: all 2 builds of base and all 2 builds of head at opt=O3 are byte-identical "
            "(several object files, -ffunction-sections with lld, or {seed} let layouts differ)"),
        )
    ],
    "proved-in-part": [
        (
            m.ProvedInPart(("a", "b")),
            "a, b: identical in some sessions and measured in others: only the values count",
        )
    ],
    "same-commit": [
        (
            m.SameCommit(),
            "base and head are one commit: this is an A/A run, which is measured in any case, and any difference is noise",
        )
    ],
    "identical-sides": [
        (m.IdenticalSides(), "base and head are byte-identical: any difference is noise")
    ],
    "one-tree": [
        (m.OneTree(), "no build command: every build reuses the tree of the set-up, only the environment differs")
    ],
    "no-build-command": [
        (
            m.NoBuildCommand(("path", "environment")),
            "no build command: the builds differ in path and environment only",
        ),
        (m.NoBuildCommand(()), "no build command: the builds do not differ"),
    ],
    "build-needs-git": [
        (
            m.BuildNeedsGit(("base",)),
            (
                'the build of base fails without .git, so perfgate gave it one: set git = "on" under [build] to avoid '
                "the failed build"
            ),
        ),
        (
            m.BuildNeedsGit(("base", "head")),
            (
                'the builds of base and head fail without .git, so perfgate gave them one: set git = "on" under '
                "[build] to avoid the failed build"
            ),
        ),
    ],
    "set-up-differently": [
        (
            m.SetUpDifferently(("[build] command",), (m.DifferingKey("warmup", ("a", "b", "c", "d")),)),
            ("the two runs are set up differently, and the ratio includes that: [build] command; warmup of a, b, c and 1 "
            "more"),
        )
    ],
    "not-comparable": [
        (
            m.NotComparable("time", "unit", ("s",), ("", "B"), ("parse", "encode")),
            "not comparable: time is in s in base and without a unit and in B in head: parse, encode",
        ),
        (
            m.NotComparable("score", "direction", ("lower",), ("higher",), ("parse",)),
            "not comparable: score is better when lower in base and better when higher in head: parse",
        ),
    ],
    # --- setup
    "base-ahead": [
        (
            s.BaseAhead("main", 1),
            "base (main) has 1 commit that head lacks: their effect counts as a change by head",
        ),
        (
            s.BaseAhead("main", 3),
            "base (main) has 3 commits that head lacks: their effect counts as a change by head",
        ),
    ],
    "dirty-submodule": [
        (
            s.DirtySubmodule("libs/a"),
            "submodule libs/a has uncommitted changes: its commit is measured without them",
        )
    ],
    "embedded-repository": [
        (
            s.EmbeddedRepository("a/"),
            "a/ is a nested repository, not a submodule: neither side includes it",
        )
    ],
    "left-behind": [
        (
            s.LeftBehind("/tmp/perfgate-01", "/tmp/perfgate-01/x: Permission denied"),
            "perfgate cannot remove its directory /tmp/perfgate-01 (/tmp/perfgate-01/x: Permission denied): remove it yourself",
        )
    ],
    "lfs-pointers": [
        (
            s.LfsPointers(),
            "the checkout has Git LFS pointers instead of files, and so do both sides: run `git lfs pull`",
        )
    ],
    "base-without-config": [(s.BaseWithoutConfig(), "base has no perfgate.toml: head's is used for both sides")],
    "nothing-to-compare": [
        (
            s.NothingToCompare(base="1" * 40, itself=True, failed="build", status="exit 2"),
            "base has no perfgate.toml, and head's build fails there (exit 2): head is measured against itself. Once head runs and is merged, the next change is compared with it",
        ),
        (
            s.NothingToCompare(base=None, itself=False, failed="missing"),
            "base has no perfgate.toml, nor the folder of the project: head is measured alone. Once head runs and is merged, the next change is compared with it",
        ),
    ],
    "base-broken": [
        (
            s.BaseBroken(
                base="1" * 40, failed="build", benchmark=None, status="exit 1", output=("error: a", " b"), tried=2,
                compared="2" * 40,
            ),
            "base 1111111111 does not build (exit 1: error: a / b): head is compared with its ancestor 2222222222",
        ),
        (
            s.BaseBroken(
                base="1" * 40, failed="execution", benchmark="parse", status="exit 5", output=(), tried=1,
                compared="1" * 40,
            ),
            "base 1111111111 does not start parse (exit 5), nor does its parent: what does not start there is not compared",
        ),
    ],
    "renamed": [(s.Renamed("old", "new"), "old → new (renamed)")],
    "missing-allowed": [
        (m.MissingAllowed(("a", "b"), None), "a, b are missing, allowed by the rules"),
        (
            m.MissingAllowed(("a",), "the label perf-accepted of #12"),
            "a is missing, allowed by the label perf-accepted of #12",
        ),
    ],
    "head-without-config": [(s.HeadWithoutConfig(), "head has no perfgate.toml: base's is used for both sides")],
    "rules-changed": [
        (
            s.RulesChanged(("gate.threshold", "accept"), "base"),
            "head changes the rules (gate.threshold, accept); the rules of base apply",
        )
    ],
    "measuring-changed": [
        (s.MeasuringChanged("a"), "head changes how a is measured: the sides may not be comparable"),
        (
            s.MeasuringChanged("a", (s.Differing("command", "./a", "./a --fast"),)),
            "not the same command for a: base ran `./a`, head `./a --fast`",
        ),
        (
            s.MeasuringChanged("a", (s.Differing("command", "./a", "./b"), s.Differing("warmup", "1", "3"))),
            "not the same command for a: base ran `./a`, head `./b`; head also changes warmup from `1` to `3`",
        ),
        (
            s.MeasuringChanged("a", (s.Differing("service", None, "x"),)),
            "head changes how a is measured (service from none to `x`): the sides may not be comparable",
        ),
    ],
    "build-changed": [
        (
            s.BuildChanged((s.Differing("build.command", "make", "make fast"), s.Differing("env.set.A", None, "1"))),
            "base and head are not built alike: head changes build.command from `make` to `make fast` and env.set.A from none to `1`",
        ),
        (
            s.BuildChanged(tuple(s.Differing(f"env.set.{n}", None, "1") for n in range(5))),
            "base and head are not built alike: head changes env.set.0 from none to `1`, env.set.1 from none to `1`, env.set.2 from none to `1` and 2 more",
        ),
    ],
    "expired-accept": [
        (
            s.ExpiredAccept("encode", "2026-12-31", "see #123"),
            "the [[accept]] entry of encode expired on 2026-12-31: remove it (see #123)",
        )
    ],
    "started-by-shim": [
        (
            s.StartedByShim(("a", "b"), "pyenv", "/shims/python", "/versions/3.12/bin/python", 0.048),
            (
                "a, b: /shims/python is a shim of pyenv, which adds 48 ms to every start: name "
                "/versions/3.12/bin/python in the command"
            ),
        ),
        (
            s.StartedByShim(("a",), "asdf", "/shims/python", "", None),
            "a: /shims/python is a shim of asdf: name the program behind it",
        ),
    ],
    "few-builds": [
        (s.FewBuilds(3, 5, False, False), "plan.builds = 3 is below gate.min_builds = 5: nothing can show a change"),
        (
            s.FewBuilds(3, 5, True, True),
            ("plan.builds = 3 is below gate.min_builds = 5: only exact counts and benchmarks remembered on this "
            "host can show a change"),
        ),
    ],
    "few-builds-per-machine": [
        (
            s.FewBuildsPerMachine(2, 3),
            'plan.builds = 2 is below the 3 that each machine needs with gate.sessions = "fixed": nothing can show a change',
        )
    ],
    "few-builds-for-bootstrap": [
        (s.FewBuildsForBootstrap(5, 8), "a bootstrap interval needs 8 builds for a verdict, the plan has 5")
    ],
    "no-looks-by-bootstrap": [
        (s.NoLooksByBootstrap(12), "bootstrap intervals do not stop early: the whole plan is measured, 12 rounds")
    ],
    "few-iterations-for-steady": [
        (
            s.FewIterationsForSteady(("a", "b"), 9, 10),
            'a, b: warmup = "auto": plan.iterations = 9 cannot show a steady state, which needs 10',
        )
    ],
    "no-early-stop": [
        (
            s.NoEarlyStop(12),
            "several jobs do not stop early: each measures up to 12 rounds, as its budget allows",
        )
    ],
    "no-auto-plan": [
        (s.NoAutoPlan(), "plan.auto keeps the configured plan: all jobs of a gate need the same one")
    ],
    "duet-on-one-processor": [
        (
            s.DuetOnOneProcessor(("work",)),
            "work: base and head run on one processor by turns and share its caches",
        )
    ],
    "zero-threshold": [
        (
            s.ZeroThreshold(),
            (
                "threshold 0: if a layout slows only some builds of one side, 5% to 34% of reports fail though the means "
                "are the same; with a threshold of 2% at most 1.2%"
            ),
        )
    ],
    "planned-from-memory": [
        (
            s.PlannedFromMemory(4, 12, 5, 10, True, ()),
            ("plan.auto: 4 to 12 builds x 5 x 10 a side, for half-widths of half the thresholds, judging by earlier "
            "sessions on this host"),
        ),
        (
            s.PlannedFromMemory(6, 6, 5, 10, False, ("b: nothing is remembered",)),
            ("plan.auto: 6 builds x 5 x 10 a side, the nearest to half-widths of half the thresholds within the budget, "
            "judging by earlier sessions on this host; b: nothing is remembered"),
        ),
    ],
    "planned-as-configured": [
        (
            s.PlannedAsConfigured(""),
            "plan.auto keeps the configured plan: nothing is remembered about this host",
        ),
        (
            s.PlannedAsConfigured("the budget is too small"),
            "plan.auto keeps the configured plan: the budget is too small",
        ),
    ],
    "round-beyond-budget": [
        (
            s.RoundBeyondBudget(35.0, 10.0, "last-run"),
            ("one round will not fit the budget of 10 s: in the last run, set-up and one round took 35 s; raise it, "
            "for example `--set plan.budget=4m`, which has room for five"),
        ),
        (
            s.RoundBeyondBudget(10.0, 10.0, "ended"),
            ("one round will not fit the budget of 10 s: a budget of 10 s ended the last run before one was complete; "
            "raise it as the report of that run says"),
        ),
        (
            s.RoundBeyondBudget(35.0, 10.0, "memory"),
            ("one round will not fit the budget of 10 s: on this host, one takes about 35 s; raise it, for example "
            "`--set plan.budget=4m`, which has room for five"),
        ),
    ],
    "spawn-instead": [
        (
            s.SpawnInstead(why), f"{said}: measured with the built-in spawn",
        )
        for why, said in (
            ("as an older perfgate said", "as an older perfgate said"),
            (s.ToolUnusable("hyperfine", "missing"), "hyperfine is not installed"),
            (s.ToolUnusable("hyperfine", "silent", "/h", "it ended"), "the version of /h cannot be read (it ended)"),
            (s.ToolUnusable("hyperfine", "foreign", "/h"), "/h is not the benchmarking tool hyperfine"),
            (s.ToolUnusable("hyperfine", "old", "/h", "", "1.13.0", "1.14"), "hyperfine 1.13.0 is older than 1.14"),
        )
    ],
    "instrument-limits": [
        (s.InstrumentLimits("perf_stat", "as it said"), "perf_stat: as it said"),
        (
            s.InstrumentLimits("callgrind", (s.MovingAddresses(),)),
            ("callgrind: addresses cannot be fixed here (setarch -R fails or is missing, as in many containers), so "
            "counts of equal runs may differ a little"),
        ),
        (
            s.InstrumentLimits(
                "perf_stat",
                (
                    s.EventsAbsent(("cycles", "instructions"), "not supported"),
                    s.EventsAbsent(("context-switches",), ""),
                    s.EventsOutsideKernel(("page-faults",), "2"),
                    s.EventsOutsideKernel(("cycles",), None),
                    s.SharedCounters(("cycles",)),
                ),
            ),
            ("perf_stat: leaves out cycles and instructions (not supported on this machine); leaves out context-switches "
            "(no permission to count the kernel on this machine); counts page-faults outside the kernel only "
            "(perf_event_paranoid: 2); counts cycles outside the kernel only (perf_event_paranoid: "
            "unknown); estimates cycles, whose counters are shared"),
        ),
    ],
    "nothing-remembered": [
        (
            s.NothingRemembered("fieller"),
            "this host is not calibrated, so intervals use fieller: run `perfgate calibrate`",
        )
    ],
    "history-unusable": [
        (s.HistoryUnusable("h: is damaged"), "the memory of this host is not used: h: is damaged")
    ],
    "memory-of-one-session": [
        (
            s.MemoryOfOneSession(),
            "the memory of this host is not used: it holds one session, and this run has several",
        )
    ],
    "memory-of-one-file": [
        (s.MemoryOfOneFile(), "the memory of this host is not used: the files were measured separately")
    ],
    "memory-of-other-machine": [
        (
            s.MemoryOfOtherMachine(("b",), (s.Differing("cpu", "Z80", "Z81"), s.Differing("cores", "2", "4"))),
            "the memory of b is not used: measured on another machine (cpu was Z80, is Z81; cores was 2, is 4)",
        ),
        (
            s.MemoryOfOtherMachine(("a", "b", "c", "d"), ()),
            "the memory of a, b, c and 1 more is not used: measured on another machine (a different model)",
        ),
    ],
    "memory-of-other-setup": [
        (
            s.MemoryOfOtherSetup(
                ("b",), (s.Differing("command", "./a", "b" * 61), s.Differing("warmup", 3, 0), s.Differing("build", "make", None))
            ),
            (f"the memory of b is not used: its command was `./a`, is `{'b' * 59}…`; its warm-up was 3, is 0; "
            "[build] command was `make`, is none"),
        ),
        (
            s.MemoryOfOtherSetup(("b",), ()),
            "the memory of b is not used: base and head are measured in different ways",
        ),
    ],
    # --- checkout
    "no-common-commit": [
        (c.NoCommonCommit("b" * 40), "head and the pull request's base (bbbbbbbbbbbb) have no common commit")
    ],
    "submodule-absent": [
        (
            c.SubmoduleAbsent("libs/a"),
            ("submodule libs/a is not in the checkout, so perfgate fetches it: add `submodules: recursive` and "
            "`fetch-depth: 0` under `with:` of actions/checkout"),
        )
    ],
    "submodule-lacks-commit": [
        (
            c.SubmoduleLacksCommit("libs/a", "a" * 40, "not found"),
            ("submodule libs/a lacks aaaaaaaaaaaa, which cannot be fetched (not found): add `submodules: recursive` and "
            "`fetch-depth: 0` under `with:` of actions/checkout"),
        )
    ],
    "pointers-checked-out": [
        (
            c.PointersCheckedOut(("a.bin", "b.bin"), 2),
            ("a.bin, b.bin and 2 more are Git LFS pointers, not the content, on both sides: add `lfs: true` "
            "under `with:` of actions/checkout"),
        ),
        (
            c.PointersCheckedOut(("a.bin",), 0),
            ("a.bin is a Git LFS pointer, not the content, on both sides: add `lfs: true` under `with:` of "
            "actions/checkout"),
        ),
    ],
    "lfs-not-fetched": [
        (c.LfsNotFetched("timed out"), "base's Git LFS files cannot be fetched (timed out)")
    ],
    "token-left": [
        (
            c.TokenLeft(".git/config"),
            ("a token for the repository is in .git/config, where the benchmarks can read it: add "
            "`persist-credentials: false` under `with:` of actions/checkout"),
        )
    ],
    "checkout-changed": [
        (
            c.CheckoutChanged(("a", "b"), 1),
            ("the checkout has changes that are not in its commit (a, b and 1 more), so they are not measured: "
            "make what benchmarks need in [build], or link it with `share`"),
        )
    ],
    "more-warnings": [
        (c.MoreWarnings(1), "and 1 more warning"),
        (c.MoreWarnings(690), "and 690 more warnings"),
    ],
    # --- study
    "on-one-side": [(y.OnOneSide("b"), "b is on one side only: it is not measured")],
    "response-undeclared": [
        (y.ResponseUndeclared("x", ("a", "b")), "study.responses: no benchmark declares x, only a, b")
    ],
    "factor-unused": [
        (
            y.FactorUnused("fast-path", "PERFGATE_FACTOR_FAST_PATH"),
            (
                "fast-path: no command has {fast-path}, so it changes nothing unless a program reads "
                "PERFGATE_FACTOR_FAST_PATH"
            ),
        )
    ],
    "one-replicate": [
        (
            y.OneReplicate(),
            ("study.replicates = 1: each treatment is measured once, so the noise shows only in "
            "interactions that the model leaves out; set study.replicates = 3 or more to measure it"),
        )
    ],
    "replicates-added": [
        (
            y.ReplicatesAdded(5, 8),
            ("replicates were added after the study had begun (5 planned, now 8): if its first results were the reason, "
            "claims are wrong more often than the p values say"),
        )
    ],
    "built-once": [
        (
            y.BuiltOnce(("opt", "lto")),
            ("opt and lto: differs between builds, and each setting is built once: its effect cannot be separated from the "
            "luck of one build; set study.builds = 5"),
        )
    ],
    "one-session-each": [
        (
            y.OneSessionEach(("load",)),
            ("load: a setting is measured in one session only: its effect cannot be separated from that session's; measure two "
            "sessions for each setting"),
        )
    ],
}  # fmt: skip
KINDS = get_args(AnyWarning)
EACH = [(kind, *example) for kind, examples in EXAMPLES.items() for example in examples]


def test_every_kind_has_an_example_under_its_stable_name() -> None:
    assert {kind: next(type(warning) for warning, _ in examples) for kind, examples in EXAMPLES.items()} == {
        kind.__struct_config__.tag: kind for kind in KINDS
    }


def test_every_kind_has_a_sentence() -> None:
    assert [warning.sentence() for _, warning, _ in EACH] == [sentence for *_, sentence in EACH]


def test_a_warning_comes_back_from_a_file_as_it_was() -> None:
    for kind, warning, _ in EACH:
        written = msgspec.json.encode(warning)
        assert msgspec.json.decode(written)["kind"] == kind
        assert msgspec.json.decode(written, type=AnyWarning) == warning
        # equal warnings are told once
        assert len({warning, msgspec.json.decode(written, type=AnyWarning)}) == 1


def test_only_a_text_from_elsewhere_has_a_text() -> None:
    # report.json puts the sentence there
    assert [kind for kind in KINDS if "text" in kind.__struct_fields__] == [Said]


def test_texts_of_another_program_are_taken_for_what_they_are() -> None:
    assert typed(["old", m.TwoSessions()]) == [Said("old"), m.TwoSessions()]
    assert [each.sentence() for each in typed(["old"])] == ["old"]


@pytest.fixture
def nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is "blah" and its kind's number: nothing in it can be read."""
    monkeypatch.setattr(Base, "sentence", lambda self: f"blah {KINDS.index(type(self))}.")


def shape(report: Report) -> list[object]:
    """How many warnings stand where, and in which order."""
    told = [each.sentence() for each in report.warnings]
    weighed = weigh(report.warnings, 5)
    page = page_of(report, Material())
    return [
        [told.index(each) for each in weighed.shown],
        [told.index(each) for each in weighed.rest],
        [told.index(each) for each in page.host_warnings],
        [len(row.notes) for row in page.rows],
    ]


def every_warning() -> Report:
    return examples.report(
        "pass",
        [examples.finding("lex", warnings=[kind[0][0] for kind in EXAMPLES.values()])],
        warnings=[kind[0][0] for kind in EXAMPLES.values()],
    )


def test_order_and_place_do_not_depend_on_words(request: pytest.FixtureRequest) -> None:
    report = every_warning()
    before = shape(report)
    request.getfixturevalue("nonsense")
    assert shape(report) == before


def test_what_is_for_experts_is_shown_on_demand(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("nonsense")
    pair: list[AnyWarning] = [e.NormalTail(5, 5), e.Drift(0.1, "s")]
    report = examples.report("pass", [examples.finding("lex", warnings=pair)])
    short, every = (plain_text.render(report, every=each) for each in (False, True))
    assert [each.sentence() in every for each in pair] == [True, True]
    assert [each.sentence() in short for each in pair] == [False, True]


@pytest.mark.parametrize("written", [comment.render, summary.render, junit.render], ids=["comment", "summary", "junit"])
def test_what_is_for_experts_is_in_the_details_of_the_page_alone(written: Callable[[Report], str]) -> None:
    pair: list[AnyWarning] = [e.NormalTail(5, 5), e.Drift(0.1, "s")]
    report = examples.report("regression", [examples.finding("lex", warnings=pair)])
    assert [each in written(report) for each in ("normally distributed", "host drift")] == [False, True]
    page = html.render(report, Material())
    assert "normally distributed" in page[page.index('id="details"') :]
    assert "normally distributed" not in page[: page.index('id="details"')]
    assert "1 warning<" in page


def test_report_json_gives_every_warning_back() -> None:
    every: list[AnyWarning] = [warning for _, warning, _ in EACH]
    report = examples.report("pass", [examples.finding("lex", warnings=every)], warnings=every)
    assert report_json.read(report_json.render(report)).warnings == every


def test_report_json_has_every_sentence_beside_its_numbers() -> None:
    report = every_warning()
    tables = msgspec.json.decode(report_json.render(report))
    for found in (tables["warnings"], tables["findings"][0]["warnings"]):
        assert [(each["kind"], each["text"]) for each in found] == [
            (kind, sentence) for kind, ((_, sentence), *_) in EXAMPLES.items()
        ]
    assert report_json.read(report_json.render(report)).warnings == report.warnings
