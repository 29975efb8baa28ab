"""How units lie in sessions, rounds of builds, iterations of the design and builds: the strata of an experiment.

In a round every variant of the build is made once, and in each iteration of the design (a replicate) every treatment is
executed once. So rounds and replicates are blocks; builds are the whole plots of factors that vary by build, sessions
those of factors that vary by session (Montgomery, Design and Analysis of Experiments, 14.4; NIST TN 1855, 4.5). Where a
build executes a treatment more than once, what it does to that treatment is the error, not its executions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gate.model.study import Block, Error, Varies

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from gate.model.study import Factor

    Integers = npt.NDArray[np.int64]
    Array = npt.NDArray[np.float64]

RANK: dict[Varies, int] = {"execution": 0, "build": 1, "session": 2}
NESTED: tuple[Error, ...] = ("session", "build", "build x treatment")
"""The errors above that of units, each within the one before it."""


class Groups(msgspec.Struct, frozen=True, eq=False):
    """Which group each unit is in, numbered from 0, and the sizes of the groups."""

    of: Integers
    sizes: Integers

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.sizes)

    def means(self, values: Array) -> Array:
        """Return the mean of each unit's group; values: shape (n,) or (n, k)."""
        shape = (self.count, *(1,) * (values.ndim - 1))
        found: Array = (self.sums(values) / self.sizes.reshape(shape))[self.of]
        return found

    def sums(self, values: Array) -> Array:
        """Return the sum of each group; values: shape (n,) or (n, k)."""
        columns = values.reshape(len(values), -1).T
        sums = [np.bincount(self.of, weights=own, minlength=self.count) for own in columns]
        return np.array(sums, dtype=np.float64).T.reshape(self.count, *values.shape[1:])


class Layers(msgspec.Struct, frozen=True, eq=False):
    """The groups of units, from the coarsest to the finest.

    block: what executions are compared within; blocks: its groups. rounds: blocks of builds, None where a round does
    not hold all of them. errors: the random groups, whose luck terms are tested against: sessions and builds where a
    factor varies by those, builds by treatment where builds repeat treatments.
    """

    block: Block | None
    blocks: Groups
    rounds: Groups | None
    errors: dict[Error, Groups]

    @property
    def plain(self) -> bool:
        """Whether units are independent, so that there is one error."""
        return self.blocks.count == 1 and not self.errors

    @property
    def cells(self) -> bool:
        """Whether a build executes treatments more than once."""
        return "build x treatment" in self.errors

    def held(self, error: Error) -> list[Groups]:
        """Return the groups whose differences are no part of an error, the finest of each kind."""
        session, build = self.errors.get("session"), self.errors.get("build")
        upper = [session] if session is not None else []
        if error == "session":
            return []
        if error == "build":
            return [self.rounds] if self.rounds is not None else upper
        plots = [build] if build is not None else upper
        # a replicate runs through all builds of its round, so neither holds the other
        return [*plots, *([self.blocks] if self.block_at(error) and self.blocks.count > 1 else [])]

    def shared(self) -> Groups | None:
        """Return the groups that both whole plots and the blocks across them lie in; None: the whole."""
        return self.rounds if self.rounds is not None and "build" in self.errors else self.errors.get("session")

    def dimension(self, error: Error) -> int:
        """Return how many independent means of groups are held, the whole's among them."""
        held = self.held(error)
        if len(held) < 2:
            return held[0].count if held else 1
        shared = self.shared()
        return sum(each.count for each in held) - (1 if shared is None else shared.count)

    def block_at(self, error: Error) -> bool:
        """Return whether blocks are beside whole plots, not the same or above them."""
        if "build" not in self.errors:
            return True
        return self.block == "replicate" and error == "execution"


def groups(*columns: Integers) -> Groups:
    """Number the combinations of columns."""
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        place = np.unique(column, return_inverse=True)[1].reshape(len(keys))
        keys = np.unique(keys * (int(place.max()) + 1) + place, return_inverse=True)[1].reshape(len(keys))
    return Groups(keys, np.bincount(keys))


def layers(units: pd.DataFrame, factors: Sequence[Factor], block: Block | None, *, repeated: bool = True) -> Layers:
    """Lay out units by what the design says: what factors vary by, and the block.

    units: with session, round, build and replicate, numbered over the whole data. repeated: False where units are taken
    for independent within builds.
    """
    columns = {name: units[name].to_numpy(dtype=np.int64) for name in ("session", "round", "build", "replicate")}
    codes = [units[f"f{i}"].to_numpy(dtype=np.int64) for i in range(len(factors))]
    own = {level: [c for c, f in zip(codes, factors, strict=True) if f.varies == level] for level in RANK}
    errors: dict[Error, Groups] = {}
    if own["session"]:
        errors["session"] = groups(columns["session"], *own["session"])
    if own["build"]:
        errors["build"] = groups(columns["session"], columns["build"], *own["build"], *own["session"])
    rounds: Groups | None = groups(columns["session"], columns["round"])
    if rounds is not None and own["build"] and not _holds(rounds, own["build"]):
        rounds = None
    if rounds is None and block in ("replicate", "build"):
        block = None
    cells = groups(columns["session"], columns["build"], *codes)
    treatments = groups(*codes)
    several = int(np.bincount(_first(cells, treatments)).min()) > 1 if len(cells.sizes) else False
    if repeated and several and int(cells.sizes.max()) > 1:
        errors["build x treatment"] = cells
        # the means of a build's executions of a treatment hold all replicates of their round alike
        block = "build" if block == "replicate" else block
    return Layers(block, _blocks(block, columns), rounds, errors)


def _first(inner: Groups, outer: Groups) -> Integers:
    """Return the outer group of each inner one."""
    found = np.zeros(inner.count, dtype=np.int64)
    found[inner.of] = outer.of
    return found


def _blocks(block: Block | None, columns: dict[str, Integers]) -> Groups:
    whole = np.zeros(len(columns["session"]), dtype=np.int64)
    names = {"replicate": ("session", "round", "replicate"), "build": ("session", "round"), "session": ("session",)}
    return groups(whole, *(columns[each] for each in names[block])) if block else groups(whole)


def _holds(rounds: Groups, codes: Sequence[Integers]) -> bool:
    """Return whether rounds hold all settings that builds differ by, and there are several of these in each."""
    variants = groups(*codes)
    held = groups(rounds.of, variants.of)
    return held.count > rounds.count and bool((np.bincount(_first(held, rounds)) == variants.count).mean() > 0.5)


def complete_within(units: pd.DataFrame, factors: Sequence[Factor]) -> Block | None:
    """Return the lowest of builds and sessions that execute every treatment, where no design says it; None: neither.

    Only builds and sessions: a number of an execution does not say what ran beside it.
    """
    codes = [units[f"f{i}"].to_numpy(dtype=np.int64) for i in range(len(factors))]
    if not len(units) or all(f.varies != "execution" for f in factors):
        return None
    session, round_ = (units[name].to_numpy(dtype=np.int64) for name in ("session", "round"))
    treatments = groups(*codes)
    upper = groups(np.zeros_like(session), *(c for c, f in zip(codes, factors, strict=True) if f.varies == "session"))
    every = np.bincount(_first(treatments, upper))
    candidates: tuple[tuple[Block, Groups], ...] = (
        ("build", groups(session, round_)),
        ("session", groups(session)),
    )
    for name, own in candidates:
        held = groups(own.of, treatments.of)
        if own.count > 1 and bool((np.bincount(_first(held, own)) == every[_first(own, upper)]).all()):
            return name
    return None
