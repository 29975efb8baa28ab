"""Factors of hosts: what the machines differ in that measured one study each (the tables of SCHED)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gate.commands.study.options import HostFactor
from gate.evidence.records import Located
from gate.model import Execution, Run, UserError
from gate.model.study import Setting


def with_host_factors(records: Sequence[Located], named: Sequence[HostFactor]) -> list[Located]:
    """Give each execution the settings that the run line before it in its file says of its host.

    Sessions are numbered anew, one for each session of each run: machines number theirs alike.

    Raises:
        UserError: a run line is lacking or does not say, or there is a factor of that name.
    """
    runs: dict[str, Run] = {}
    place: dict[str, int] = {}
    sessions: dict[tuple[str, int, int], int] = {}
    found = []
    for located in records:
        record, path = located.record, located.path
        if isinstance(record, Run):
            runs[path] = record
            place[path] = located.line
        if isinstance(record, Execution):
            run = runs.get(path)
            own = {each.name: _setting(run, each, located) for each in named}
            taken = next((name for name in own if name in record.factors), None)
            if taken is not None:
                raise UserError(f"--host-factor {taken}: {path}:{located.line} has a factor {taken} of its own")
            key = (path, place[path], record.session)
            session = sessions.setdefault(key, len(sessions))
            record = msgspec.structs.replace(record, session=session, factors={**record.factors, **own})
            located = msgspec.structs.replace(located, record=record)
        found.append(located)
    return found


def _setting(run: Run | None, wanted: HostFactor, located: Located) -> Setting:
    option = f"--host-factor {wanted.name}={wanted.key}"
    if run is None:
        raise UserError(f"{option}: {located.path}:{located.line} has no run line before it that names its host")
    host = run.host or {}
    value = host.get(wanted.key)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        return value
    known = ", ".join(sorted(key for key, own in host.items() if isinstance(own, (str, int, float)) and own != ""))
    raise UserError(f"{option}: {located.path} says nothing of it; of its host it names {known or 'nothing'}")
