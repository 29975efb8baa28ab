"""Sentences about what is known before measuring: sides, rules, plan, instruments, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gate.model.warnings import setup as kinds
from gate.units import Duration, format_duration, format_share
from gate.words.numbers import plural
from gate.words.phrases import joined, listed
from gate.words.plain import clip, visible

_MOST = 3
_LONGEST = 60
_LINE = 100
_SHA = 10

# --- the sides and the rules ------------------------------------------------------------------------------------------


def _base_ahead(warning: kinds.BaseAhead) -> str:
    commits = plural(warning.commits, "commit")
    return f"base ({warning.ref}) has {commits} that head lacks: their effect counts as a change by head"


def _dirty_submodule(warning: kinds.DirtySubmodule) -> str:
    return f"submodule {warning.path} has uncommitted changes: its commit is measured without them"


def _embedded_repository(warning: kinds.EmbeddedRepository) -> str:
    return f"{warning.path} is a nested repository, not a submodule: neither side includes it"


def _left_behind(warning: kinds.LeftBehind) -> str:
    return f"perfgate cannot remove its directory {warning.directory} ({warning.why}): remove it yourself"


def _rules_changed(warning: kinds.RulesChanged) -> str:
    return f"head changes the rules ({', '.join(warning.keys)}); the rules of {warning.in_force} apply"


def _measuring_changed(warning: kinds.MeasuringChanged) -> str:
    name = warning.benchmark
    commands = [each for each in warning.changes if each.name == "command"]
    others = [each for each in warning.changes if each.name != "command"]
    if commands:
        also = f"; head also changes {_changes(others)}" if others else ""
        ran = f"base ran {_side(commands[0].was)}, head {_side(commands[0].now)}"
        return f"not the same command for {name}: {ran}{also}"
    what = f" ({_changes(others)})" if others else ""
    return f"head changes how {name} is measured{what}: the sides may not be comparable"


def _build_changed(warning: kinds.BuildChanged) -> str:
    return f"base and head are not built alike: head changes {_changes(warning.changes)}"


def _changes(changes: Sequence[kinds.Differing]) -> str:
    more = len(changes) - _MOST
    said = [f"{each.name} from {_side(each.was)} to {_side(each.now)}" for each in changes[:_MOST]]
    return joined([*said, *([f"{more} more"] if more > 0 else [])])


def _side(value: str | int | None) -> str:
    return "none" if value is None else f"`{clip(visible(str(value)), _LONGEST)}`"


def _broken(warning: kinds.BaseBroken) -> str:
    """Say how base is broken: "base 1a2b3c4d5e does not build (exit 1: lock file out of date)"."""
    what = "does not build" if warning.benchmark is None else f"does not start {warning.benchmark}"
    said = " / ".join(clip(visible(line.strip()), _LINE) for line in warning.output)
    why = ": ".join(text for text in (warning.status, said) if text)
    return f"base {(warning.base or 'unknown')[:_SHA]} {what} ({why})"


def _base_broken(warning: kinds.BaseBroken) -> str:
    found = _broken(warning)
    if warning.compared is None or warning.compared == warning.base:
        return f"{found}{_nor_ancestors(warning)}: what does not start there is not compared"
    # that head runs is the repair
    return f"{found}: head is compared with its ancestor {warning.compared[:_SHA]}"


def _nor_ancestors(warning: kinds.BaseBroken) -> str:
    if warning.tried == 0:
        return ""
    return ", nor does its parent" if warning.tried == 1 else f", nor do its {warning.tried} nearest ancestors"


def base_lacks(warning: kinds.NothingToCompare) -> str:
    """Say what base lacks: "base has no perfgate.toml, and head's build fails there (exit 2)"."""
    if warning.broken is not None:
        return f"{_broken(warning.broken)}{_nor_ancestors(warning.broken)}"
    if warning.empty:
        return f"{warning.benchmark} has no benchmark in base"
    first = "base has no perfgate.toml"
    if warning.failed == "missing":
        return f"{first}, nor the folder of the project"
    what = "head's build fails there" if warning.benchmark is None else "none of head's benchmarks runs there"
    status = f" ({warning.status})" if warning.status and warning.benchmark is None else ""
    return f"{first}, and {what}{status}"


def _nothing_to_compare(warning: kinds.NothingToCompare) -> str:
    measured = "head is measured against itself" if warning.itself else "head is measured alone"
    return f"{base_lacks(warning)}: {measured}. Once head runs and is merged, the next change is compared with it"


def _expired_accept(warning: kinds.ExpiredAccept) -> str:
    return f"the [[accept]] entry of {warning.benchmark} expired on {warning.until}: remove it ({warning.reason})"


# --- the plan ---------------------------------------------------------------------------------------------------------


def _few_builds(warning: kinds.FewBuilds) -> str:
    called = [
        *(["exact counts"] if warning.counts else []),
        *(["benchmarks remembered on this host"] if warning.remembers else []),
    ]
    below = f"plan.builds = {warning.builds} is below gate.min_builds = {warning.min_builds}"
    return f"{below}: " + (f"only {joined(called)} can show a change" if called else "nothing can show a change")


def _few_builds_per_machine(warning: kinds.FewBuildsPerMachine) -> str:
    below = f"plan.builds = {warning.builds} is below the {warning.needed} that each machine needs"
    return f'{below} with gate.sessions = "fixed": nothing can show a change'


def _few_builds_for_bootstrap(warning: kinds.FewBuildsForBootstrap) -> str:
    return f"a bootstrap interval needs {plural(warning.needed, 'build')} for a verdict, the plan has {warning.builds}"


def _no_looks_by_bootstrap(warning: kinds.NoLooksByBootstrap) -> str:
    return f"bootstrap intervals do not stop early: the whole plan is measured, {plural(warning.builds, 'round')}"


def _few_iterations_for_steady(warning: kinds.FewIterationsForSteady) -> str:
    few = f"plan.iterations = {warning.iterations} cannot show a steady state, which needs {warning.needed}"
    return f'{", ".join(warning.benchmarks)}: warmup = "auto": {few}'


def _no_early_stop(warning: kinds.NoEarlyStop) -> str:
    return (
        f"several jobs do not stop early: each measures up to {plural(warning.builds, 'round')}, as its budget allows"
    )


def _planned_from_memory(warning: kinds.PlannedFromMemory) -> str:
    lead = "" if warning.first == warning.last else f"{warning.first} to "
    counts = f"{lead}{plural(warning.last, 'build')} x {warning.executions} x {warning.iterations}"
    aim = "half-widths of half the thresholds"
    if warning.detectable is not None:
        aim = f"a change of {format_share(warning.detectable)} found in 80% of the runs"
    reached = f"for {aim}" if warning.reached else f"the nearest to {aim} within the budget"
    notes = "".join(f"; {note}" for note in warning.notes)
    return f"plan.auto: {counts} a side, {reached}, judging by earlier sessions on this host{notes}"


def _planned_as_configured(warning: kinds.PlannedAsConfigured) -> str:
    why = warning.why or "nothing is remembered about this host"
    return f"plan.auto keeps the configured plan: {why}"


# --- the instruments --------------------------------------------------------------------------------------------------


def _spawn_instead(warning: kinds.SpawnInstead) -> str:
    why = warning.why if isinstance(warning.why, str) else unusable(warning.why)
    return f"{why}: measured with the built-in spawn"


def unusable(found: kinds.ToolUnusable) -> str:
    """Say why a tool cannot be used."""
    return {
        "missing": f"{found.tool} is not installed",
        "silent": f"the version of {found.path} cannot be read ({found.error})",
        "foreign": f"{found.path} is not the benchmarking tool {found.tool}",
        "old": f"{found.tool} {found.version} is older than {found.oldest}",
    }[found.because]


def _started_by_shim(warning: kinds.StartedByShim) -> str:
    cost = "" if warning.seconds is None else f", which adds {format_duration(warning.seconds)} to every start"
    advice = f": name {warning.program} in the command" if warning.program else ": name the program behind it"
    return f"{', '.join(warning.benchmarks)}: {warning.path} is a shim of {warning.manager}{cost}{advice}"


def _instrument_limits(warning: kinds.InstrumentLimits) -> str:
    return f"{warning.instrument}: {warning.limits if isinstance(warning.limits, str) else limits(warning.limits)}"


def limits(found: Sequence[kinds.AnyLimit]) -> str:
    """Say what an instrument cannot do on this machine."""
    return "; ".join(_LIMITS[type(each)](each) for each in found)


def _events_absent(limit: kinds.EventsAbsent) -> str:
    why = limit.word or "no permission to count the kernel"
    return f"leaves out {' and '.join(limit.events)} ({why} on this machine)"


def _events_outside_kernel(limit: kinds.EventsOutsideKernel) -> str:
    paranoid = "unknown" if limit.paranoid is None else str(limit.paranoid)
    return f"counts {' and '.join(limit.events)} outside the kernel only (perf_event_paranoid: {paranoid})"


_LIMITS: dict[type, Callable[[Any], str]] = {
    kinds.MovingAddresses: lambda _: (
        "addresses cannot be fixed here (setarch -R fails or is missing, as in many containers), so counts of "
        "equal runs may differ a little"
    ),
    kinds.EventsAbsent: _events_absent,
    kinds.EventsOutsideKernel: _events_outside_kernel,
    kinds.SharedCounters: lambda limit: f"estimates {' and '.join(limit.events)}, whose counters are shared",
}


# --- what is remembered -----------------------------------------------------------------------------------------------


def _nothing_remembered(warning: kinds.NothingRemembered) -> str:
    return f"this host is not calibrated, so intervals use {warning.method}: run `perfgate calibrate`"


def _history_unusable(warning: kinds.HistoryUnusable) -> str:
    return f"the memory of this host is not used: {warning.error}"


def _memory_of_other_machine(warning: kinds.MemoryOfOtherMachine) -> str:
    differing = "; ".join(f"{each.name} was {each.was}, is {each.now}" for each in warning.differing)
    unused = f"the memory of {listed(warning.benchmarks)} is not used"
    return f"{unused}: measured on another machine ({differing or 'a different model'})"


def _round_beyond_budget(warning: kinds.RoundBeyondBudget) -> str:
    budget, seconds = format_duration(warning.budget), format_duration(warning.seconds)
    why = {
        "last-run": f"in the last run, set-up and one round took {seconds}",
        "ended": f"a budget of {seconds} ended the last run before one was complete",
        "memory": f"on this host, one takes about {seconds}",
    }[warning.basis]
    room = Duration(60.0 * math.ceil(_ROOM * warning.seconds / 60))
    ways = {"ended": "raise it as the report of that run says"}
    raised = ways.get(warning.basis, f"raise it, for example `--set plan.budget={room}`, which has room for five")
    return f"one round will not fit the budget of {budget}: {why}; {raised}"


_ROOM = 5.5
"""Rounds, with the set-up before the first: a regression needs five, and some take longer."""


_SETUP = {
    "command": "its command",
    "instrument": "its instrument",
    "warmup": "its warm-up",
    "build": "[build] command",
    "conditions": "its conditions",
}
_LONGEST = 60


def _memory_of_other_setup(warning: kinds.MemoryOfOtherSetup) -> str:
    reason = "; ".join(
        f"{_SETUP.get(each.name, each.name)} was {_shown(each.was)}, is {_shown(each.now)}"
        for each in warning.differing
    )
    unused = f"the memory of {listed(warning.benchmarks)} is not used"
    return f"{unused}: {reason or 'base and head are measured in different ways'}"


def _shown(value: str | int | None) -> str:
    if not isinstance(value, str):
        return "none" if value is None else str(value)
    return f"`{value if len(value) <= _LONGEST else value[: _LONGEST - 1] + '…'}`"


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.BaseAhead: _base_ahead,
    kinds.DirtySubmodule: _dirty_submodule,
    kinds.EmbeddedRepository: _embedded_repository,
    kinds.LfsPointers: lambda _: (
        "the checkout has Git LFS pointers instead of files, and so do both sides: run `git lfs pull`"
    ),
    kinds.LeftBehind: _left_behind,
    kinds.BaseWithoutConfig: lambda _: "base has no perfgate.toml: head's is used for both sides",
    kinds.BaseBroken: _base_broken,
    kinds.NothingToCompare: _nothing_to_compare,
    kinds.HeadWithoutConfig: lambda _: "head has no perfgate.toml: base's is used for both sides",
    kinds.RulesChanged: _rules_changed,
    kinds.Renamed: lambda of: f"{of.was} → {of.now} (renamed)",
    kinds.MeasuringChanged: _measuring_changed,
    kinds.BuildChanged: _build_changed,
    kinds.ExpiredAccept: _expired_accept,
    kinds.FewBuilds: _few_builds,
    kinds.FewBuildsPerMachine: _few_builds_per_machine,
    kinds.FewBuildsForBootstrap: _few_builds_for_bootstrap,
    kinds.NoLooksByBootstrap: _no_looks_by_bootstrap,
    kinds.FewIterationsForSteady: _few_iterations_for_steady,
    kinds.NoEarlyStop: _no_early_stop,
    kinds.NoAutoPlan: lambda _: "plan.auto keeps the configured plan: all jobs of a gate need the same one",
    kinds.DuetOnOneProcessor: lambda of: (
        f"{', '.join(of.benchmarks)}: base and head run on one processor by turns and share its caches"
    ),
    kinds.ZeroThreshold: lambda _: (
        "threshold 0: if a layout slows only some builds of one side, 5% to 34% of reports fail though the means are "
        "the same; with a threshold of 2% at most 1.2%"
    ),
    kinds.PlannedFromMemory: _planned_from_memory,
    kinds.PlannedAsConfigured: _planned_as_configured,
    kinds.SpawnInstead: _spawn_instead,
    kinds.InstrumentLimits: _instrument_limits,
    kinds.StartedByShim: _started_by_shim,
    kinds.RoundBeyondBudget: _round_beyond_budget,
    kinds.NothingRemembered: _nothing_remembered,
    kinds.HistoryUnusable: _history_unusable,
    kinds.MemoryOfOneSession: lambda _: (
        "the memory of this host is not used: it holds one session, and this run has several"
    ),
    kinds.MemoryOfOneFile: lambda _: "the memory of this host is not used: the files were measured separately",
    kinds.MemoryOfOtherMachine: _memory_of_other_machine,
    kinds.MemoryOfOtherSetup: _memory_of_other_setup,
}
"""The sentence of each type, without a full stop."""
