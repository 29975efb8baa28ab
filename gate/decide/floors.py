"""What a floor alone decides: a change beyond the threshold that it hides, and a case that it gives up.

Source: docs/method.md, verdicts of findings, floor.
"""

from __future__ import annotations

from typing import Literal

from gate.decide.design import Design
from gate.decide.estimates import ONLY_REPORTS
from gate.decide.futility import is_futile
from gate.decide.looks import Judged


def hidden(judged: Judged, alpha: float) -> Literal["worse", "better"] | None:
    """Return the direction of a change that is shown to be beyond the threshold and below the floor; None: none is.

    Beyond the threshold is tested at alpha, without looks, family and min_builds: by its threshold alone the finding
    would be a regression, an improvement, or inconclusive since it may be one, and nothing more is measured of it.
    """
    found, ratio = judged.estimated, judged.estimated.ratio
    if not judged.position.within_floor or found.hold in ONLY_REPORTS:
        return None
    if found.exact or found.reduced.trouble:
        return "worse" if (ratio.y > ratio.x) == judged.subject.lower else "better"
    if judged.p is not None and judged.p < alpha:
        return "worse"
    return "better" if judged.p_improvement is not None and judged.p_improvement < alpha else None


def gives_up(judged: Judged, design: Design) -> bool:
    """Return whether a case was given up because of its floor: by its threshold alone it would be measured on."""
    if not judged.futile or judged.subject.floor is None:
        return False
    found, alpha = judged.estimated, judged.regression.alpha
    return is_futile(found, judged.look, alpha, design) and not is_futile(
        found, judged.look, alpha, design, floor=False
    )
