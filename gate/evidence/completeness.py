"""Completeness of a run: benchmarks that are missing or new, at which settings, rounds and builds that are too few."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from gate.config.rules import (
    FIXED_BUILDS,
    benchmark_rules,
    executions_of,
    goes_by_starts,
    is_counted,
    is_decided,
    is_single,
    matches,
    named_metrics,
)
from gate.config.study import FactorTable
from gate.config.types import Builds, Config
from gate.evidence.lines import Located
from gate.evidence.runs import ShardFiles
from gate.model import (
    SIDES,
    UNBUILT,
    Build,
    Case,
    Execution,
    Failure,
    HostState,
    Look,
    Record,
    RoundsDone,
    Run,
    Same,
    Side,
    Turn,
)
from gate.model.case import CaseId, canonical, pairs
from gate.model.warnings import AnyWarning
from gate.model.warnings import measured as warn
from gate.model.warnings.base import Said
from gate.model.warnings.setup import NothingToCompare
from gate.writing.phrases import joined, listed
from gate.writing.units import plural


def presence(
    executions: Sequence[Execution], failures: Sequence[Failure], run: Run | None, select: Sequence[str], *,
    begun: bool = True, identical: Sequence[Same] = (), absent: Mapping[Side, Collection[str]],
) -> tuple[list[str], list[Failure]]:  # fmt: skip
    """Compare what the run expects of each side with what was measured; what failed is not missing too.

    Of a benchmark that failed at some settings only, the others are missing where a side lacks it.

    begun: false where the budget ended before anything could give values. identical: what needs
    no values. absent: suites that a side does not have.

    Returns the benchmarks that head alone has, and a failure for each that is missing.
    """
    measured: dict[Side, set[str]] = {side: {e.benchmark for e in executions if e.side == side} for side in SIDES}
    suites = {e.benchmark: e.suite for e in executions if e.suite is not None}
    # a suite stands for what it names, which is known only by what it measured
    names, known = run.benchmarks if run and run.benchmarks else {}, set(suites.values())
    expected: dict[Side, dict[str, None]] = {}
    for side in SIDES:
        wanted = [n for n in names.get(side, []) if n not in known and n not in absent[side]]
        selected = [n for n in wanted if not select or any(matches(g, n) for g in select)]
        expected[side] = dict.fromkeys([*selected, *sorted(measured[side].difference(selected))])
    failed, proved = failed_at(failures), {same.benchmark for same in identical}
    named = {f.benchmark for f in failures}
    build_failed = any(f.kind in (*UNBUILT, "tree", "lock") for f in failures)
    # where nothing is compared, that head itself runs is all that is shown
    alone = run is not None and any(isinstance(warning, NothingToCompare) for warning in run.warnings)
    missing: list[Failure] = []
    for name in expected["base"] | expected["head"]:
        lacking = [side for side in SIDES if name in expected[side] and name not in measured[side]]
        gone = name not in expected["head"]
        if name in proved or (name not in expected["base"] and not alone):
            continue
        if not gone and not (lacking and begun and not build_failed):
            continue
        at: list[dict[str, Any]] = [{}]
        if name in named or suites.get(name) in named:
            every = {canonical(e.factors): e.factors for e in executions if e.benchmark == name}
            at = [own for own in every.values() if not failed(name, own, suites.get(name))]
        side = "head" if gone else lacking[0]
        status = "base has it, head does not" if gone else "gave no values"
        missing += [Failure(kind="missing", benchmark=name, side=side, factors=own, status=status) for own in at]
    return [name for name in expected["head"] if name not in expected["base"]], missing


def without_absent(
    failures: Sequence[Failure], executions: Sequence[Execution]
) -> tuple[list[Failure], dict[Side, set[str]]]:
    """Name the suites in which a side's tool found no benchmark, in any execution, while the other side has some.

    Returns the other failures, and these names by side.
    """
    measured: dict[Side, set[str]] = {
        side: {name for e in executions if e.side == side for name in (e.benchmark, e.suite) if name} for side in SIDES
    }
    found: dict[Side, set[str]] = {side: set() for side in SIDES}
    for f in failures:
        if f.empty and f.side is not None and f.benchmark is not None and not f.factors:
            base, head = (f.benchmark in measured[side] for side in SIDES)
            if (base, head) == (f.side != "base", f.side != "head"):
                found[f.side].add(f.benchmark)
    left = [f for f in failures if not (f.empty and f.side is not None and f.benchmark in found[f.side])]
    return left, found


_Place = tuple[str, int, int, int]


def partial_suites(executions: Sequence[Execution], measured: Config | None) -> list[Failure]:
    """Return a failure for each benchmark of a suite that one of its side's executions left out.

    A benchmark that is there today and not tomorrow would be judged by what happened to be measured.
    """
    by_suite: dict[tuple[str, Side], dict[_Place, dict[tuple[str, str], dict[str, Any]]]] = {}
    treatments: dict[str, dict[str, Any]] = {}
    treated = study_factors(measured)
    for e in executions:
        if e.suite is not None:
            # a suite's own parameters differ from line to line of one execution
            own = {name: value for name, value in e.factors.items() if name not in treated}
            treatment = {name: value for name, value in e.factors.items() if name in treated}
            treatments[canonical(treatment)] = treatment
            place = canonical(treatment), e.session, e.build, e.execution
            by_suite.setdefault((e.suite, e.side), {}).setdefault(place, {})[e.benchmark, canonical(own)] = own
    failures = []
    for (_, side), made in by_suite.items():
        for line, own in sorted({line: own for lines in made.values() for line, own in lines.items()}.items()):
            lacking = [place for place, lines in made.items() if line not in lines]
            if lacking:
                at, session, build, execution = lacking[0]
                status = f"{len(lacking)} of {plural(len(made), 'start')} of its suite left it out"
                failures.append(
                    Failure(
                        kind="execution", benchmark=line[0], side=side, session=session, build=build,
                        execution=execution, factors=treatments[at] | own, status=status,
                    )
                )  # fmt: skip
    return failures


def rounds_of(
    records: Sequence[Record],
    parts: Sequence[ShardFiles],
    run: Run | None,
    measured: Config | None,
    looks: Sequence[int],
) -> RoundsDone:
    """Count the rounds that both sides have, and those that the plan wanted; of several sessions those of all.

    parts: that the run lines among the records promise. measured: what the run was measured by; None: not known. looks:
    rounds of the looks planned; where there are looks a round is complete when it was looked at. Where there are shards
    a round is complete when it is so in each that has anything to compare.
    """
    executions = [r for r in records if isinstance(r, Execution)]
    if not executions and any(isinstance(r, Same) for r in records):
        # what needs no measuring has no rounds
        return RoundsDone(done=0, planned=None)
    if looks:
        begun = max((e.build + 1 for e in executions), default=0)
        taken = max((r.look for r in records if isinstance(r, Look)), default=0)
        if not any(isinstance(r, HostState) for r in records):
            # perfgate states its host, and looks after each round: one without was cut off. Other programs need not
            taken = max(taken, min(Counter(session for session, _ in _complete(executions)).values(), default=0))
        return RoundsDone(done=min(taken, begun), planned=looks[-1])
    by_shard: dict[int, list[Execution]] = {}
    for part in parts:
        if part.files and part.compares:
            by_shard.setdefault(part.shard, []).extend(part.executions)
    done = [_complete(own) for own in by_shard.values()] or [_complete(executions)]
    # an experiment has rounds of its own
    builds = None if is_study(measured, executions) else _planned_builds(run, measured)
    planned = builds * (run.sessions or 1) if run and builds is not None else None
    return RoundsDone(done=len(set.intersection(*done)), planned=planned)


def _complete(executions: Iterable[Execution]) -> set[tuple[int, int]]:
    """Return the rounds, by session and build, of which there is something of both sides."""
    done: dict[Side, set[tuple[int, int]]] = {side: set() for side in SIDES}
    for e in executions:
        done[e.side].add((e.session, e.build))
    return done["base"] & done["head"]


def settled_of(records: Sequence[Record]) -> dict[str, int]:
    """Give the round after which each benchmark needed no more, where a look said so."""
    settled: dict[str, int] = {}
    for record in records:
        if isinstance(record, Look):
            for name in record.settled:
                settled[name] = min(settled.get(name, record.look), record.look)
    return settled


def says(run: Run | None, table: str) -> bool:
    """Return whether a run line says a table of its config, as perfgate's own do; others may leave it out."""
    return run is not None and table in (run.config or {})


