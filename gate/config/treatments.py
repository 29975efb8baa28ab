"""The treatments of a design, and what each gives to benchmarks, builds and jobs: pure functions of [study]."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gate.config.commands import extended as with_words
from gate.config.commands import filled, mentions, replaced
from gate.config.fractions import fraction_of
from gate.config.study import FactorTable, Setting, SettingTable, Study
from gate.config.types import Benchmark, BuildTable, Config
from gate.model import Side

if TYPE_CHECKING:
    from gate.model.study import Factor, Varies

SIDE = "side"
"""The factor that is the side measured, not something that a setting gives."""
MOST_TREATMENTS = 10_000
_USUAL_BUILDS = 5

Runner = str | list[str]


@dataclass(frozen=True, slots=True)
class PlannedTreatment:
    """A treatment that is to be measured.

    number: its place in standard order (the last factor changes fastest), from 0. side: "head" where side is no factor.
    settings: of every factor but side, in the order of the factors. building: those of them that a build depends on.
    fold: its block; 1 in the second half of a fraction that is folded over.
    """

    number: int
    side: Side
    settings: Mapping[str, Setting]
    building: Mapping[str, Setting]
    fold: int = 0


@dataclass(frozen=True, slots=True)
class StudyJob:
    """One job of a study that is measured by several: a session on a runner.

    session: its number, of so many `sessions`. runner: its label or labels; None: any. treatments: how many there.
    """

    session: int
    sessions: int
    runner: Runner | None
    treatments: int


def treatments(study: Study, build: BuildTable, *others: BuildTable) -> tuple[PlannedTreatment, ...]:
    """Return the treatments of a design in standard order: all combinations or those listed, less the excluded ones.

    build, others: the [build] of the sides; what any of them names is what builds depend on.
    """
    built = _built(study, (build, *others))
    fraction = fraction_of(study)
    second: set[tuple[Setting, ...]] = set()
    if fraction is not None and fraction.fold:
        lists = [settings_of(study.factor[name]) for name in fraction.factors]
        runs = fraction.blocks()[1]
        second = {tuple(own[code] for own, code in zip(lists, run, strict=True)) for run in runs}
    return tuple(
        PlannedTreatment(
            number=number,
            side="base" if settings.get(SIDE) == "base" else "head",
            settings={name: setting for name, setting in settings.items() if name != SIDE},
            building={name: setting for name, setting in settings.items() if name in built},
            fold=int(fraction is not None and tuple(settings[name] for name in fraction.factors) in second),
        )
        for number, settings in enumerate(combinations(study))
    )


def combinations(study: Study) -> list[dict[str, Setting]]:
    """Return the settings of each treatment, side among them, in standard order."""
    factors = {name: settings_of(table) for name, table in study.factor.items()}
    fraction = fraction_of(study)
    if fraction is not None:
        place = {name: number for number, name in enumerate(fraction.factors)}
        # a factor of the fraction has one setting in a run, any other all of them
        choices = (
            [[run[place[name]]] if name in place else range(len(own)) for name, own in factors.items()]
            for block in fraction.blocks()
            for run in block
        )
        codes = sorted(each for own in choices for each in itertools.product(*own))
        found: Iterable[tuple[Setting, ...]] = (
            tuple(own[code] for own, code in zip(factors.values(), each, strict=True)) for each in codes
        )
    elif study.treatments is None:
        found = itertools.product(*factors.values())
    else:
        places = [[settings.index(each[name]) for name, settings in factors.items()] for each in study.treatments]
        found = (
            tuple(settings[i] for i, settings in zip(place, factors.values(), strict=True)) for place in sorted(places)
        )
    named = (dict(zip(factors, settings, strict=True)) for settings in found)
    return [each for each in named if not any(partial.items() <= each.items() for partial in study.exclude)]


def settings_of(table: FactorTable) -> list[Setting]:
    """Return the settings of a factor, from low to high."""
    return list(table)


def setting_table(study: Study, factor: str, setting: Setting) -> SettingTable:
    """Return what a setting gives; a plain one gives its value."""
    table = study.factor[factor]
    return table[str(setting)] if isinstance(table, dict) else SettingTable(value=setting)


def text_of(study: Study, factor: str, setting: Setting) -> str:
    """Return what {factor} stands for at a setting."""
    value = setting_table(study, factor, setting).value
    return str(setting if value is None else value)


def variable(factor: str) -> str:
    """Name the environment variable that gives a program the setting of a factor."""
    return "PERFGATE_FACTOR_" + re.sub(r"[^A-Z0-9]", "_", factor.upper())


def builds_of(study: Study) -> int:
    """Return the rounds of a study."""
    return study.builds if study.builds is not None else min(study.replicates, _USUAL_BUILDS)


def model_factors(study: Study, build: BuildTable, *others: BuildTable) -> list[Factor]:
    """Return the factors as the analysis has them; `build` and `others` as in `treatments`."""
    from gate.model.study import Factor  # late: most commands have no study

    built = _built(study, (build, *others))

    def varies(name: str, table: FactorTable) -> Varies:
        tables = table.values() if isinstance(table, dict) else ()
        if any(each.runner is not None or each.session is not None for each in tables):
            return "session"
        return "build" if name in built or name == SIDE else "execution"

    return [
        Factor(name=name, settings=settings_of(table), varies=varies(name, table))
        for name, table in study.factor.items()
    ]


def _built(study: Study, builds: Iterable[BuildTable]) -> frozenset[str]:
    """Return the factors that builds depend on."""
    commands = [build.command for build in builds]
    return frozenset(
        name
        for name, table in study.factor.items()
        if name != SIDE
        and (
            any(mentions(command, name) for command in commands)
            or (isinstance(table, dict) and any(each.build_env for each in table.values()))
        )
    )


def applied(benchmark: Benchmark, study: Study, planned: PlannedTreatment) -> Benchmark:
    """Return a benchmark as it is at a treatment, for any instrument to run.

    {factor} is replaced in its command and in those of its service and load. The prefixes and arguments of several
    factors follow each other in the order of the factors, the first one outermost.
    """
    tables = [setting_table(study, name, setting) for name, setting in planned.settings.items()]
    values = _values(study, planned.settings)
    own = {
        key: given[-1]
        for key in ("service", "load", "cpus")
        if (given := [getattr(table, key) for table in tables if getattr(table, key) is not None])
    }
    at = _with_values(msgspec.structs.replace(benchmark, **own), values)
    prefix = [replaced(word, values) for table in tables for word in table.prefix]
    args = [replaced(word, values) for table in tables for word in table.args]
    return msgspec.structs.replace(at, command=with_words(at.command, prefix, args))


def environment(study: Study, planned: PlannedTreatment) -> dict[str, str]:
    """Return what a treatment adds to the environment of executions, and PERFGATE_FACTOR_* with what {factor} is."""
    added: dict[str, str] = {}
    for name, setting in planned.settings.items():
        added |= setting_table(study, name, setting).env
    return added | _variables(study, planned.settings)


def build_environment(study: Study, building: Mapping[str, Setting]) -> dict[str, str]:
    """Return what settings add to the environment of the [build] command, and their PERFGATE_FACTOR_*."""
    added: dict[str, str] = {}
    for name, setting in building.items():
        added |= setting_table(study, name, setting).build_env
    return added | _variables(study, building)


def build_command(build: BuildTable, study: Study, building: Mapping[str, Setting]) -> BuildTable:
    """Return [build] with {factor} replaced in its command."""
    return _built_with(build, _values(study, building))


def baseline(config: Config) -> Config:
    """Return a config to be measured outside a study: in commands each {factor} is what its first setting is.

    What else a setting gives (prefix, env, load, ...) is left out.
    """
    if config.study is None:
        return config
    first = {name: settings_of(table)[0] for name, table in config.study.factor.items() if name != SIDE}
    values = _values(config.study, first)
    return msgspec.structs.replace(
        config,
        build=_built_with(config.build, values),
        benchmark=[_with_values(benchmark, values) for benchmark in config.benchmark],
    )


def _values(study: Study, settings: Mapping[str, Setting]) -> dict[str, str]:
    return {name: text_of(study, name, setting) for name, setting in settings.items()}


def _variables(study: Study, settings: Mapping[str, Setting]) -> dict[str, str]:
    return {variable(name): value for name, value in _values(study, settings).items()}


def _built_with(build: BuildTable, values: Mapping[str, str]) -> BuildTable:
    if build.command is None:
        return build
    relink = build.relink if build.relink in ("auto", "off") else filled(build.relink, values)
    return msgspec.structs.replace(build, command=filled(build.command, values), relink=relink)


def _with_values(benchmark: Benchmark, values: Mapping[str, str]) -> Benchmark:
    service, load = benchmark.service, benchmark.load
    if service is not None:
        ready = None if service.ready is None else replaced(service.ready, values)
        service = msgspec.structs.replace(service, command=filled(service.command, values), ready=ready)
    return msgspec.structs.replace(
        benchmark,
        command=filled(benchmark.command, values),
        prepare=filled(benchmark.prepare, values) if benchmark.prepare else None,
        cleanup=filled(benchmark.cleanup, values) if benchmark.cleanup else None,
        service=service,
        load=load and msgspec.structs.replace(load, command=filled(load.command, values)),
    )


def measured_by(
    study: Study, planned: Sequence[PlannedTreatment], session: int | None, runner: str | None
) -> tuple[PlannedTreatment, ...]:
    """Return the treatments that a job measures: those not bound to another session or runner.

    session: its number; None: there is one, which is 0. runner: its label, several as "self-hosted,core2"; None: none
    is known, so what is bound to one is not measured.
    """
    labels = None if runner is None else labels_of(runner)

    def here(table: SettingTable) -> bool:
        bound = sessions_of(table)
        return (table.runner is None or labels_of(table.runner) == labels) and (not bound or (session or 0) in bound)

    return tuple(each for each in planned if all(here(setting_table(study, *own)) for own in each.settings.items()))


def labels_of(runner: Runner) -> tuple[str, ...]:
    """Return the labels of a runner, of text those between commas."""
    labels = runner.split(",") if isinstance(runner, str) else runner
    return tuple(label.strip() for label in labels)


def sessions_of(table: SettingTable) -> tuple[int, ...]:
    """Return the sessions that a setting is bound to; none: any."""
    bound = table.session
    return () if bound is None else (bound,) if isinstance(bound, int) else tuple(bound)


def _tables(study: Study) -> list[SettingTable]:
    return [table for each in study.factor.values() if isinstance(each, dict) for table in each.values()]


def bound_sessions(study: Study) -> int:
    """Count the sessions that factors name: one more than the last of them; 0 where none is named."""
    return max((number + 1 for table in _tables(study) for number in sessions_of(table)), default=0)


def bound_runners(study: Study) -> list[str]:
    """Name the runners that factors name, in their order, each as the option --runner has it."""
    return list(dict.fromkeys(",".join(labels_of(each.runner)) for each in _tables(study) if each.runner is not None))


def runner_of(study: Study, planned: PlannedTreatment) -> Runner | None:
    """Return the runner that a treatment is bound to."""
    tables = (setting_table(study, name, setting) for name, setting in planned.settings.items())
    return next((table.runner for table in tables if table.runner is not None), None)


def jobs(study: Study, planned: Sequence[PlannedTreatment], sessions: int) -> list[StudyJob]:
    """Lay a study on jobs: so many sessions on each runner that settings name, and those that they are bound to.

    Sessions of different runners have different numbers, unless settings are bound to numbers. A job that would measure
    nothing is left out.
    """
    runners = {None if (runner := runner_of(study, each)) is None else labels_of(runner): runner for each in planned}
    bound = bound_sessions(study)
    each_runner = max(sessions, bound)
    apart = 0 if bound else each_runner
    last = apart * (len(runners) - 1) + each_runner
    found = []
    for place, (labels, runner) in enumerate(runners.items()):
        for session in range(place * apart, place * apart + each_runner):
            name = None if labels is None else ",".join(labels)
            if count := len(measured_by(study, planned, session, name)):
                found.append(StudyJob(session, last, runner, count))
    return found


def spread(replicates: int, rounds: int) -> tuple[int, ...]:
    """Return the replicates of each round, as even as possible, the first rounds having one more."""
    rounds = min(rounds, replicates)
    return tuple(replicates // rounds + (number < replicates % rounds) for number in range(rounds))


def shares_of(study: Study) -> tuple[int, ...]:
    """Return the replicates of each round of a study that has not begun."""
    return spread(study.replicates, builds_of(study))
