"""Tables -> typed Config; every unknown key, wrong type and contradiction is found, each with its place."""

from __future__ import annotations

import copy
import math
import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from gate.cli.command import value_formats
from gate.config.benchmark_checks import check_benchmark, check_commands
from gate.config.commands import PLACEHOLDERS, mentions
from gate.config.config_text import ConfigText, Fault, Path, dotted
from gate.config.fractions import check_fraction, fraction_of
from gate.config.instruments import KNOWN, instrument_names, traits_of
from gate.config.rules import DETECTABLE, show_of
from gate.config.study import OF_RUNS, FactorTable, Setting, SettingTable, Study
from gate.config.treatments import (
    MOST_TREATMENTS,
    SIDE,
    baseline,
    combinations,
    labels_of,
    sessions_of,
    setting_table,
    settings_of,
    variable,
)
from gate.config.types import Benchmark, Builds, BuildTable, Config, Detectable, Gate, MetricRules, Override
from gate.config.wrong import advice, closest, example, is_struct, members_of, shown, wrong
from gate.model import SIDES
from gate.model.case import MEAN, pairs
from gate.writing.phrases import most_alike
from gate.writing.units import DIMENSIONS, Duration, Quantity, Share, plural, to_base

_CUSTOM: tuple[type[Share | Duration | Quantity], ...] = (Share, Detectable, Duration, Quantity)


def parse(source: ConfigText, *, lenient: bool = False, checked: bool = True) -> Config:
    """Turn the tables of a source into a Config.

    lenient: ignore unknown keys, for a config that another version of perfgate wrote into a measurements file. checked:
    whether keys may not contradict each other.

    Raises: ConfigError: unknown keys, wrong types or values, or keys that contradict each other: all of them.
    """
    decoder = _Decoder(lenient=lenient)
    config: Config = decoder.struct(Config, _read_on(source.tables), ())
    # what contradicts what is told of keys that are right by themselves
    if decoder.faults:
        raise source.error(*decoder.faults)
    written = source.tables.get("plan") or {}
    if {"executions", "iterations"} & set(written) and "starts" not in written:
        # who counts executions and iterations has counted starts
        plan = config.plan
        config = msgspec.structs.replace(
            config, plan=msgspec.structs.replace(plan, starts=plan.executions * plan.iterations)
        )
    if not all(b.traits is not None or b.instrument in KNOWN for b in config.benchmark):
        config = _with_traits(config, source)
    written_now = [] if lenient or not checked else check_written(config, source.tables)
    if faults := [*written_now, *(check(config) if checked else ())]:
        raise source.error(*faults)
    return config


_SHOWN = ("no-sign", "not-worse")
"""What `show` took, which `detectable` replaces."""


