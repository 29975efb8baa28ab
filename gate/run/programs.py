"""Two given programs as the sides of a gate: both run as they are, in one folder, and nothing is built."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from gate.checkout import text_of
from gate.cli.groups import MeasureOptions, RulesOptions
from gate.config.commands import as_text
from gate.config.config_text import ConfigError, ConfigText, Fault, read_source
from gate.config.resolve import resolve
from gate.config.types import Builds
from gate.evidence.records import DEFAULT_FOLDER
from gate.model import Commit, RulesSource, UserError
from gate.model.records import Choice, given
from gate.report.outputs import make_folder
from gate.run.project import Project, named_config, selected
from harness.source.base_and_head import SideSource as SourceSide
from harness.source.base_and_head import Sources
from harness.source.git import Git
from harness.source.repository import find_repository

FEWEST = 5
"""Rounds of turns: the top level of two programs, of which there is one build each."""
_NOBODY = {f"GIT_{who}_{what}": "perfgate" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")} | {
    f"GIT_{who}_DATE": "2000-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")
}


def two_programs(options: MeasureOptions, rules: RulesOptions) -> ConfigText | None:
    """Return the config where it compares two given programs: that of the options, or the file of this folder.

    Raises: UserError: options that mean commits beside it.
    """
    config = named_config(rules)
    file = Path("perfgate.toml")
    if config is None and file.is_file():
        # what is wrong with it is said of the side that has it
        with suppress(ConfigError):
            config = read_source(text_of(file), file.name)
    benchmarks = config.tables.get("benchmark") if config is not None else None
    if not isinstance(benchmarks, list) or not any("against" in each for each in benchmarks if isinstance(each, dict)):
        return None
    meant = {"base": options.base, "head": options.head, "creep": options.creep, "rules": rules.rules}
    for name, value in meant.items():
        if value:
            raise UserError("means commits, and two given programs have none", option=name)
    return config


@contextmanager
def open_programs(config: ConfigText, options: RulesOptions) -> Iterator[Project]:
    """Give the programs of a config as base and head, which both run in the working directory.

    What the harness needs of git is a repository of perfgate's own, with two empty commits.

    Raises: UserError: a config that is wrong, or a folder that cannot be written.
    """
    found = resolve(config, config, rules="head", config=config, sets=options.sets)
    for index, each in enumerate(found.rules.benchmark):
        if each.against is None:
            raise config.error(Fault(("benchmark", index), "has no `against`, and other benchmarks of the file have"))
    build = found.rules.build
    if build.command or build.setup:
        raise config.error(Fault(("build",), "nothing is built where two given programs are compared: leave it out"))
    plan, gate = found.rules.plan, found.rules.gate
    if isinstance(plan.builds, int) and plan.builds < FEWEST:
        raise UserError(f"plan.builds = {plan.builds}: two given programs are compared over {FEWEST} rounds at least")
    if isinstance(plan.builds, Builds):
        plan = msgspec.structs.replace(
            plan, builds=msgspec.structs.replace(plan.builds, min=max(plan.builds.min, FEWEST))
        )
    # a program of the user's may do what it does when he starts it; in CI it may be a stranger's
    sandbox = "off" if plan.sandbox == "auto" and not os.environ.get("CI") else plan.sandbox
    rules = msgspec.structs.replace(
        found.rules,
        plan=msgspec.structs.replace(plan, sandbox=sandbox),
        gate=msgspec.structs.replace(gate, min_builds=FEWEST, sameness="off"),
    )
    base = [msgspec.structs.replace(each, command=each.against or "") for each in rules.benchmark]
    settings = replace(
        found, rules=rules, sides={"base": msgspec.structs.replace(rules, benchmark=base), "head": rules}
    )
    folder = Path.cwd()
    repository = find_repository(_own_repository(folder))
    with closing(repository.store.work):
        sides = []
        for ref, key, benchmarks in (("refs/heads/base", "against", base), ("HEAD", "command", rules.benchmark)):
            # by its program, if a side has one only; otherwise by the key that names them
            name = as_text(benchmarks[0].command) if len(benchmarks) == 1 else f"`{key}` of each benchmark"
            sides.append(SourceSide(Commit(ref=name), repository.git.line("rev-parse", ref)))
        sources = Sources(sides[0], sides[1], Choice(*(given(side.commit.ref or "") for side in sides)), ())
        whose = RulesSource("named", config.name, tuple(options.sets))
        project = Project(repository, sources, settings, whose, asked=options, folder=folder)
        yield selected(project, options.benchmarks, option="benchmark")


def _own_repository(folder: Path) -> Path:
    """Make a repository with two empty commits, base and head, where it is not there yet; return its directory."""
    own = folder / DEFAULT_FOLDER
    make_folder(own, own=True)
    top = own / "programs"
    git = Git(top, {"GIT_DIR": str(top / ".git"), "GIT_WORK_TREE": str(top), **_NOBODY})
    if not (top / ".git").is_dir():
        top.mkdir(exist_ok=True)
        git.run("init", "--quiet", "--template=")
    tree = git.run("mktree").decode().strip()
    for name in ("HEAD", "refs/heads/base"):
        git.run("update-ref", name, git.line("commit-tree", tree, "-m", name))
    return top
