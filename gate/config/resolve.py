"""The configs of base and head, and options over them -> the settings of one gate."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from gate.config.config_text import ConfigError, ConfigText, Fault, Path, dotted, from_tables, has, together
from gate.config.parse import of_before, parse
from gate.config.rules import matches, metrics_known
from gate.config.schema import changed_measuring, differences, paired, to_tables
from gate.config.types import Accept, Config, Override
from gate.config.wrong import advice_on_option
from gate.model import SIDES, Side
from gate.model.case import MEAN, TYPICAL
from gate.model.names import BUILD_TIME, SIZE
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.model.warnings.setup import BASE_WITHOUT_CONFIG, Renamed, matches_nothing
from gate.writing.phrases import none_of

_RULES = ("gate", "override", "accept", "plan", "creep")
"""The tables that decide; [study] goes by the same file, but decides nothing."""
_OF_RULES = ("build", "write")
"""What the rules say of builds: a pull request cannot let its own write what base's may not."""
_SETTABLE = ("gate", "plan", "build", "env", "study", "creep")


@dataclass(frozen=True, slots=True)
class Settings:
    """What one gate goes by.

    sides: each side's own [build], [env] and commands. rules: what decides, with the union of the benchmarks; this is
    what the run line of measurements.jsonl keeps. source: whose rules, in words. warnings: what the report must say.
    """

    sides: dict[Side, Config]
    rules: Config
    source: str
    warnings: list[AnyWarning]
    texts: dict[Side, ConfigText]
    decisive: ConfigText
    options: ConfigText

    @property
    def benchmarks(self) -> dict[Side, list[str]]:
        """The names of the benchmarks that each side has."""
        return {side: [b.name for b in config.benchmark] for side, config in self.sides.items()}

    @property
    def renamed(self) -> dict[str, str]:
        """The name by which a benchmark that head renames is not measured, and the one by which it is."""
        names = {b.name for b in self.rules.benchmark}
        pairs = [(each.was, each.now) for each in self.warnings if isinstance(each, Renamed)]
        return {was if now in names else now: now if now in names else was for was, now in pairs}


def resolve(
    base: ConfigText | None,
    head: ConfigText | None,
    *,
    rules: Literal["base", "head"] | ConfigText,
    config: ConfigText | None = None,
    sets: Sequence[str] = (),
) -> Settings:
    """Settle whose rules and whose commands count.

    base, head: the config text at each side; None where it has none. rules: the side, or a file of rules. config: a
    file that wins over both sides and the rules. sets: KEY=VALUE options, over everything.

    Raises: ConfigError: neither side has a config, or one that is wrong; both sides' files are validated.
    """
    warnings: list[AnyWarning] = []
    if config is not None:
        base, head, rules = config, config, "head"
    if base is None and head is None:
        raise ConfigError(
            "",
            "no perfgate.toml here or at base: `perfgate init` writes one, and `perfgate check -- COMMAND` needs none",
        )
    if base is None:
        warnings.append(BASE_WITHOUT_CONFIG)
    elif head is None:
        text = "head has no perfgate.toml: base's is used for both sides"
        warnings.append(Said(text, "head-without-config", "first"))
    sources: dict[Side, ConfigText] = {"base": base or head, "head": head or base}  # type: ignore[dict-item]  # one is given
    options, validated = _validated(sources, sets)
    _refuse_other_instruments(sources, validated)
    origin = rules if isinstance(rules, ConfigText) else sources[rules]
    given = options.tables.get("study", {})
    if given and "factor" not in given and not origin.tables.get("study"):
        raise ConfigError(f"study.{next(iter(given))}", f"{origin.name} has no [study]", option="set")
    decisive = validated[rules] if isinstance(rules, str) and not options.tables else parse(over(origin, options))
    # [study] counts as the rules have it, and this side's file may have none
    laid = from_tables({name: table for name, table in options.tables.items() if name != "study"}, options.name)
    if laid.tables:
        base_too = validated["base"] is validated["head"]
        head_laid = parse(over(sources["head"], laid))
        validated = {"base": head_laid if base_too else parse(over(sources["base"], laid)), "head": head_laid}
    sides = {side: msgspec.structs.replace(own, study=decisive.study) for side, own in validated.items()}
    sides, renamed = paired(sides, decisive)
    # a file of rules alone may have no [build]: then base's counts, which a pull request does not change
    named = isinstance(rules, str) or decisive.build.write is not None
    write = (decisive if named else sides["base"]).build.write
    own, sides = sides, _measured_by_rules(sides, decisive, write)
    changed = _changed_rules(own)
    if changed:
        in_force = rules if isinstance(rules, str) else origin.name
        text = f"head changes the rules ({', '.join(changed)}); the rules of {in_force} apply"
        warnings.append(Said(text, "rules-changed", "first"))
    for place in (origin.place(path) for path, _ in of_before(origin.tables)):
        text = f'the key show at {place} is read on: write detectable = "threshold", or a size that must show'
        warnings.append(Said(text, "read-on", "first"))
    warnings += [*renamed, *changed_measuring(sides)]
    # the union of the benchmarks: head's where both have one, with the metrics of the rules
    both = [*{b.name: b for side in SIDES for b in sides[side].benchmark}.values()]
    ruled = {b.name: {"metric": b.metric, "metrics": b.metrics} for b in decisive.benchmark}
    merged = msgspec.structs.replace(
        decisive,
        build=sides["head"].build,
        env=sides["head"].env,
        benchmark=[msgspec.structs.replace(b, **ruled.get(b.name, {})) for b in both],
    )
    warnings += _about_nothing(merged, (origin, *sources.values()), options)
    return Settings(sides, merged, origin.name, warnings, sources, origin, options)


