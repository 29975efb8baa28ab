"""Checks of [study]: designs that cannot be measured, unknown names, ambiguous names."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from gate.config.benchmark_checks import check_benchmark
from gate.config.command_checks import check_commands
from gate.config.commands import PLACEHOLDERS, mentions
from gate.config.source import ConfigError, Path, Source
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


def check_factor(name: str, table: FactorTable, path: Path, source: Source) -> None:
    """Refuse a factor whose settings cannot be separated, or cannot be meant.

    Raises:
        ConfigError: naming the place in the source.
    """
    settings = settings_of(table)
    if name == SIDE and (isinstance(table, dict) or sorted(map(str, settings)) != sorted(SIDES)):
        raise source.error(path, 'means the side that is measured: write side = ["base", "head"], or rename the factor')
    if len(settings) < 2:
        raise source.error(
            path, f"has {len(settings) or 'no'} setting{'' if settings else 's'}: a factor has two or more"
        )
    seen: dict[str, Setting] = {}
    for setting in settings:
        _check_setting(setting, path, source)
        text = _text(setting)
        if text in seen:
            raise source.error(path, f"has the setting {text} twice")
        seen[text] = setting
    if isinstance(table, dict):
        for setting_name, each in table.items():
            _check_table(each, (*path, setting_name), source)
        _check_bindings(table, path, source)


def _text(setting: Setting) -> str:
    # 1 and 1.0 are one setting, and so is "1", which nobody could tell from them in a report
    return str(int(setting)) if isinstance(setting, float) and setting.is_integer() else str(setting)


def _check_setting(setting: Setting, path: Path, source: Source) -> None:
    if isinstance(setting, float) and not math.isfinite(setting):
        raise source.error(path, f"{setting} is not a setting: write a finite number, or text")
    if not isinstance(setting, str):
        return
    if not setting.strip():
        raise source.error(path, "has a setting without a name")
    if any(ord(char) < 32 or ord(char) == 127 for char in setting):
        raise source.error(path, f"the setting {setting!r} holds a control character")
    _check_value(setting, path, source)


def _check_value(value: Setting | None, path: Path, source: Source) -> None:
    later = next((name for name in PLACEHOLDERS if mentions(str(value), name)), None)
    if later is not None:
        raise source.error(path, f'"{value}" holds {{{later}}}, which is replaced in commands, prefix and args only')
    if "\0" in str(value):
        raise source.error(path, "holds a NUL character, which no command can hold")


def _check_table(table: SettingTable, path: Path, source: Source) -> None:
    _check_value(table.value, (*path, "value"), source)
    for key in ("prefix", "args"):
        if "\0" in "".join(getattr(table, key)):
            raise source.error((*path, key), "holds a NUL character, which no command can hold")
    if table.prefix and not table.prefix[0].strip():
        raise source.error((*path, "prefix"), "begins with an empty word: name the program to start")
    for key in ("env", "build_env"):
        for name, value in getattr(table, key).items():
            if not name or "=" in name or "\0" in name + value:
                raise source.error(
                    (*path, key, name), "is not a name of an environment variable: it is empty, or holds = or NUL"
                )
    # as those of a [[benchmark]], so that the same is refused
    check_benchmark(
        Benchmark(name="x", command="x", service=table.service, load=table.load, cpus=table.cpus), path, source
    )
    _check_binding(table, path, source)


def _check_binding(table: SettingTable, path: Path, source: Source) -> None:
    if table.runner is not None and not _is_runner(table.runner):
        raise source.error(
            (*path, "runner"), 'names no runner: write "label", or ["label", "label"] that one runner has'
        )
    bound = sessions_of(table)
    if table.session is not None and not bound:
        raise source.error((*path, "session"), "names no session: write a number, the first is 0")
    if len(set(bound)) < len(bound):
        raise source.error((*path, "session"), "names a session twice")
    if table.runner is not None and bound:
        raise source.error(
            path, "is bound to a runner and to a session: use one factor for runners and another for sessions"
        )


def _is_runner(runner: Runner) -> bool:
    labels = [runner] if isinstance(runner, str) else runner
    return bool(labels) and all(label.strip() and "," not in label for label in labels)


def _check_bindings(table: dict[str, SettingTable], path: Path, source: Source) -> None:
    kinds = {name: _kind(each) for name, each in table.items()}
    first, kind = next(iter(kinds.items()))
    other = next((name for name in kinds if kinds[name] != kind), None)
    if other is not None:
        bound = f"{first} is bound to {kind} and {other} to {kinds[other]}"
        raise source.error((*path, other), f"{bound}: bind every setting of a factor alike")


def _kind(table: SettingTable) -> str:
    return "a runner" if table.runner is not None else "nothing" if table.session is None else "a session"


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
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
            raise source.error(
                path, "is not a name of a factor: use letters, digits, _ and -, beginning with a letter or _"
            )
        if name in PLACEHOLDERS:
            raise source.error(path, f"{{{name}}} already has a meaning in commands: choose another name")
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
            raise source.error(path, f"{_shown(name)} is not a factor; {_advice(name, study.factor)}")
        known = settings_of(study.factor[name])
        if setting not in known:
            raise source.error(path, f"{_shown(setting)} is not a setting of {name}; {_advice(setting, known)}")


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
            raise source.error(path, f"is the same as study.treatments[{first}]")


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
