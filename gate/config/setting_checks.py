"""What no single value of a factor tells: settings that are one, or give what cannot be had."""

from __future__ import annotations

import math

from gate.config.benchmarks import check_benchmark
from gate.config.source import Path, Source
from gate.config.study import FactorTable, Setting, SettingTable
from gate.config.treatments import SIDE, Runner, sessions_of, settings_of
from gate.config.types import Benchmark
from gate.model import SIDES

_LATER = ("{seed}", "{output}", "{port}")


def check_factor(name: str, table: FactorTable, path: Path, source: Source) -> None:
    """Refuse a factor whose settings cannot be told apart, or cannot be meant.

    Raises:
        ConfigError: naming the place in the source.
    """
    settings = settings_of(table)
    if name == SIDE and (isinstance(table, dict) or sorted(map(str, settings)) != sorted(SIDES)):
        raise source.error(path, 'is the side measured: write side = ["base", "head"], or rename the factor')
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
        raise source.error(path, f"{setting} is no setting: write a finite number, or text")
    if not isinstance(setting, str):
        return
    if not setting.strip():
        raise source.error(path, "has a setting without a name")
    if any(ord(char) < 32 or ord(char) == 127 for char in setting):
        raise source.error(path, f"the setting {setting!r} holds a control character")
    _check_value(setting, path, source)


def _check_value(value: Setting | None, path: Path, source: Source) -> None:
    later = next((brace for brace in _LATER if brace in str(value)), None)
    if later is not None:
        raise source.error(path, f'"{value}" holds {later}, which is replaced in commands, prefix and args only')
    if "\0" in str(value):
        raise source.error(path, "holds a NUL, which no command can")


def _check_table(table: SettingTable, path: Path, source: Source) -> None:
    _check_value(table.value, (*path, "value"), source)
    for key in ("prefix", "args"):
        if "\0" in "".join(getattr(table, key)):
            raise source.error((*path, key), "holds a NUL, which no command can")
    if table.prefix and not table.prefix[0].strip():
        raise source.error((*path, "prefix"), "begins with an empty word: write the program to start")
    for key in ("env", "build_env"):
        for name, value in getattr(table, key).items():
            if not name or "=" in name or "\0" in name + value:
                raise source.error((*path, key, name), "is no environment variable: an empty name, or = or NUL in it")
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
            path, "is bound to a runner and to a session: bind one factor to runners, another to sessions"
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