def _validated(sources: dict[Side, ConfigText], sets: Sequence[str]) -> tuple[ConfigText, dict[Side, Config]]:
    """Return the options as a source, and the configs of both sides; raises all that is wrong in any of them."""
    errors: list[ConfigError] = []
    tables = _kept(errors, tables_of, sets)
    base, head = (sources[side] for side in SIDES)
    if base.text == head.text and base.tables == head.tables:
        name = head.name if base.name == head.name else f"base and {head.name}"
        one = _kept(errors, parse, replace(head, name=name, side=base.side))
        parsed = dict.fromkeys(SIDES, one)
    else:
        parsed = {side: _kept(errors, parse, sources[side]) for side in SIDES}
    if errors:
        raise together(errors)
    return from_tables(tables, "--set"), parsed


def _kept(errors: list[ConfigError], make: Callable[[Any], Any], given: Any) -> Any:
    """Return what is made, or keep why it is not."""
    try:
        return make(given)
    except ConfigError as error:
        errors += error.errors
        return None


def tables_of(sets: Sequence[str]) -> dict[str, Any]:
    """Return the tables that --set options make.

    Raises: ConfigError: not TABLE.KEY=VALUE, or a value that the key does not take, of all that are wrong.
    """
    tables: dict[str, Any] = {}
    errors: list[ConfigError] = []
    for text in sets:
        for table, own in (_kept(errors, _table_of, text) or {}).items():
            tables.setdefault(table, {}).update(own)
    if errors:
        raise together(errors)
    return tables


