"""What no single value of [study] tells: a design that cannot be measured, names that mean nothing or two things."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from gate.config.command_checks import check_commands
from gate.config.errors import ConfigError
from gate.config.setting_checks import check_factor
from gate.config.source import Path, Source
from gate.config.study import Setting, SettingTable, Study
from gate.config.treatments import (
    MOST_TREATMENTS,
    combinations,
    labels_of,
    sessions_of,
    setting_table,
    settings_of,
    variable,
)
from gate.config.types import Config

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = ("seed", "output", "port")
_SINGLE = ("service", "load", "cpus", "priority")
"""What only one setting of a treatment can give."""

Settings = Mapping[str, Setting]


def check_study(study: Study, config: Config, source: Source) -> None:
    """Refuse a design that cannot be measured or meant.

    Raises:
        ConfigError: naming the place in the source.
    """
    if not study.factor:
        raise source.error(("study",), "varies nothing: add [study.factor] with two settings or more of each factor")
    _check_names(study, source)
    for name, table in study.factor.items():
        check_factor(name, table, ("study", "factor", name), source)
    _check_counts(study, source)
    for index, partial in enumerate(study.exclude):
        path: Path = ("study", "exclude", index)
        if not partial:
            raise source.error(path, "is empty, and would leave out every treatment")
        _check_settings(study, partial, path, source)
    if study.treatments is not None:
        _check_listed(study, study.treatments, source)
    check_commands(study, config, source)
    found = _combinations(study, source)
    _check_together(study, found, source)


def _check_names(study: Study, source: Source) -> None:
    variables: dict[str, str] = {}
    for name in study.factor:
        path: Path = ("study", "factor", name)
        if not _NAME.fullmatch(name):
            raise source.error(path, "is no name of a factor: write letters, digits, _ and -, a letter or _ first")
        if name in _RESERVED:
            raise source.error(path, f"{{{name}}} is something else in commands: take another name")
        other = variables.setdefault(variable(name), name)
        if other != name:
            raise source.error(path, f"{other} and {name} would both be {variable(name)}: rename one of them")


def _check_counts(study: Study, source: Source) -> None:
    if study.builds is not None and study.builds > study.replicates:
        why = f"{study.builds} rounds cannot share {study.replicates} replicates: at most one build a replicate"
        raise source.error(("study", "builds"), why)
    if study.benchmarks == []:
        raise source.error(("study", "benchmarks"), "names no benchmark, so nothing would be measured")
    if study.responses == []:
        raise source.error(("study", "responses"), "names no metric, so nothing would be analysed")


def _check_settings(study: Study, settings: Settings, path: Path, source: Source) -> None:
    for name, setting in settings.items():
        if name not in study.factor:
            raise source.error(path, f"{_shown(name)} is no factor; {_advice(name, study.factor)}")
        known = settings_of(study.factor[name])
        if setting not in known:
            raise source.error(path, f"{_shown(setting)} is no setting of {name}; {_advice(setting, known)}")


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


def _check_listed(study: Study, listed: Sequence[Settings], source: Source) -> None:
    seen: dict[tuple[Setting, ...], int] = {}
    for index, settings in enumerate(listed):
        path: Path = ("study", "treatments", index)
        _check_settings(study, settings, path, source)
        lacking = [name for name in study.factor if name not in settings]
        if lacking:
            raise source.error(path, f"names no setting of {', '.join(lacking)}: a treatment has one of every factor")
        first = seen.setdefault(tuple(settings[name] for name in study.factor), index)
        if first != index:
            raise source.error(path, f"is study.treatments[{first}] again")


def _combinations(study: Study, source: Source) -> list[dict[str, Setting]]:
    """Return the treatments, of which there must be some and not too many."""
    listed = study.treatments is not None
    path: Path = ("study", "treatments" if listed else "factor")
    count = len(study.treatments) if study.treatments is not None else math.prod(map(len, study.factor.values()))
    if count > MOST_TREATMENTS:
        way = "list fewer" if listed else "take fewer factors or settings, or list those wanted in study.treatments"
        raise source.error(path, f"{count} treatments are more than {MOST_TREATMENTS}: {way}")
    found = combinations(study)
    if not found:
        where: Path = ("study", "exclude") if study.exclude else path
        why = (
            "leaves no treatment: exclude fewer" if study.exclude else "is empty: list treatments, or leave the key out"
        )
        raise source.error(where, why)
    return found


def _check_together(study: Study, found: Sequence[Settings], source: Source) -> None:
    """Refuse treatments whose settings contradict each other."""
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
                    raise source.error(("study", "factor", name), why)
        _check_bound(study, settings, source)


def _gives(table: SettingTable) -> list[str]:
    """Name what only one setting of a treatment can give."""
    single = [key for key in _SINGLE if getattr(table, key) is not None]
    return single + [f"env {key}" for key in table.env] + [f"build_env {key}" for key in table.build_env]


def _check_bound(study: Study, settings: Settings, source: Source) -> None:
    tables = {name: setting_table(study, name, setting) for name, setting in settings.items()}
    runners = {name: labels_of(table.runner) for name, table in tables.items() if table.runner is not None}
    sessions = {name: set(bound) for name, table in tables.items() if (bound := sessions_of(table))}
    if len(set(runners.values())) > 1:
        raise _nowhere({name: settings[name] for name in runners}, "runners", source)
    if sessions and not set.intersection(*sessions.values()):
        raise _nowhere({name: settings[name] for name in sessions}, "sessions", source)


def _nowhere(bound: Settings, what: str, source: Source) -> ConfigError:
    why = f"no job measures {words(bound)}, which are bound to different {what}: leave them out with study.exclude"
    return source.error(("study", "factor", next(iter(bound))), why)
