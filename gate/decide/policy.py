"""Whose rules decide over measurements: those that the options name, else those of the run."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.parse import parse
from gate.config.resolve import over, tables_of
from gate.config.rules import Policy
from gate.config.source import Source, from_tables, project_source, read_source
from gate.config.types import Config
from gate.model import Run, UserError


def policy_of(run: Run | None, options: RulesOptions) -> Policy:
    """Settle the rules for measurements: those that the options name, else those of the run.

    Raises:
        UserError: rules that cannot be read, or a side that measurements do not hold.
    """
    if options.rules in ("base", "head"):
        raise UserError(f"--rules {options.rules}: measurements hold one set of rules; give --rules FILE instead")
    file = options.config or (Path(options.rules) if options.rules else None)
    sets = from_tables(tables_of(options.sets), "--set")
    source, origin = _source(run, file)
    lenient = origin == "run"
    config = parse(over(source, sets), lenient=lenient) if source else parse(sets)
    if origin == "file" and run and run.config:
        config = _with_benchmarks(config, parse(from_tables(run.config, "the run's config"), lenient=True))
    name = {"run": (run.rules if run else None) or "the run", "none": "defaults"}.get(
        origin, source.name if source else ""
    )
    if options.sets:
        name += f" with {', '.join(options.sets)}"
    return Policy(config, name, datetime.datetime.now(tz=datetime.UTC).date())


def _source(run: Run | None, file: Path | None) -> tuple[Source | None, str]:
    if file is not None:
        return read_rules(file), "file"
    if run and run.config:
        return from_tables(run.config, "the run's config"), "run"
    here = project_source(_text(Path("perfgate.toml")), _text(Path("pyproject.toml")))
    return (here, "file") if here else (None, "none")


def _with_benchmarks(config: Config, measured: Config) -> Config:
    # a file of rules need not repeat the benchmarks: how they were measured comes from the run
    names = {b.name for b in config.benchmark}
    return msgspec.structs.replace(
        config, benchmark=[*config.benchmark, *(b for b in measured.benchmark if b.name not in names)]
    )


def read_rules(file: Path) -> Source:
    """Read a config file named on the command line; a pyproject.toml by its [tool.perfgate].

    Raises:
        UserError: it cannot be read, or is not TOML.
    """
    text = _text(file)
    if text is None:
        raise UserError(f"{file}: no such file")
    return read_source(text, str(file), prefix=("tool", "perfgate") if file.name == "pyproject.toml" else ())


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"{file}: cannot be read: {why}") from None