def _planned_builds(run: Run | None, measured: Config | None) -> int | None:
    """Count the rounds of the plan; None: not known, or as many as the budget holds."""
    builds = measured.plan.builds if measured is not None and says(run, "plan") else None
    if not isinstance(builds, Builds):
        return builds
    # without looks nothing ends it early
    fixed = builds.max is None and run is not None and run.looks is None
    return max(builds.min, FIXED_BUILDS) if fixed else builds.max


def round_warnings(
    rounds: RoundsDone, executions: Sequence[Execution], failures: Sequence[Failure], run: Run | None,
    measured: Config | None, config: Config, settled: Mapping[str, int], looks: Sequence[int], turns: Sequence[Turn],
) -> list[AnyWarning]:  # fmt: skip
    """Say what falls short of the plan, or of the other side, where neither a failure nor a look says why."""
    if any(f.kind in (*UNBUILT, "tree", "lock") for f in failures):
        return []
    warnings: list[AnyWarning] = []
    failed = failed_at(failures)
    counts: dict[tuple[str, str], dict[Side, int]] = defaultdict(lambda: dict.fromkeys(SIDES, 0))
    for e in executions:
        if not failed(e.benchmark, e.factors):
            counts[e.benchmark, pairs(e.factors)][e.side] += 1
    stopped_early = bool(settled) and settled.keys() >= {name for name, _ in counts}
    reached = max((look for look in looks if look <= rounds.done), default=0)
    if 0 < reached < rounds.done:
        text = f"the last interim check was after round {reached}: later rounds do not count"
        warnings.append(Said(text, "after-last-look"))
    only_new = bool(counts) and not any(min(count.values()) for count in counts.values())
    if rounds.planned is not None and rounds.done < rounds.planned and not (stopped_early or only_new):
        warnings.append(warn.RoundsShort(rounds.done, rounds.planned))
    # an experiment has its replicates, and what is bound to sessions has theirs
    alike = measured is not None and not (is_study(measured, executions) or bound_factors(measured))
    per_build = measured.plan.executions if measured is not None and alike and says(run, "plan") else 0
    for (name, at), count in counts.items():
        wanted_rounds = settled.get(name, rounds.done)
        each = 1 if is_single(config, name) else per_build
        if run is not None and run.turns and goes_by_starts(config, name):
            each = _starts(executions, name) if is_counted(config, name) else executions_of(config, name)
        own = benchmark_rules(config, name)
        each = min((turn.executions for turn in turns if own and turn.benchmark == own.name), default=each)
        wanted = max(*count.values(), each * wanted_rounds)
        if min(count.values()) and min(count.values()) < wanted:
            warnings.append(warn.ExecutionsShort(name, at, count["base"], count["head"], wanted))
    return warnings