def of_before(tables: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give the places of the key `show`, which is read on, and the tables that have it."""
    overrides = tables.get("override")
    listed = enumerate(overrides if isinstance(overrides, list) else ())
    for path, table in ((("gate",), tables.get("gate")), *((("override", i), each) for i, each in listed)):
        if isinstance(table, dict) and table.get("show") in [*_SHOWN]:
            yield (*path, "show"), table


def _read_on(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables with `detectable` in place of `show`.

    That [gate] shows no sign is the default, of a size that depends on the metric, but where inconclusive fails.
    """
    ours = copy.deepcopy(dict(tables)) if any(of_before(tables)) else dict(tables)
    for path, table in of_before(ours):
        said = table.pop("show")
        wins = path[0] == "override" or table.get("inconclusive") == "fail"
        if said == "not-worse":
            table["detectable"] = "threshold"
        elif wins and "detectable" not in table:
            table["detectable"] = _usual_size(table, tables.get("gate"))
    return ours


def _usual_size(*tables: Any) -> str:
    """Return `detectable` as it is by default: 10%, or twice the threshold that the first table names."""
    named = (each["threshold"] for each in tables if isinstance(each, dict) and "threshold" in each)
    try:
        threshold = float(Share.parse(next(named, 0)))
    except ValueError:
        # said where the threshold is read
        threshold = 0.0
    return str(Share(max(DETECTABLE, 2 * threshold)))


def _with_traits(config: Config, source: ConfigText) -> Config:
    """Add what an instrument's own file declares, to that of an instrument that the rules do not know."""
    benchmarks, faults = [], []
    for index, benchmark in enumerate(config.benchmark):
        name = benchmark.instrument
        traits = None if name in KNOWN or benchmark.traits is not None else traits_of(name)
        if name not in KNOWN and benchmark.traits is None and traits is None:
            names = instrument_names()
            near = closest(name, names)
            instead = f"did you mean {near}?" if near else f"known: {most_alike(name, names, 12)}"
            faults.append(Fault(("benchmark", index, "instrument"), f'"{name}" is not an instrument; {instead}'))
        benchmarks.append(benchmark if traits is None else msgspec.structs.replace(benchmark, traits=traits))
    if faults:
        raise source.error(*faults)
    return msgspec.structs.replace(config, benchmark=benchmarks)


class _Decoder:
    """Tables -> typed tables; what is wrong is kept, and _WRONG stands in its place and in that of what it is in."""

    def __init__(self, *, lenient: bool) -> None:
        self.faults: list[Fault] = []
        self._lenient = lenient

    def _fault(self, path: Path, why: str) -> None:
        self.faults.append(Fault(path, why))

    def struct(self, kind: type[Any], raw: dict[str, Any], path: Path) -> Any:
        """Decode a table with fixed keys."""
        fields, hints = _keys(kind)  # type: ignore[arg-type]  # any type can be hashed
        before = len(self.faults)
        keys = [name for name in fields if name not in OF_RUNS]
        # known keys that unknown ones were probably meant to be
        meant = set()
        for key in () if self._lenient else (key for key in raw if key not in keys):
            instead, own = advice(str(key), keys, path)
            meant.add(own)
            self._fault((*path, key), f"unknown key; {instead}")
        values = {}
        for name, field in fields.items():
            hint = hints[field.name]
            if name in raw:
                values[field.name] = self._value(hint, raw[name], (*path, name), field)
            elif field.required and name not in meant:
                self._fault(path, f"needs the key {name}; write e.g. {example(hint, name)}")
        return kind(**values) if len(self.faults) == before else _WRONG

    def _value(self, hint: Any, raw: Any, path: Path, field: _Field | None = None) -> Any:
        kinds = members_of(hint)
        bare = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
        if raw is None and type(None) in typing.get_args(bare):
            return None
        for kind in kinds:
            if isinstance(raw, dict) and is_struct(kind):
                return self.struct(kind, raw, path)
            shape, item = typing.get_origin(kind), (typing.get_args(kind) or (None,))[-1]
            if shape is dict and isinstance(raw, dict):
                return {key: self._value(item, value, (*path, key)) for key, value in raw.items()}
            of_tables = shape is list and (is_struct(item) or typing.get_origin(item) is dict)
            if of_tables and isinstance(raw, list):
                return [self._value(item, value, (*path, i)) for i, value in enumerate(raw)]
            if of_tables and is_struct(item):
                self._fault(path, f"expected [[{dotted(path)}]] tables, got {shown(raw)}")
                return _WRONG
        custom = next((kind for kind in _CUSTOM if kind in kinds), None)
        of_lists = [kind for kind in kinds if typing.get_origin(kind) is list and isinstance(raw, list)]
        if of_lists and any(typing.get_origin(kind) is dict for kind in kinds):
            # what is wrong with a list is said of lists alone
            hint = of_lists[0]
        try:
            return msgspec.convert(raw, hint) if custom is None else custom.parse(raw)
        except msgspec.ValidationError:
            return self._wrong(hint, raw, path, field)
        except ValueError as error:
            self._fault(path, str(error))
            return _WRONG

    def _wrong(self, hint: Any, raw: Any, path: Path, field: _Field | None) -> Any:
        default = None
        if field is not None and not field.required:
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        self._fault(path, wrong(hint, raw, path[-1], default))
        return _WRONG


_Field = msgspec.structs.FieldInfo
_WRONG: Any = object()
"""In place of a value that is no such thing."""


@cache
def _keys(kind: type[Any]) -> tuple[dict[str, _Field], dict[str, Any]]:
    """Return the keys of a table: what is said of each, by the name in the file, and the types by the name in code."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    return fields, typing.get_type_hints(kind, include_extras=True)


_NO_METRIC = 'names no metric, so nothing would be decided; write e.g. metrics = ["time"]'


def check_written(config: Config, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Find what no file may hold that somebody writes now; a run line may."""
    # but for globs, which are compared alone: a result file may name a benchmark so
    ours = {key: table for key, table in tables.items() if key not in ("override", "accept")}
    yield from (Fault(path, "holds a NUL character") for path, text in _texts(ours, ()) if "\0" in text)
    for index, benchmark in enumerate(config.benchmark):
        if benchmark.format is not None and benchmark.format not in value_formats():
            why = f'"{benchmark.format}" is not one of {most_alike(benchmark.format, value_formats(), 12)}'
            yield Fault(("benchmark", index, "format"), why)
    for key in ("setup", "command", "relink"):
        command = getattr(config.build, key)
        if command is not None and not "".join(command).strip():
            yield Fault(("build", key), "is empty; leave the key out, or write a command")
    for i, each in enumerate(config.override):
        if all(
            getattr(each, key) is None
            for key in each.__struct_fields__
            if key not in ("benchmark", "metric", "statistic")
        ):
            yield Fault(("override", i), 'changes nothing; add e.g. threshold = "5%"')


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _texts(each, (*path, key))


def check(config: Config) -> Iterator[Fault]:
    """Find values that contradict each other or cannot be meant."""
    if config.gate.inconclusive == "fail":
        yield from _check_zero_thresholds(config)
    yield from _check_detectable(config)
    if config.gate.sessions == "fixed" and config.gate.interval != "auto":
        why = f'"fixed" has its own interval: remove gate.interval = "{config.gate.interval}"'
        yield Fault(("gate", "sessions"), why)
    yield from _check_units(config)
    if config.plan.metrics == []:
        yield Fault(("plan", "metrics"), _NO_METRIC)
    yield from (
        Fault(("benchmark", i, "metrics"), _NO_METRIC) for i, b in enumerate(config.benchmark) if b.metrics == []
    )
    yield from _check_variables(config.env.set, ("env", "set"))
    yield from _check_build(config.build)
    builds = config.plan.builds
    if isinstance(builds, Builds) and builds.max is not None and builds.min > builds.max:
        yield Fault(("plan", "builds"), f"min = {builds.min} is above max = {builds.max}")
    if config.study is not None:
        # of treatments that contradict each other, the first tells enough
        wrong = list(_check_parts(config.study, config)) or list(islice(_check_treatments(config.study), 1))
        yield from wrong
        # what {factor} leaves of a command must be one too
        config = config if wrong else baseline(config)
    yield from _check_benchmarks(config)


def _check_variables(names: Iterable[str], path: Path) -> Iterator[Fault]:
    why = "is not a name of an environment variable: it is empty, or holds = or NUL"
    yield from (Fault((*path, name), why) for name in names if not name or "=" in name or "\0" in name)


def _check_benchmarks(config: Config) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, benchmark in enumerate(config.benchmark):
        path: Path = ("benchmark", index)
        first = seen.setdefault(benchmark.name, index)
        if first != index:
            taken = dotted(("benchmark", first))
            yield Fault((*path, "name"), f'"{benchmark.name}" is already the name of {taken}: choose another name')
        yield from check_benchmark(benchmark, path)
    # beside a suite "suite", whose own x would have the same name, there is no benchmark "suite/x"
    suites = [b.name for b in config.benchmark if b.measured.suite]
    for index, benchmark in enumerate(config.benchmark):
        owner = next((name for name in suites if benchmark.name.startswith(f"{name}/")), None)
        if owner is not None:
            why = f'"{benchmark.name}" could be one that the suite "{owner}" names: choose another name'
            yield Fault(("benchmark", index, "name"), why)


def _tables_of(config: Config) -> list[tuple[Path, Gate | Override | MetricRules]]:
    """List the tables that hold rules of metrics, with their places."""
    return [
        (("gate",), config.gate),
        *((("override", i), each) for i, each in enumerate(config.override)),
        *(
            (("benchmark", i, "metric", name), rules)
            for i, b in enumerate(config.benchmark)
            for name, rules in b.metric.items()
        ),
    ]


def _check_detectable(config: Config) -> Iterator[Fault]:
    tables = _tables_of(config)
    # an override without a threshold may be meant for cases whose threshold another one, or their metric, sets
    lowest = min(float(each.threshold) for _, each in tables if each.threshold is not None)
    for path, each in tables:
        size = None if isinstance(each, MetricRules) else each.detectable
        if size and size <= (lowest if each.threshold is None else float(each.threshold)):
            why = f"{size} is not above the threshold, so a change of this size could never show: write a larger one"
            yield Fault((*path, "detectable"), why)
    for path, each in tables:
        if each.warn is not None and each.threshold is not None and each.warn >= each.threshold:
            why = f"{each.warn} is not below the threshold of {each.threshold}, which fails: write a smaller one"
            yield Fault((*path, "warn"), why)


def _check_build(build: BuildTable) -> Iterator[Fault]:
    for key in ("share", "overlay", "artifacts"):
        for item in getattr(build, key) or ():
            if item.startswith("/") or ".." in item.split("/") or item.strip("./") == "":
                yield Fault(("build", key), f'"{item}" is not a path inside the project')
    for item in build.changes:
        # what several projects of a repository have in common may be above one of them
        if item.startswith("/") or item.strip("./") == "":
            yield Fault(("build", "changes"), f'"{item}" is not a path of a file or directory, relative to the project')


def _check_units(config: Config) -> Iterator[Fault]:
    # a floor in a unit that no metric has would apply to nothing, without a word
    tables = _tables_of(config)
    declared = {to_base(r.unit)[0] for _, r in tables if isinstance(r, MetricRules) and r.unit is not None}
    for path, table in tables:
        for key, amount in (("floor", table.floor), ("limit", table.limit)):
            if amount is not None and amount.unit not in ("", *DIMENSIONS, *declared):
                why = f'"{amount.unit}" is not the unit of a metric: write a time, a size, a number or that of one'
                yield Fault((*path, key), why)


def _check_zero_thresholds(config: Config) -> Iterator[Fault]:
    # at threshold 0 nothing measured is ever "unchanged", so every report without a change would fail, unless no sign
    # of a change is enough
    gate = config.gate
    why = 'inconclusive = "fail" needs a threshold above 0: with 0 nothing is ever the same; or detectable = "10%"'
    if not gate.threshold and not gate.detectable:
        yield Fault(("gate", "inconclusive"), why)
    for i, own in enumerate(config.override):
        threshold, detectable = (
            getattr(gate if getattr(own, key) is None else own, key) for key in ("threshold", "detectable")
        )
        named = "detectable" if own.threshold is None else "threshold"
        if getattr(own, named) is not None and not threshold and not detectable:
            yield Fault(("override", i, named), why)
    for i, benchmark in enumerate(config.benchmark):
        for name, rules in benchmark.metric.items():
            shown = show_of(config, benchmark.name, name, MEAN)
            if rules.threshold is not None and not rules.threshold and not rules.exact and shown == "not-worse":
                yield Fault(("benchmark", i, "metric", name, "threshold"), why)


def check_factor(name: str, table: FactorTable, path: Path) -> Iterator[Fault]:
    """Find settings of a factor that cannot be separated, or cannot be meant."""
    settings = settings_of(table)
    if name == SIDE and (isinstance(table, dict) or sorted(map(str, settings)) != sorted(SIDES)):
        yield Fault(path, 'means the side that is measured: write side = ["base", "head"], or rename the factor')
        return
    if len(settings) < 2:
        yield Fault(
            path, f"has {plural(len(settings), 'setting') if settings else 'no settings'}: a factor has two or more"
        )
        return
    seen: dict[str, Setting] = {}
    for setting in settings:
        yield from _check_setting(setting, path)
        # 1 and 1.0 are one setting, and so is "1", which nobody could tell from them in a report
        text = str(int(setting)) if isinstance(setting, float) and setting.is_integer() else str(setting)
        if text in seen:
            yield Fault(path, f"has the setting {text} twice")
        seen[text] = setting
    if isinstance(table, dict):
        wrong = [fault for key, each in table.items() for fault in _check_table(each, (*path, key))]
        yield from wrong or _check_bindings(table, path)


def _check_setting(setting: Setting, path: Path) -> Iterator[Fault]:
    if isinstance(setting, float) and not math.isfinite(setting):
        yield Fault(path, f"{setting} is not a setting: write a finite number or a string")
    if not isinstance(setting, str):
        return
    if not setting.strip():
        yield Fault(path, "has a setting without a name")
    if any(ord(char) < 32 or ord(char) == 127 for char in setting):
        yield Fault(path, f"the setting {setting!r} holds a control character")
    yield from _check_value(setting, path)


def _check_value(value: Setting | None, path: Path) -> Iterator[Fault]:
    later = next((name for name in PLACEHOLDERS if mentions(str(value), name)), None)
    if later is not None:
        yield Fault(path, f'"{value}" holds {{{later}}}, which is replaced in commands, prefix and args only')


def _check_table(table: SettingTable, path: Path) -> Iterator[Fault]:
    yield from _check_value(table.value, (*path, "value"))
    if table.prefix and not table.prefix[0].strip():
        yield Fault((*path, "prefix"), "begins with an empty word: name the program to start")
    for key in ("env", "build_env"):
        yield from _check_variables(getattr(table, key), (*path, key))
    # as those of a [[benchmark]], so that the same is refused
    yield from check_benchmark(
        Benchmark(name="x", command="x", service=table.service, load=table.load, cpus=table.cpus), path
    )
    labels = [table.runner] if isinstance(table.runner, str) else table.runner
    if labels is not None and not (labels and all(label.strip() and "," not in label for label in labels)):
        yield Fault((*path, "runner"), 'names no runner: write "label", or ["label", "label"] that one runner has')
    bound = sessions_of(table)
    if table.session is not None and not bound:
        yield Fault((*path, "session"), "names no session: write a number, the first is 0")
    if len(set(bound)) < len(bound):
        yield Fault((*path, "session"), "names a session twice")
    if table.runner is not None and bound:
        yield Fault(path, "is bound to a runner and to a session: use one factor for runners and another for sessions")


def _check_bindings(table: dict[str, SettingTable], path: Path) -> Iterator[Fault]:
    kinds = {
        name: ("a runner" if each.runner is not None else "nothing" if each.session is None else "a session")
        for name, each in table.items()
    }
    first, kind = next(iter(kinds.items()))
    other = next((name for name in kinds if kinds[name] != kind), None)
    if other is not None:
        bound = f"{first} is bound to {kind} and {other} to {kinds[other]}"
        yield Fault((*path, other), f"{bound}: bind every setting of a factor alike")


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SINGLE = ("service", "load", "cpus")
"""What only one setting of a treatment can give."""

Settings = Mapping[str, Setting]


def _check_parts(study: Study, config: Config) -> Iterator[Fault]:
    if not study.factor:
        yield Fault(("study",), "varies nothing: add [study.factor] with two settings or more of each factor")
        return
    yield from _check_names(study)
    for name, table in study.factor.items():
        yield from check_factor(name, table, ("study", "factor", name))
    if study.builds is not None and study.builds > study.replicates:
        why = (
            f"{study.builds} rounds cannot share {plural(study.replicates, 'replicate')}: at most one build a replicate"
        )
        yield Fault(("study", "builds"), why)
    if study.benchmarks == []:
        yield Fault(("study", "benchmarks"), "names no benchmark, so nothing would be measured")
    if study.responses == []:
        yield Fault(("study", "responses"), "names no metric, so nothing would be analysed")
    for index, partial in enumerate(study.exclude):
        path: Path = ("study", "exclude", index)
        if not partial:
            yield Fault(path, "is empty, and would leave out every treatment")
        yield from _check_settings(study, partial, path)
    if study.treatments is not None:
        yield from _check_listed(study, study.treatments)
    yield from filter(None, [check_fraction(study)])
    yield from check_commands(study, config)


def _check_names(study: Study) -> Iterator[Fault]:
    variables: dict[str, str] = {}
    for name in study.factor:
        path: Path = ("study", "factor", name)
        if not _NAME.fullmatch(name):
            yield Fault(path, "is not a name of a factor: use letters, digits, _ and -, beginning with a letter or _")
        if name in PLACEHOLDERS:
            yield Fault(path, f"{{{name}}} already has a meaning in commands: choose another name")
        other = variables.setdefault(variable(name), name)
        if other != name:
            yield Fault(path, f"{other} and {name} would both be {variable(name)}: rename one of them")


def _check_settings(study: Study, settings: Settings, path: Path) -> Iterator[Fault]:
    for name, setting in settings.items():
        if name not in study.factor:
            yield Fault(path, f"{shown(name)} is not a factor; {_advice(name, study.factor)}")
            continue
        known = settings_of(study.factor[name])
        if setting not in known:
            yield Fault(path, f"{shown(setting)} is not a setting of {name}; {_advice(setting, known)}")


def _advice(given: Setting, known: Iterable[Setting]) -> str:
    by_text = {str(each): each for each in known}
    near = closest(str(given), by_text)
    return f"did you mean {shown(by_text[near])}?" if near else f"known here: {', '.join(map(shown, by_text.values()))}"


def _check_listed(study: Study, listed: Sequence[Settings]) -> Iterator[Fault]:
    seen: dict[tuple[Setting, ...], int] = {}
    for index, settings in enumerate(listed):
        path: Path = ("study", "treatments", index)
        yield from _check_settings(study, settings, path)
        lacking = [name for name in study.factor if name not in settings]
        if lacking:
            yield Fault(path, f"names no setting of {', '.join(lacking)}: a treatment has one of every factor")
            continue
        first = seen.setdefault(tuple(settings[name] for name in study.factor), index)
        if first != index:
            yield Fault(path, f"is the same as study.treatments[{first}]")


def _check_treatments(study: Study) -> Iterator[Fault]:
    """Find too many treatments or none, and treatments whose settings contradict each other."""
    listed = study.treatments is not None
    path: Path = ("study", "treatments" if listed else "factor")
    fraction = fraction_of(study)
    count = len(study.treatments) if study.treatments is not None else math.prod(map(len, study.factor.values()))
    if fraction is not None:
        count = count // 2 ** len(fraction.factors) * fraction.size
    if count > MOST_TREATMENTS:
        way = "list fewer" if listed else "take fewer factors or settings, or a study.fraction of them"
        yield Fault(path, f"{count} treatments are more than {MOST_TREATMENTS}: {way}")
        return
    found = combinations(study)
    if not found:
        where: Path = ("study", "exclude") if study.exclude else path
        why = (
            "leaves no treatment: exclude fewer" if study.exclude else "is empty: list treatments, or leave the key out"
        )
        yield Fault(where, why)
        return
    # plain settings give nothing, so few combinations are left to look at
    tabled = [name for name, table in study.factor.items() if isinstance(table, dict)]
    for combination in dict.fromkeys(tuple(settings[name] for name in tabled) for settings in found):
        settings = dict(zip(tabled, combination, strict=True))
        given: dict[str, str] = {}
        for name, setting in settings.items():
            table = setting_table(study, name, setting)
            single = [key for key in _SINGLE if getattr(table, key) is not None]
            for what in (
                *single,
                *(f"env {key}" for key in table.env),
                *(f"build_env {key}" for key in table.build_env),
            ):
                other = given.setdefault(what, name)
                if other != name:
                    both = pairs({each: settings[each] for each in (other, name)})
                    why = f"{both} both give {what}: leave them out with study.exclude, or give it in one factor"
                    yield Fault(("study", "factor", name), why)
        yield from _check_bound(study, settings)


def _check_bound(study: Study, settings: Settings) -> Iterator[Fault]:
    tables = {name: setting_table(study, name, setting) for name, setting in settings.items()}
    runners = {name: labels_of(table.runner) for name, table in tables.items() if table.runner is not None}
    sessions = {name: set(bound) for name, table in tables.items() if (bound := sessions_of(table))}
    if len(set(runners.values())) > 1:
        yield _nowhere({name: settings[name] for name in runners}, "runners")
    if sessions and not set.intersection(*sessions.values()):
        yield _nowhere({name: settings[name] for name in sessions}, "sessions")


def _nowhere(bound: Settings, what: str) -> Fault:
    why = f"no job measures {pairs(bound)}, which are bound to different {what}: leave them out with study.exclude"
    return Fault(("study", "factor", next(iter(bound))), why)
