"""The class of a machine: what must be alike for absolute values to be comparable, by no name of a host."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from gate.config.types import Config
from gate.evidence.records import Located
from gate.model import HostState, Run
from gate.model.history import Machine
from gate.units import nominal_gib

_FACTS = ("os", "kernel", "machine", "cpu", "cores", "affinity")
"""Of a run line's host. Its name and boot are left out, and any other key, which may hold a name too."""
_SETTINGS = ("governor", "turbo")
"""Of the state when measuring began."""
_DIGITS = 12


def machine_of(records: Collection[Located], config: Config) -> Machine:
    """Return the class of the machine that measured, of several with every one's facts."""
    hosts = [each.record.host for each in records if isinstance(each.record, Run) and each.record.host]
    states = [r for each in records if isinstance(r := each.record, HostState) and r.when == "begin"]
    tools = sorted({benchmark.instrument for benchmark in config.benchmark})
    every = [
        *(_known(host, (*_FACTS, *tools)) | _memory(host) for host in hosts),
        *(_known(state.state, _SETTINGS) for state in states),
    ]
    names = dict.fromkeys(name for facts in every for name in facts)
    facts = {name: _one([each[name] for each in every if name in each]) for name in names}
    text = msgspec.json.encode(facts, order="sorted")
    return Machine(id=hashlib.sha256(text).hexdigest()[:_DIGITS], facts=facts)


def _known(facts: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {
        name: facts[name]
        for name in names
        if isinstance(facts.get(name), (str, int, float)) and facts[name] not in ("", "unknown")
    }


def _memory(host: Mapping[str, Any]) -> dict[str, Any]:
    memory = host.get("memory")
    return {"memory": int(nominal_gib(memory) * 2**30)} if isinstance(memory, int) and memory > 0 else {}


def _one(values: list[Any]) -> Any:
    """Return a fact that all machines share, otherwise each one's."""
    every = list(dict.fromkeys(values))
    return every[0] if len(every) == 1 else " and ".join(sorted(map(str, every)))
