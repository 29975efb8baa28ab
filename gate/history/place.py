"""Where the history is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gate.history.entries import HistoryError

ELSEWHERE = "name another file with --history, [gate] history or PERFGATE_HISTORY"


def path_of(option: Path | None, configured: str | None, environment: Mapping[str, str]) -> Path:
    """Say where the history is: the option, [gate] history, PERFGATE_HISTORY, else in the user's state directory.

    Raises:
        HistoryError: nothing names it, and the user has no home directory.
    """
    for given in (option, configured, environment.get("PERFGATE_HISTORY")):
        if given:
            return _expanded(Path(given), environment)
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # as the XDG base directory specification asks for
        state = _expanded(Path("~/.local/state"), environment)
    return state / "perfgate" / "history.sqlite"


def _expanded(path: Path, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME")
    if home and path.parts[:1] == ("~",):
        return Path(home, *path.parts[1:])
    try:
        return path.expanduser()
    except RuntimeError:
        raise HistoryError(f"{path}: no home directory is known: {ELSEWHERE}") from None
