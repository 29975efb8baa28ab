"""Every benchmark of head by its real instrument, once or twice, each within its share of a minute."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import msgspec
import numpy as np

from gate.commands.try_.result import Case, Tried
from gate.config.rules import FIRST_STARTS, better_of, goes_by_starts, is_decided, is_single, metric_rules
from gate.config.types import Benchmark, Config
from gate.model import SIDES, Execution
from gate.model.directions import told_or_known
from gate.run.workshop import Workshop
from gate.stats.centers import noise_of_one
from gate.store.learning import costs_of
from harness.instruments.declaration import declared
from harness.loop.execution import Executed, Executions
from harness.loop.schedule import ExecutionStep
from harness.process.budget import Budget, BudgetEndedError

_NOTHING = re.compile(r"$^")
_LISTS = {
    "asv": ("--list", re.compile(r"(\S.*)")),
    "criterion": ("--list", re.compile(r"(.+): bench(?:mark)?")),
    "google-benchmark": ("--benchmark_list_tests=true", re.compile(r"(\S.*)")),
    "go": ("-test.list=^Benchmark", re.compile(r"(Benchmark\w*)")),
    "jmh": ("-l", re.compile(r"([\w$]+(?:\.[\w$]+)+)")),
    "libtest": ("--list", re.compile(r"(.+): bench(?:mark)?")),
}
"""By instrument or format: the option with which a suite lists its benchmarks, and what a line of that list is."""
_TO_LIST = 15.0
SECONDS = 60.0
"""For all benchmarks together."""
_LONGEST = 180.0
"""For the first start of each, where the budget holds as many such starts as a regression needs."""
_MOST_ITERATIONS = 5
"""Of what does not go start by start, which has as many as are made before the others are counted."""
_FEWEST_ITERATIONS = 2
_AGAIN = 4
"""Further executions of what does not go start by start: the values of one are alike, and executions differ."""
_PART = 0.5
"""Of a share that they may take with what came before them, beyond the first."""
_ROOM = 0.8
"""Of what is left of a share that a second execution may be expected to take."""
_IN_TIME = 0.5
"""Of the budget, the starts that a regression and its proof take of a program that is ended early: hosts get slower."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One execution that gave values. asked: how many, with the warm-up."""

    asked: int
    executed: Executed

    @property
    def given(self) -> int:
        """How many values came at least of each case: a tool may have a least number of its own, as Criterion has."""
        firsts = (next(iter(each.metrics.values()), None) for each in self.executed.executions)
        return min((len(first.values) for first in firsts if first is not None), default=0)


def each_tried(
    made: Workshop,
    begin: Callable[[str, int, int, float], None],
    slower: float = 1.0,
    seconds: float = SECONDS,
    patience: float = math.inf,
) -> Iterator[Tried]:
    """Execute each benchmark of head that the first round has; give what came out.

    Args:
        made: what executes.
        begin: called before each, with its name, its number, how many there are, and the seconds that it may take.
        slower: how much longer everything may take on this host now.
        seconds: for all benchmarks together, where nothing is slower.
        patience: seconds that a first start may take to be made again, and that of a program to end, however slow.
            Twice as long is waited for more of them.

    Raises:
        OSError: perfgate's own files cannot be written.
    """
    head = {b.name: b for b in made.job.project.settings.sides["head"].benchmark}
    steps: dict[str, ExecutionStep] = {}
    for step in made.job.rounds[0].executions:
        if step.side == "head":
            steps.setdefault(step.benchmark, step)
    directory = made.builder.directory("head")
    # in the order of the file, not of chance
    names = [name for name in head if name in steps]
    whole = Budget(seconds * slower)
    rules = made.job.project.settings.rules
    # of what takes longer a budget does not hold the builds that a regression needs
    longest = min(float(rules.plan.budget) / (2 * rules.gate.min_builds), _LONGEST) / max(len(names), 1) * slower
    for number, name in enumerate(names):
        share = whole.left / (len(names) - number)
        # a suite that lists its cases, or tells one by one, lets some be chosen instead
        tells = head[name].instrument in {*_LISTS, "pyperf"} or head[name].format is not None
        single = head[name].service is None and not tells
        first = min(max(share, longest), patience) if single else share
        begin(name, number + 1, len(names), first)
        yield _One(made, head[name], steps[name], directory, Budget(share), Budget(first), slower, patience).tried()


