"""A sandbox to be attacked, and what lies around it."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate.model import Side
from harness.process.execute import Command, ProcessEnd, ProcessExecutor
from harness.sandbox.sandbox import Ground, Landlocked, examined, outputs

LIBRARY = Path(__file__).parents[2] / "hostile" / "attacks.py"


@dataclass
class Arena:
    """Two sides in a sandbox. around: directories that are no business of theirs."""

    root: Path
    write: dict[Side, list[str] | None] = field(default_factory=lambda: {"base": [], "head": []})
    copied: bool = False
    more: dict[str, str] = field(default_factory=dict)
    """Variables of perfgate itself."""

    def __post_init__(self) -> None:
        """Make what lies around."""
        self.work, self.home, self.checkout = self.root / "work", self.root / "home", self.root / "checkout"
        for directory in (self.tree("base"), self.tree("head"), self.home / ".aws", self.checkout / ".git"):
            directory.mkdir(parents=True)
        (self.work / "outputs").mkdir()
        (self.home / ".profile").write_text("mine\n")
        (self.home / ".aws" / "credentials").write_text("secret\n")
        (self.checkout / ".git" / "config").write_text("token\n")
        self.executor = ProcessExecutor(self.work / "running")

    def tree(self, side: Side) -> Path:
        return self.work / side / "tree"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def sandbox(self) -> Landlocked:
        made = Landlocked(
            Ground(
                work=self.work,
                outputs=self.work / "outputs",
                project=self.checkout,
                write=self.write,
                environments={"base": self.environment, "head": self.environment},
                links={side: self.work / "links" / side for side in ("base", "head")},
                names=frozenset(),
                copied=self.copied,
                one_path=True,
                git=self.checkout / ".git",
                kept=self.root / "kept",
                caller=self.more,
            )
        )
        for side in ("base", "head"):
            made.own(self.tree(side))
        return made

    def run(
        self, sandbox: Landlocked, argv: Sequence[str], *, side: Side = "head", scratch: Path | None = None,
        building: bool = False, more: Mapping[str, str] | None = None,
    ) -> ProcessEnd:  # fmt: skip
        """Run a command of a side inside."""
        tree = self.tree(side)
        environment = {**self.environment, **sandbox.environment(side), **(more or {})}
        confined = sandbox.confined(side, tree, building=building, scratch=scratch)
        return self.executor.run(Command(tuple(argv), tree, environment, 20.0, confined=confined))

    def sh(self, sandbox: Landlocked, script: str, *, side: Side = "head", building: bool = False) -> ProcessEnd:
        return self.run(sandbox, ("sh", "-c", script), side=side, building=building)

    def attack(self, sandbox: Landlocked, name: str, *arguments: object) -> str:
        """Make an attack; return what it says: "refused ERRNO" where the system refused it."""
        (said,) = self.attacks(sandbox, [(name, *arguments)])
        return said

    def attacks(self, sandbox: Landlocked, attacks: Sequence[tuple[object, ...]]) -> list[str]:
        """Make several by one process."""
        words = [word for each in attacks for word in ("--", *map(str, each))][1:]
        done = self.run(sandbox, (sys.executable, "-I", "-S", str(LIBRARY), *words))
        assert not done.status, done
        said = [line.strip() for line in done.stderr.strip().split("\n")]
        assert len(said) == len(attacks)
        return said

    def outputs(self, side: Side = "head") -> Path:
        return outputs(self.work / "outputs", side)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    if not examined("auto").on:
        pytest.skip(f"no sandbox here: {examined('auto')}")
    return Arena(tmp_path)


@pytest.fixture
def sandbox(arena: Arena) -> Iterator[Landlocked]:
    with closing(arena.sandbox()) as made:
        yield made
