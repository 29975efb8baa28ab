"""Whether values depend on the session: NIST TN 1855, section 4.5.1, where a session is a boot of the machine."""

from __future__ import annotations

from gate.model.warnings.estimates import RatioBySession, SessionsDiffer
from gate.stats.diagnostics.rounds import Round, by_session
from gate.stats.diagnostics.testing import SMALLEST, deviation_between


def between_sessions(rounds: list[Round]) -> list[SessionsDiffer | RatioBySession]:
    """Warn where sessions differ more than their builds do: in what both sides have in common, and in the difference.

    Sizes are standard deviations between sessions, of which the builds within them explain nothing.
    """
    sessions = by_session(rounds)
    if len(sessions) < 2:
        return []
    level = deviation_between([[r.level for r in session] for session in sessions])
    difference = deviation_between([[r.difference for r in session] for session in sessions])
    found: list[SessionsDiffer | RatioBySession] = []
    if level is not None and level >= SMALLEST:
        found.append(SessionsDiffer(level))
    if difference is not None and difference >= SMALLEST:
        found.append(RatioBySession(difference))
    return found