@dataclass(frozen=True, slots=True)
class _One:
    """One benchmark that is tried, within a share of the time; first: what its first start may take.

    slower, patience: as for each_tried.
    """

    made: Workshop
    benchmark: Benchmark
    step: ExecutionStep
    directory: Path
    share: Budget
    first: Budget
    slower: float = 1.0
    patience: float = math.inf

    @property
    def rules(self) -> Config:
        return self.made.job.project.settings.rules

    def tried(self) -> Tried:
        """Execute it: with one iteration, and then with a few if there is time for them."""
        wanted = self.rules.plan.iterations
        single = is_single(self.rules, self.benchmark.name)
        ran: list[Ran] = []
        try:
            first = self._execute(1, self.first)
        except BudgetEndedError as ended:
            in_service = ended.phase == "service"
            starts = 1 if single or in_service or not self._starts else wanted + _warmup(self.benchmark)
            limit = self.first.limit
            names = () if in_service else self._names()
            cases = tuple(case for each in ended.so_far if not in_service for case in cases_of(each, self.rules))
            return self._with(
                longer_than=limit, names=names, in_service=in_service, execution=limit * starts, cases=cases
            )
        ran.append(first)
        hurried = first.executed.seconds > self.patience
        once = single or hurried
        if first.executed.cut:
            cases = tuple(case for each in first.executed.executions for case in cases_of(each, self.rules))
            return self._with(cases=cases, longer_than=self._wanted, execution=first.executed.seconds)
        # a second execution has as many iterations as fit; a single one would show no spread
        warmup = 0 if self._starts else _warmup(self.benchmark)
        room = min(self.share.left, 2 * self.patience)
        fits = int(_ROOM * room / max(first.executed.seconds, 1e-3)) - warmup
        most = FIRST_STARTS if self._by_starts else min(_MOST_ITERATIONS, wanted)
        more = min(fits, max(most, _FEWEST_ITERATIONS))
        if more >= _FEWEST_ITERATIONS and not once and first.executed.executions and not first.executed.failures:
            with suppress(BudgetEndedError):
                second = self._execute(more)
                # what was ended early has some of its cases only
                ran += [] if second.executed.cut else [second]
        again = [] if once else self._again(ran[-1])
        last = ran[-1].executed
        asked = 1 if single else wanted + _warmup(self.benchmark)
        # of one that took long, most is what it takes with any number of values
        took = first.executed.seconds if hurried else planned_seconds(ran, asked)
        seconds = took if last.executions else None
        each = 0.0
        # more than was asked for: the tool decides how many
        if self._by_starts and len(ran) > 1 and not last.failures:
            each = seconds_of_a_start(ran)
        elif seconds is not None and not once and ran[-1].given <= ran[-1].asked:
            each = seconds - planned_seconds(ran, asked - 1)
        failures = tuple(msgspec.structs.replace(failure, directory=None) for failure in last.failures)
        own = [case for each in last.executions for case in cases_of(each, self.rules)]
        cases = _together(own, again, self.rules)
        return self._with(cases=cases, failures=failures, execution=seconds, iteration=each, hurried=hurried)

    def _names(self) -> tuple[str, ...]:
        """Ask a suite what it would run, which takes no time; nothing where it cannot tell."""
        option, line = _LISTS.get(self.benchmark.format or self.benchmark.instrument, ("", _NOTHING))
        if not option:
            return ()
        own = self.benchmark.command
        command = f"{own} {option}" if isinstance(own, str) else [*own, option]
        asked = msgspec.structs.replace(self.benchmark, command=command, include=["*"], exclude=[])
        limit = _TO_LIST * self.slower
        executions = self.made.executions(1, Budget(limit))
        with tempfile.TemporaryDirectory() as folder:
            printed = Path(folder, "names")
            try:
                executions.run_unmeasured(asked, self.step, self.directory, printed=printed, seconds=limit)
                told = printed.read_text(encoding="utf-8", errors="replace")
            except (BudgetEndedError, OSError):
                return ()
            finally:
                executions.end_round()
        return tuple(match[1] for each in told.splitlines() if (match := line.fullmatch(each.strip())))

    def _again(self, last: Ran) -> list[Execution]:
        """Execute again what shows no spread, or not that of executions, as far as there is time."""
        made: list[Execution] = []
        if (last.given != 1 and self._by_starts) or last.executed.failures:
            return made
        iterations = last.asked - (0 if self._starts else _warmup(self.benchmark))
        # one shows a spread, and more are worth a part of the time; a host that others use gives no more time for them
        kept = self.share.limit * (1 - _PART / self.slower)
        for number in range(_AGAIN):
            if last.executed.seconds > _ROOM * (self.share.left - (kept if number else 0.0)):
                break
            try:
                found = self._execute(iterations).executed
            except BudgetEndedError:
                break
            if found.failures or found.cut:
                break
            made += found.executions
        return made

    @property
    def _starts(self) -> bool:
        """Whether each iteration is a start of the command: the first execution is the warm-up of the second."""
        return declared(self.benchmark.instrument).any_command

    @property
    def _by_starts(self) -> bool:
        """Whether a check makes its starts by turns."""
        return goes_by_starts(self.rules, self.benchmark.name)

    @property
    def _wanted(self) -> float:
        """Return the seconds after which the results that a program has printed are enough: a run has room for them.

        That is one start a side of each build that a regression needs, and one of each side for the proof.
        """
        rules = self.rules
        return _IN_TIME * float(rules.plan.budget) / (len(SIDES) * (rules.gate.min_builds + 1)) / len(rules.benchmark)

    def _with(self, **found: Any) -> Tried:
        return Tried(benchmark=self.benchmark.name, instrument=self.benchmark.instrument, **found)

    def _execute(self, iterations: int, within: Budget | None = None) -> Ran:
        benchmark = self.benchmark
        if self._starts:
            benchmark = msgspec.structs.replace(benchmark, warmup=0)
        executions: Executions = self.made.executions(iterations, within or self.share)
        try:
            executed = executions.make(benchmark, self.step, self.directory, within=self._wanted)
        except BudgetEndedError as ended:
            ended.so_far = executions.so_far()
            raise
        finally:
            executions.end_round()
        return Ran(iterations + _warmup(benchmark), executed)


