"""Base and head that were measured at different times: they have no rounds, sessions or order in common."""

from __future__ import annotations

import msgspec

from gate.model import Case, Evidence, Round, Sample


def apart(evidence: Evidence) -> Evidence:
    """Take away what both sides have in common only by its number: rounds, sessions and orders."""
    cases = [
        msgspec.structs.replace(case, base=_alone(case.base, 0), head=_alone(case.head, 1)) for case in evidence.cases
    ]
    return msgspec.structs.replace(evidence, cases=cases, rounds=Round(done=0, planned=None))


def _alone(sample: Sample, parity: int) -> Sample:
    """Number the builds of a side so that the other has none of the same number: there is no round that has both.

    What was executed first is not known either.
    """
    found = sessions_from_0(sample)
    builds = tuple((session, 2 * build + parity) for session, build in found.builds)
    return msgspec.structs.replace(found, builds=builds, orders=None)


def as_in_file(case: Case) -> Case:
    """Number the builds of each side as its lines do, for readers; pairs of one number are no rounds then either."""
    base, head = (
        msgspec.structs.replace(each, builds=tuple((session, build // 2) for session, build in each.builds))
        for each in (case.base, case.head)
    )
    return msgspec.structs.replace(case, base=base, head=head)


def sessions_from_0(sample: Sample) -> Sample:
    """Number sessions from 0, since session 1 of two runs is not one session."""
    numbers = {session: number for number, session in enumerate(dict.fromkeys(s for s, _ in sample.builds))}
    return msgspec.structs.replace(sample, builds=tuple((numbers[session], build) for session, build in sample.builds))
