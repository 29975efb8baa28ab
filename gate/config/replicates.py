"""How the replicates of a study are spread over its rounds, and how a study that has begun is extended."""

from __future__ import annotations

from collections.abc import Sequence

from gate.config.study import Study
from gate.config.treatments import builds_of


def spread(replicates: int, rounds: int) -> tuple[int, ...]:
    """Return the replicates of each round, as even as possible, the first rounds having one more."""
    rounds = min(rounds, replicates)
    return tuple(replicates // rounds + (number < replicates % rounds) for number in range(rounds))


def shares_of(study: Study) -> tuple[int, ...]:
    """Return the replicates of each round of a study that has not begun."""
    return spread(study.replicates, builds_of(study))


def extended(shares: Sequence[int], begun: Sequence[int], replicates: int, builds: int) -> tuple[int, ...]:
    """Return the replicates of each round for a study that has begun and shall have more replicates or builds.

    Rounds that have begun stay, so that what was measured keeps its place, seed and order. What is added comes in new
    rounds: to build an old one again costs as much as a new build, which tells more. No added round has more replicates
    than a new study of that size would have; so there may be more rounds than `builds`. A round that has begun ends
    early where the rest of it exceeds that. Extending again by the same numbers, after any further round, changes
    nothing.

    Args:
        shares: the replicates of each round as planned so far.
        begun: for each round that has begun, how many of its replicates have; 0: only its builds.
        replicates: of the whole study, at least those planned so far.
        builds: rounds, at least those asked for so far.
    """
    most = -(-replicates // builds)
    kept = tuple(min(share, max(done, most)) for share, done in zip(shares, begun, strict=False))
    rest = replicates - sum(kept)
    if not rest:
        return kept
    return (*kept, *spread(rest, max(builds - len(kept), -(-rest // most))))