def _starts(executions: Sequence[Execution], name: str) -> int:
    """Return the starts a side of each round, where the first starts said how many: those of the first round."""
    first = Counter((e.session, e.side) for e in executions if e.benchmark == name and e.build == 0)
    sessions = {session for session, _ in first}
    return sum(max(first[session, side] for side in SIDES) for session in sessions) // max(1, len(sessions))


def part_warnings(
    records: Sequence[Record], parts: Sequence[ShardFiles], run: Run | None, measured: Config | None, config: Config
) -> list[AnyWarning]:
    """Say which parts of several fall short of the plan, and what two sessions cannot show."""
    planned = _planned_builds(run, measured)
    short: list[str] = []
    for part in parts:
        done = len(_complete(part.executions))
        if planned is not None and part.compares and 0 < done < planned and not part.failures:
            short.append(f"{part.name} measured {done} of its {plural(planned, 'round')}")
    warnings: list[AnyWarning] = [Said(listed(short, between="; "), "parts-short", "first")] if short else []
    # these two machines are all that is asked about
    fixed = config.gate.sessions == "fixed"
    if not fixed and len({r.session for r in records if isinstance(r, Execution)}) == 2:
        little = "2 sessions: little is known about how sessions differ (1 degree of freedom), so only large changes"
        text = f"{little} can be shown; a third session narrows the intervals most"
        warnings.append(Said(text, "two-sessions"))
    return warnings