def _table_of(text: str) -> dict[str, dict[str, Any]]:
    key, separator, value = text.partition("=")
    path = key.strip().split(".")
    if not separator or len(path) != 2 or path[0] not in _SETTABLE:
        raise ConfigError(
            text, advice_on_option(path, value.strip() if separator else "VALUE", _SETTABLE), option="set"
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        parsed = value.strip()
    table, name = path
    source = from_tables({table: {name: parsed}}, text, option="set")
    # a key of [study] means something beside its factors only
    parse(source, checked=table != "study")
    return {table: {name: parsed}}


def over(source: ConfigText, options: ConfigText) -> ConfigText:
    """Lay the tables of options over those of a source."""
    tables = copy.deepcopy(source.tables)
    for table, values in options.tables.items():
        # a run line has null for a table that is not there; what is no table is refused by parse
        own = {} if tables.get(table) is None else tables[table]
        tables[table] = {**own, **values} if isinstance(own, dict) else own
    return replace(source, tables=tables)


def _about_nothing(config: Config, files: Sequence[ConfigText], options: ConfigText) -> Iterator[Said]:
    """Warn of entries about nothing; raise where a list decides or measures nothing by one of its globs.

    files: that of the rules first.
    """
    for path, glob, known in _unmatched(config):
        if path[0] in ("override", "accept"):
            yield matches_nothing(files[0].place(path), str(path[0]), str(path[-1]), glob, known)
            continue
        source = options if has(options.tables, path) else files[0]
        if path[0] == "benchmark":
            # the union of the files has other numbers than either
            name = config.benchmark[int(path[1])].name
            has_it = (
                (file, number)
                for file in files
                for number, each in enumerate(file.tables.get("benchmark", ()))
                if each.get("name") == name and glob in each.get("metrics", ())
            )
            source, number = next(has_it, (source, path[1]))
            path = ("benchmark", number, "metrics")
        raise source.error(Fault(path, f'"{glob}" {none_of(glob, known)}'))


def _unmatched(config: Config) -> Iterator[tuple[Path, str, list[str]]]:
    """Find the globs of the rules that can mean nothing, with what there is, as far as it is known before measuring."""
    names = [b.name for b in config.benchmark]
    if not names:
        return
    suites = any(b.measured.suite for b in config.benchmark)
    rules: list[tuple[Path, Override | Accept]] = [
        *((("override", i), each) for i, each in enumerate(config.override)),
        *((("accept", i), each) for i, each in enumerate(config.accept)),
    ]
    # what is built has names of its own
    builds = any(matches(glob, metric) for glob in config.plan.metrics or () for metric in (SIZE, BUILD_TIME))
    asked: list[tuple[Path, str]] = [
        *((("study", "benchmarks"), glob) for glob in (config.study.benchmarks if config.study else ())),
        *(((*path, "benchmark"), each.benchmark) for path, each in rules if not builds),
    ]
    for path, glob in asked:
        # "suite/parse-*" is a part of a suite, and "*parse*" may be one
        parts = glob.split("/")
        heads = ["/".join(parts[:i]) for i in range(1, len(parts) + 1)]
        if not any(matches(head, name) for head in heads for name in names) and not (suites and glob.startswith("*")):
            yield path, glob, names
    metrics: list[tuple[Path, str, str]] = [
        *((("plan", "metrics"), "*", glob) for glob in config.plan.metrics or ()),
        *((("benchmark", i, "metrics"), b.name, m) for i, b in enumerate(config.benchmark) for m in b.metrics or ()),
        *(((*path, "metric"), each.benchmark, each.metric) for path, each in rules),
    ]
    for path, each in rules:
        known = [MEAN, TYPICAL, "p50", "p95", "p99"]
        if not re.fullmatch(r"p[\d.]+", each.statistic) and not any(matches(each.statistic, name) for name in known):
            yield (*path, "statistic"), each.statistic, known
    for path, benchmark, glob in metrics:
        known = metrics_known(config, benchmark)
        if known and not any(matches(glob, name) for name in known):
            yield path, glob, known


def _changed_rules(sides: dict[Side, Config]) -> list[str]:
    base, head = ({table: to_tables(sides[side])[table] for table in _RULES} for side in SIDES)
    differing = [path for path, _, _ in differences(base, head)]
    # of entries in a list nobody is told which
    changed = [*dict.fromkeys(dotted(path[: 1 if path[0] in ("override", "accept") else 2]) for path in differing)]
    base_rules, head_rules = ({b.name: b for b in sides[side].benchmark} for side in SIDES)
    for name, own in base_rules.items():
        other = head_rules.get(name, own)
        changed += [f"metrics of {name}"] if (other.metric, other.metrics) != (own.metric, own.metrics) else []
        changed += [f"same_output of {name}"] if other.same_output != own.same_output else []
    return [*changed, *([dotted(_OF_RULES)] if sides["base"].build.write != sides["head"].build.write else [])]


def _measured_by_rules(sides: dict[Side, Config], rules: Config, write: list[str] | None) -> dict[Side, Config]:
    """Give both sides metrics, same_output and build.write as the rules have them.

    So a unit or direction is never two, and a pull request cannot let its own build write what base's may not. A side
    keeps its own list of metrics, which must appear; head also gets base's, since losing one is an error.
    """
    decisive = {b.name: b for b in rules.benchmark}
    of_base = {b.name: b.metric for b in sides["base"].benchmark}
    found: dict[Side, Config] = {}
    for side in SIDES:
        benchmarks = []
        for b in sides[side].benchmark:
            own = {**of_base.get(b.name, {}), **b.metric} if side == "head" else b.metric
            rule = decisive.get(b.name, b)
            metric = {name: rule.metric.get(name, each) for name, each in own.items()}
            ruled = {"metric": metric, "metrics": rule.metrics, "same_output": rule.same_output}
            benchmarks.append(msgspec.structs.replace(b, **ruled))
        build = msgspec.structs.replace(sides[side].build, write=write)
        found[side] = msgspec.structs.replace(sides[side], benchmark=benchmarks, build=build)
    return found


def _refuse_other_instruments(sources: dict[Side, ConfigText], sides: dict[Side, Config]) -> None:
    base = {b.name: b.instrument for b in sides["base"].benchmark}
    for i, head in enumerate(sides["head"].benchmark):
        if base.get(head.name, head.instrument) != head.instrument:
            why = (
                f'base measures "{head.name}" with {base[head.name]}, head with {head.instrument}: their values cannot '
                "be compared; give the benchmark a new name"
            )
            raise sources["head"].error(Fault(("benchmark", i, "instrument"), why))


def effective(settings: Settings) -> dict[str, tuple[Any, str]]:
    """Return every effective value of the rules by its dotted key, with the place it comes from."""
    return {dotted(path): (value, _origin(settings, path)) for path, value in _leaves(to_tables(settings.rules), ())}


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    keyed = value.items() if isinstance(value, dict) else enumerate(value) if _lists_tables(value) else ()
    for key, item in keyed:
        yield from _leaves(item, (*path, key))
    if not keyed:
        yield path, value


def _lists_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _origin(settings: Settings, path: Path) -> str:
    if has(settings.options.tables, path):
        return "option --set"
    head, base = settings.texts["head"], settings.texts["base"]
    sources = [(settings.decisive if path[0] in (*_RULES, "study") or path[:2] == _OF_RULES else head, path)]
    if path[0] == "benchmark" and len(path) > 1:
        # of a benchmark of the union its metrics stand in the rules, the rest in its own side's file
        name = settings.rules.benchmark[int(path[1])].name
        files = [*([settings.decisive] if path[2] in ("metric", "metrics") else []), head, base]
        numbered = ((file, enumerate(file.tables.get("benchmark", []))) for file in files)
        sources = [
            (file, ("benchmark", i, *path[2:])) for file, own in numbered for i, b in own if b.get("name") == name
        ]
    # what `show` says, which is read on
    sources += [(source, (*own[:-1], "show")) for source, own in sources if own[-1] == "detectable"]
    return next((source.place(own) for source, own in sources if has(source.tables, own)), "default")
