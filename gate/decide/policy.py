"""Whose rules decide over measurements: those that the options name, otherwise those of the run."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.config_text import ConfigText, from_tables, project_source, read_source
from gate.config.parse import parse
from gate.config.resolve import over, tables_of
from gate.config.rules import Policy
from gate.config.types import Config
from gate.evidence.runs import config_of
from gate.model import RulesSource, Run, UserError
from gate.writing.phrases import unread


def policy_of(run: Run | None, options: RulesOptions) -> Policy:
    """Settle the rules for measurements: those that the options name, otherwise those of the run.

    Raises: UserError: rules that cannot be read, or a side that measurements do not hold.
    """
    if options.rules in ("base", "head"):
        raise UserError(
            f"{options.rules}: measurements hold one set of rules; give --rules FILE instead", option="rules"
        )
    file = options.config or (Path(options.rules) if options.rules else None)
    sets = from_tables(tables_of(options.sets), "--set")
    source = read_rules(file, "config" if options.config else "rules") if file is not None else None
    measured = config_of(run)
    if source is None and run is not None and measured is not None:
        whose = _of_run(run)
        config = (config_of(run, sets) if options.sets else None) or measured
    else:
        source = source or project_source(_text(Path("perfgate.toml")), _text(Path("pyproject.toml")))
        whose = RulesSource("named", source.name) if source else RulesSource("defaults")
        config = parse(over(source, sets) if source else sets)
        if measured is not None:
            # a file of rules need not repeat the benchmarks: how they were measured comes from the run
            names = {b.name for b in config.benchmark}
            more = (b for b in measured.benchmark if b.name not in names)
            config = msgspec.structs.replace(config, benchmark=[*config.benchmark, *more])
    whose = msgspec.structs.replace(whose, sets=(*whose.sets, *options.sets))
    return Policy(config, str(whose), today(), measured=measured, whose=whose)


def policy_at(run: Run, config: Config) -> Policy:
    """Make the policy of a run that is being measured: the very rules that its run line holds."""
    whose = _of_run(run)
    return Policy(config, str(whose), today(), measured=config, whose=whose)


def _of_run(run: Run) -> RulesSource:
    return run.whose or (RulesSource("named", run.rules) if run.rules else RulesSource("run"))


def today() -> datetime.date:
    """Return the day in UTC, by which entries of [[accept]] end."""
    return datetime.datetime.now(tz=datetime.UTC).date()


def read_rules(file: Path, option: str = "rules") -> ConfigText:
    """Read a config file that an option names; a pyproject.toml by its [tool.perfgate].

    Raises: UserError: it cannot be read, or is not TOML.
    """
    text = _text(file, option)
    if text is None:
        raise UserError(f"{file}: no such file", option=option)
    return read_source(text, str(file), prefix=("tool", "perfgate") if file.name == "pyproject.toml" else ())


def _text(file: Path, option: str | None = None) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {unread(error)}", option=option) from None