def look_warnings(looks: Sequence[int], run: Run | None, measured: Config | None, config: Config) -> list[AnyWarning]:
    """Say where the looks are not those of the plan, and where an interval takes no account of them."""
    warnings: list[AnyWarning] = []
    planned = _planned_builds(run, measured)
    if looks and planned is not None and looks[-1] < planned:
        warnings.append(warn.BudgetRounds(looks[-1], planned))
    if looks and config.gate.interval.startswith("bootstrap"):
        text = "a bootstrap interval does not correct for the interim checks of this run"
        warnings.append(Said(text, "looks-ignored"))
    return warnings


def build_warnings(builds: Sequence[Build], measured: Config | None) -> list[AnyWarning]:
    """Say where builds are byte-identical, where there is no build command, and where builds need a .git."""
    if builds and measured is not None and any(each.against for each in measured.benchmark):
        return [warn.TwoPrograms()]
    warnings: list[AnyWarning] = []
    treated: dict[str, list[Build]] = {}
    # what was found without being named may be data, which every build makes alike
    named = measured is None or measured.build.artifacts is not None
    for each in builds if named else ():
        treated.setdefault(pairs(each.factors), []).append(each)
    hashes = {at: {side: _hashes(own, side) for side in SIDES} for at, own in treated.items()}
    same = [
        f"all {plural(count, 'build')} of {side}{f' at {at}' if at else ''}"
        for at, own in treated.items()
        for side in SIDES
        if (count := sum(b.side == side for b in own)) > 1 and len(made := hashes[at][side]) == 1 and () not in made
    ]
    if same:
        first, *others = same
        alike = f"{first} are one program{''.join(f', as are {each}' for each in others)}: layout was not varied"
        advice = "several object files, -ffunction-sections with lld, or {seed} let layouts differ"
        warnings.append(Said(f"{alike} ({advice})", "identical-builds", "first"))
    of_sides = [(own["base"], own["head"]) for own in hashes.values()]
    if treated and all(base == head and len(base) == 1 and () not in base for base, head in of_sides):
        warnings.append(warn.IDENTICAL_SIDES)
    build = measured.build if builds and measured is not None else None
    if build is not None and not build.command:
        differing = joined([each for each in ("path", "environment") if each in build.perturb])
        how = f"the builds {f'differ in {differing} only' if differing else 'do not differ'}"
        if build.setup:
            how = "every build reuses the tree of the set-up, only the environment differs"
        warnings.append(Said(f"no build command: {how}", "no-build-command"))
    needing = [side for side in SIDES if any(b.needs_git for b in builds if b.side == side)]
    if needing:
        fail, them = ("build fails", "it") if len(needing) == 1 else ("builds fail", "them")
        gave = f"the {joined(needing)} {fail} without .git, so perfgate gave {them} one"
        cure = 'set git = "on" under [build] to avoid the failed build'
        warnings.append(Said(f"{gave}: {cure}", "build-needs-git", "later"))
    return warnings


def case_warnings(cases: Sequence[Case], config: Config) -> Iterator[AnyWarning]:
    """Say what is not decided of what was measured, and where a direction is all that lacks."""
    yield from _undecided_warnings(cases, config)
    # what would be decided if its direction were known
    found = [c for c in cases if c.better is None and is_decided(config, c.benchmark, c.metric, c.view_of)]
    if found:
        yield warn.UnknownDirection(
            *(tuple(dict.fromkeys(getattr(c, of) for c in found)) for of in ("metric", "benchmark"))
        )


