"""The project of a calibration: head on both sides."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from gate.commands.options import RulesOptions
from gate.commands.own import remember_outputs
from gate.commands.project import Project, open_project
from gate.config.errors import ConfigError
from harness import source
from harness.repository import find_repository


def open_itself(head: str | None, options: RulesOptions, outputs: Collection[Path] = ()) -> Project:
    """Find the repository around the working directory, and its head as both sides.

    head: a ref; None: the working tree as it is. outputs: as for open_project.

    Raises:
        UserError: no repository, a head that is not there, or a config that is wrong.
    """
    repository = find_repository(Path.cwd())
    own = remember_outputs(repository, outputs)
    # a base that is given asks for no default branch and no history
    chosen = source.resolve(repository, base=head or "HEAD", head=head, environment={}, leave_out=own).head
    try:
        project = open_project(chosen.revision, head, options, outputs)
    except ConfigError as error:
        # both sides are head: what base's file is told of is wrong in head's
        told, _, _ = str(error).partition("; for the change that mends it: ")
        raise ConfigError("", f"head: {told.removeprefix('base: ')}" if told.startswith("base: ") else told) from None
    before = project.sources
    sources = source.Sources(before.head, before.head, "head on both sides", _of_head(before.warnings))
    kept = [w for w in project.settings.warnings if w not in before.warnings or w in sources.warnings]
    settings = dataclasses.replace(project.settings, warnings=kept)
    return dataclasses.replace(project, sources=sources, settings=settings)


def _of_head(warnings: Collection[str]) -> tuple[str, ...]:
    # a working tree with changes is a commit that head lacks
    return tuple(warning for warning in warnings if not warning.startswith("base ("))
