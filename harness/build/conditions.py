"""What all commands of a run have in common, whether they build or measure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from gate.config.study import Study
from gate.config.types import BuildTable
from gate.model import Side
from harness.build.perturb import without_shims
from harness.instruments import active_clock
from harness.process.budget import Budget
from harness.process.execute import Executor, environment_difference
from harness.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one side is built: its own [build] table, and the whole environment of its commands."""

    table: BuildTable
    environment: Mapping[str, str]
    named: tuple[str, ...] = ()
    """Words of its benchmarks' commands that may be files which the build makes."""

    @property
    def stays(self) -> bool:
        """Whether the side keeps one tree over all builds."""
        return self.table.command is not None or self.table.setup is not None


@dataclass(frozen=True, slots=True)
class Standing:
    """A side's tree while base and head take turns.

    tree: its root, where it is set aside. directory: where its commands run. places: directories, and where they stand
    while it is the side's turn; none where both sides stand at once.
    """

    tree: Path
    directory: Path
    places: Mapping[Path, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conditions:
    """By whom, in which environment and beside which files the commands of a run are run."""

    executor: Executor
    recipes: Mapping[Side, Recipe]
    caller: Mapping[str, str]
    """The environment with which a failure's is compared."""
    scratch: Path
    """An existing directory for the outputs of executions."""
    shims: Path | None = None
    """As harness.build.perturb.make_shims wrote them; None: what they perturb stays."""
    session: int = 0
    study: Study | None = None
    """What the settings of factors change."""
    budget: Budget = field(default_factory=Budget)
    """What the executor and all waiting keep to."""
    sandbox: Sandbox = field(default_factory=Sandbox)
    """What confines all commands."""
    prefix: PurePath = field(default_factory=PurePath)
    """Of the project's directory in the tree."""
    slowdown: Mapping[Side, float] = field(default_factory=dict)
    """Of a drill: the share of work that is added to a side's benchmarks (0.1: 10% more time)."""

    def root(self, directory: Path) -> Path:
        """Return the root of a tree by the project's directory in it."""
        return directory.parents[len(self.prefix.parts) - 1] if self.prefix.parts else directory

    def difference(self, side: Side, environment: Mapping[str, str]) -> dict[str, str]:
        """Return what to change in the caller's environment to repeat a side's command by hand.

        What only serves a run is left out: shims, and the home and temporary directory that the sandbox gives.
        """
        own, given = self.recipes[side].environment, self.sandbox.environment(side)
        replaced = {name for name, value in given.items() if environment.get(name) == value}
        kept = {name: value for name, value in environment.items() if name not in replaced}
        restored = {name: own[name] for name in replaced if name in own}
        return environment_difference(self.caller, without_shims(active_clock.without(kept | restored), self.shims))


_TOLD_OTHERWISE = {
    "poetry": ("POETRY_VIRTUALENVS_IN_PROJECT", "true", "poetry.lock"),
    "pipenv": ("PIPENV_VENV_IN_PROJECT", "1", "Pipfile"),
}
"""By the tool: the variable that has it keep all in the project, its value, and the file of a project that uses it."""
# Output bases, environments, derived data and containers: nothing tells these tools otherwise.
_OTHERS = re.compile(r"\b(bazel(isk)?|buck2?|pants|hatch|xcodebuild|docker[- ]compose)\b")


def keeps_by_path(commands: Iterable[str]) -> bool:
    """Return whether a command names a tool for which each side needs a path of its own."""
    return any(_OTHERS.search(command) for command in commands)


def in_project(paths: Iterable[str], commands: Iterable[str]) -> dict[str, str]:
    """Return the variables that have tools keep in each side's tree what they would keep by its path.

    paths: files of a project. commands: what is run in it.
    """
    names = {path.rpartition("/")[2] for path in paths}
    words = {word for command in commands for word in re.findall(r"\w+", command)}
    return {
        variable: value for tool, (variable, value, file) in _TOLD_OTHERWISE.items() if tool in words or file in names
    }
