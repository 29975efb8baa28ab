"""Checks of [study]: designs that cannot be measured, unknown names, ambiguous names."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gate.config.benchmark_checks import check_benchmark
from gate.config.command_checks import check_commands
from gate.config.commands import PLACEHOLDERS, mentions
from gate.config.fractions import check_fraction, fraction_of
from gate.config.source import Fault, Path
from gate.config.study import FactorTable, Setting, SettingTable, Study
from gate.config.treatments import (
    MOST_TREATMENTS,
    SIDE,
    Runner,
    combinations,
    labels_of,
    sessions_of,
    setting_table,
    settings_of,
    variable,
)
from gate.config.types import Benchmark, Config
from gate.model import SIDES
from gate.units import plural


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
    if "\0" in str(value):
        yield Fault(path, "holds a NUL character, which no command can hold")


def _check_table(table: SettingTable, path: Path) -> Iterator[Fault]:
    yield from _check_value(table.value, (*path, "value"))
    for key in ("prefix", "args"):
        if "\0" in "".join(getattr(table, key)):
            yield Fault((*path, key), "holds a NUL character, which no command can hold")
    if table.prefix and not table.prefix[0].strip():
        yield Fault((*path, "prefix"), "begins with an empty word: name the program to start")
    for key in ("env", "build_env"):
        for name, value in getattr(table, key).items():
            if not name or "=" in name or "\0" in name + value:
                yield Fault(
                    (*path, key, name), "is not a name of an environment variable: it is empty, or holds = or NUL"
                )
    # as those of a [[benchmark]], so that the same is refused
    yield from check_benchmark(
        Benchmark(name="x", command="x", service=table.service, load=table.load, cpus=table.cpus), path
    )
    yield from _check_binding(table, path)


def _check_binding(table: SettingTable, path: Path) -> Iterator[Fault]:
    if table.runner is not None and not _is_runner(table.runner):
        yield Fault((*path, "runner"), 'names no runner: write "label", or ["label", "label"] that one runner has')
    bound = sessions_of(table)
    if table.session is not None and not bound:
        yield Fault((*path, "session"), "names no session: write a number, the first is 0")
    if len(set(bound)) < len(bound):
        yield Fault((*path, "session"), "names a session twice")
    if table.runner is not None and bound:
        yield Fault(path, "is bound to a runner and to a session: use one factor for runners and another for sessions")


def _is_runner(runner: Runner) -> bool:
    labels = [runner] if isinstance(runner, str) else runner
    return bool(labels) and all(label.strip() and "," not in label for label in labels)


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
_SINGLE = ("service", "load", "cpus", "priority")
"""What only one setting of a treatment can give."""

Settings = Mapping[str, Setting]


def check_study(study: Study, config: Config) -> Iterator[Fault]:
    """Find what makes a design one that cannot be measured or meant."""
    wrong = list(_check_parts(study, config))
    # of treatments that contradict each other, the first tells enough
    yield from wrong or islice(_check_treatments(study), 1)


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
    yield from check_fraction(study)
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
            yield Fault(path, f"{_shown(name)} is not a factor; {_advice(name, study.factor)}")
            continue
        known = settings_of(study.factor[name])
        if setting not in known:
            yield Fault(path, f"{_shown(setting)} is not a setting of {name}; {_advice(setting, known)}")


def _advice(given: Setting, known: Iterable[Setting]) -> str:
    by_text = {str(each): each for each in known}
    near = difflib.get_close_matches(str(given), by_text, n=1, cutoff=0.5)
    shown = ", ".join(_shown(each) for each in by_text.values())
    return f"did you mean {_shown(by_text[near[0]])}?" if near else f"known here: {shown}"


def _shown(setting: Setting) -> str:
    return f'"{setting}"' if isinstance(setting, str) else str(setting)


def words(settings: Settings) -> str:
    """Write settings as people do: "clients=8, load=busy"."""
    return ", ".join(f"{name}={setting}" for name, setting in settings.items())


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
            for what in _gives(setting_table(study, name, setting)):
                other = given.setdefault(what, name)
                if other != name:
                    both = words({each: settings[each] for each in (other, name)})
                    why = f"{both} both give {what}: leave them out with study.exclude, or give it in one factor"
                    yield Fault(("study", "factor", name), why)
        yield from _check_bound(study, settings)


def _gives(table: SettingTable) -> list[str]:
    """Name what only one setting of a treatment can give."""
    single = [key for key in _SINGLE if getattr(table, key) is not None]
    return single + [f"env {key}" for key in table.env] + [f"build_env {key}" for key in table.build_env]


def _check_bound(study: Study, settings: Settings) -> Iterator[Fault]:
    tables = {name: setting_table(study, name, setting) for name, setting in settings.items()}
    runners = {name: labels_of(table.runner) for name, table in tables.items() if table.runner is not None}
    sessions = {name: set(bound) for name, table in tables.items() if (bound := sessions_of(table))}
    if len(set(runners.values())) > 1:
        yield _nowhere({name: settings[name] for name in runners}, "runners")
    if sessions and not set.intersection(*sessions.values()):
        yield _nowhere({name: settings[name] for name in sessions}, "sessions")


def _nowhere(bound: Settings, what: str) -> Fault:
    why = f"no job measures {words(bound)}, which are bound to different {what}: leave them out with study.exclude"
    return Fault(("study", "factor", next(iter(bound))), why)