def _undecided_warnings(cases: Sequence[Case], config: Config) -> list[Said]:
    """Name the benchmarks of which nothing is decided, which would look like passing.

    Where a direction is all that lacks, the warning that asks for it says so.
    """
    decided = {
        case.benchmark
        for case in cases
        if is_decided(config, case.benchmark, case.metric, case.view_of, sharp=case.sharp)
    }
    metrics: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.benchmark not in decided:
            metrics[case.benchmark].append(case.metric)
    by_metrics: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, own in metrics.items():
        by_metrics[tuple(dict.fromkeys(own))].append(name)

    told = []
    for measured, names in by_metrics.items():
        cure = "declare one in a `[benchmark.metric.NAME]`"
        if any(named_metrics(config, name) is not None for name in names):
            cure = "add one to `metrics` in `[plan]` or its `[[benchmark]]`"
        text = f"no metric of {listed(names)} is decided: {cure} ({', '.join(measured)})"
        told.append(Said(text, "undecided-benchmarks", "first"))
    return told


_Hashes = set[tuple[tuple[str, str], ...]]


def _hashes(builds: Sequence[Build], side: Side) -> _Hashes:
    own = [b.artifacts for b in builds if b.side == side]
    # what a benchmark reads is known only after the first build
    known = max(own, key=len, default={}).keys()
    return {tuple(sorted(each.items())) for each in own if each.keys() == known}


def slowest_round(records: Sequence[Located]) -> float | None:
    """Return the seconds that the slowest builds and the slowest executions of a round took, of one job; None: unknown.

    Of first builds, which may do what later ones need not, where they are the only ones what they say of those.
    """
    building: dict[tuple[str, int, int], float] = defaultdict(float)
    executing: dict[tuple[str, int, int], float] = defaultdict(float)
    for path, located in groupby(sorted(records, key=lambda each: each.path), key=lambda each: each.path):
        own = [each.record for each in located]
        for record in own:
            if isinstance(record, Build):
                seconds = record.seconds if record.build else record.next_build_seconds
                building[path, record.session, record.build] += seconds or 0.0
            elif isinstance(record, Execution):
                executing[path, record.session, record.build] += record.seconds or 0.0
    later = [seconds for (_, _, number), seconds in building.items() if number > 0]
    most = max(later or building.values(), default=0.0) + max(executing.values(), default=0.0)
    return most or None


# --- settings of factors, and what the rules say of them --------------------------------------------------------------


def at(of: CaseId) -> str:
    """Say at which settings a case is: ' at {"size":10}'; "" where it has none."""
    return f" at {of.factors}" if of.factors else ""


def failed_at(failures: Iterable[Failure]) -> Callable[..., bool]:
    """Return what says of a benchmark, its settings and its suite, if it is of one, whether it failed at them.

    A failure is of all settings that agree with its own: one without any is of the whole benchmark.
    """
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for failure in failures:
        if failure.benchmark is not None:
            found[failure.benchmark].append(failure.factors)

    def failed(name: str | None, factors: Mapping[str, Any], suite: str | None = None) -> bool:
        if not found:  # of many thousand executions
            return False
        own = (*found.get(name or "", ()), *found.get(suite or "", ()))
        return any(each.items() <= factors.items() for each in own)

    return failed


def study_factors(measured: Config | None) -> Mapping[str, FactorTable]:
    """Return the factors of the study that a run is of; lines may carry others, that a suite gives its benchmarks."""
    return measured.study.factor if measured is not None and measured.study is not None else {}


def bound_factors(measured: Config | None) -> frozenset[str]:
    """Return the factors of a study of which a setting belongs to some sessions or runners, so that others lack it."""
    return frozenset(
        name
        for name, table in study_factors(measured).items()
        if isinstance(table, dict) and any(of.session is not None or of.runner is not None for of in table.values())
    )


def is_study(measured: Config | None, executions: Iterable[Execution]) -> bool:
    """Return whether values are of a designed experiment, whose replicates take the place of [plan]'s counts."""
    return bool(study_factors(measured)) and any(e.factors for e in executions)