def _warmup(benchmark: Benchmark) -> int:
    return benchmark.warmup if benchmark.warmup != "auto" else 0


def cases_of(execution: Execution, rules: Config) -> list[Case]:
    """Return the cases of an execution.

    Of what turns decide by a sharper view, the view counts: it settles a benchmark (docs/method.md, views).
    """
    metrics = execution.metrics.items()
    sharp = {name: metric.view_of for name, metric in metrics if rules.study is None and metric.sharp}
    cases = []
    for name, metric in metrics:
        benchmark, mean = execution.benchmark, fmean(metric.values)
        own = metric_rules(rules, benchmark, name)
        better = better_of(rules, benchmark, name) or told_or_known(metric.better, name, metric.unit)
        typical = name in sharp and goes_by_starts(rules, benchmark)
        judged = better is not None and is_decided(rules, benchmark, name, metric.view_of, sharp=name in sharp)
        cases.append(
            Case(
                benchmark=benchmark,
                metric=name,
                unit=metric.unit,
                mean=mean,
                spread=stdev(metric.values) / abs(mean) if len(metric.values) > 1 and mean else None,
                start=noise_of_one(np.array(metric.values)) if typical else None,
                values=len(metric.values),
                decided=judged,
                exact=is_single(rules, benchmark) if own.exact is None else own.exact,
                better=better or "lower",
            )
        )
    settled = {sharp[case.metric] for case in cases if case.decided and case.metric in sharp}
    return [msgspec.structs.replace(case, decided=case.decided and case.metric not in settled) for case in cases]


def _together(cases: Sequence[Case], again: Sequence[Execution], rules: Config) -> tuple[Case, ...]:
    """Return the cases of one execution with the values of further ones, where there are any."""
    more = [case for each in again for case in cases_of(each, rules)]
    found = []
    for case in cases:
        means = [case.mean, *(m.mean for m in more if (m.benchmark, m.metric) == (case.benchmark, case.metric))]
        if len(means) > 1:
            mean = fmean(means)
            # of neighbours, as base's and head's will be: what drifts from one to the next is in both
            apart = [(after - before) ** 2 for before, after in pairwise(means)]
            spread = math.sqrt(fmean(apart) / 2) / abs(mean) if mean else None
            count = len(means)
            if case.values > 1:
                case = msgspec.structs.replace(case, start=spread, values=case.values * count, executions=count)
            else:
                case = msgspec.structs.replace(case, mean=mean, spread=spread, values=count, executions=count)
        found.append(case)
    return tuple(found)


def seconds_of_a_start(ran: Sequence[Ran]) -> float:
    """Return what each start takes that one process makes by turns: what a further one added, with what is around it.

    Args:
        ran: an execution of one start, and one of several.
    """
    first, last = ran[0], ran[-1]
    added = (last.executed.seconds - first.executed.seconds) / (last.asked - first.asked)
    cost = next(iter(costs_of(last.executed.executions).values()), None)
    own = cost.iteration if cost is not None and cost.iteration is not None else 0.0
    return min(max(added, own), last.executed.seconds / last.asked)


def planned_seconds(ran: Sequence[Ran], wanted: int) -> float:
    """Return the seconds of one execution that is asked for so many values, about.

    Args:
        ran: the executions that were made, the last one with most values.
        wanted: the values of an execution of the plan, its warm-up among them.
    """
    last = ran[-1]
    executions = last.executed.executions
    if last.given > last.asked:
        return last.executed.seconds * max(1.0, wanted / last.given)
    if len(executions) == 1:
        # the values of a time say what an iteration takes; the rest is the start
        cost = next(iter(costs_of(executions).values()))
        if cost.start is not None and cost.iteration is not None:
            return cost.start + wanted * cost.iteration
    if len(ran) > 1 and last.asked > ran[0].asked:
        # a program may take as long however many values it is asked for, and the first start may have filled caches
        each = (last.executed.seconds - ran[0].executed.seconds) / (last.asked - ran[0].asked)
        each = min(max(each, 0.0), last.executed.seconds / last.asked)
        return last.executed.seconds + (wanted - last.asked) * each
    return last.executed.seconds * wanted / last.asked
