"""The controls of a run: each subject's base against itself, judged as base and head are."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.decide.design import Design, Subject
from gate.decide.estimates import estimates
from gate.model import Finding
from gate.model.controls import Control, Controls
from gate.stats.levels import EXPECTED, e_value, halves


def controls_of(subjects: Sequence[Subject], design: Design) -> list[Control | None]:
    """Judge the halves of each subject's base; None where one cannot be: too few starts or builds, or counts.

    By the gate's own intervals without memory, which is of builds, and without looks: what a stop goes by is head.
    """
    dealt = [halves(subject.case.base) for subject in subjects]
    asked = [
        msgspec.structs.replace(
            subject,
            case=msgspec.structs.replace(subject.case, base=half[0], head=half[1], hosts={}),
            threshold=0.0,
            memory=None,
        )
        for subject, half in zip(subjects, dealt, strict=True)
        if half is not None
    ]
    plain = msgspec.structs.replace(
        design, interval="fieller", method="paired", moderate=False, memory=None, sessions=1, machines=()
    )
    halved = iter(estimates(asked, plain, None).found)
    controls: list[Control | None] = [None] * len(dealt)
    alpha = 2 * EXPECTED
    for number, found in ((number, next(halved)) for number, half in enumerate(dealt) if half is not None):
        ratio = found.ratio
        limits, p = ratio.limits(alpha), ratio.p(1.0, found.subject.tails[0])
        usable = not (found.exact or found.reduced.trouble or found.hold)
        if usable and limits.low is not None and limits.high is not None and p is not None:
            controls[number] = Control(
                ratio=ratio.y / ratio.x, low=limits.low, high=limits.high, rounds=found.units, alarmed=p < alpha
            )
    return controls


def counted(findings: Sequence[Finding]) -> Controls | None:
    """Count the controls of a run; None: it has none."""
    known = [each.control for each in findings if each.control is not None]
    if not known:
        return None
    alarmed = sum(each.alarmed for each in known)
    return Controls(count=len(known), alarmed=alarmed, e_value=e_value(alarmed, len(known)))
