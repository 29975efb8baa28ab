"""Sentences about what is known before measuring: sides, rules, plan, instruments, memory."""

from __future__ import annotations

from gate.model.warnings import setup as kinds
from gate.words.numbers import plural
from gate.words.phrases import listed
from gate.words.warnings.base import text

# --- the sides and the rules ------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.BaseAhead) -> str:
    commits = plural(warning.commits, "commit")
    return f"base ({warning.ref}) has {commits} that head lacks: their effect counts as a change by head"


@text.register
def _(warning: kinds.DirtySubmodule) -> str:
    return f"submodule {warning.path} has uncommitted changes: its commit is measured without them"


@text.register
def _(warning: kinds.EmbeddedRepository) -> str:
    return f"{warning.path} is a repository of its own and no submodule: it is measured on neither side"


@text.register
def _(_: kinds.LfsPointers) -> str:
    return "files of git lfs are pointers in the checkout, and so on both sides: run `git lfs pull`"


@text.register
def _(_: kinds.BaseWithoutConfig) -> str:
    return "base has no perfgate.toml: head's is used for both sides"


@text.register
def _(_: kinds.HeadWithoutConfig) -> str:
    return "head has no perfgate.toml: base's is used for both sides"


@text.register
def _(warning: kinds.RulesChanged) -> str:
    return f"head changes the rules ({', '.join(warning.keys)}); in force are those of {warning.in_force}"


@text.register
def _(warning: kinds.MeasuringChanged) -> str:
    return f"head changes how {warning.benchmark} is measured: the sides may not be comparable"


@text.register
def _(warning: kinds.ExpiredAccept) -> str:
    ended = f"the accept of {warning.benchmark} ended on {warning.until}"
    return f"{ended} and no longer counts: remove it ({warning.reason})"


# --- the plan ---------------------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.Placeholder) -> str:
    name = f'benchmark "{warning.benchmark}"'
    return f"{name} is a placeholder from `perfgate init` and does not measure your project: put your own program there"


@text.register
def _(warning: kinds.FewBuilds) -> str:
    of = " of what is not remembered of this host" if warning.remembers else ""
    but = " but of exact counts" if warning.counts else ""
    below = f"plan.builds = {warning.builds} is below gate.min_builds = {warning.min_builds}"
    return f"{below}: no change{of}{but} is called"


@text.register
def _(warning: kinds.FewBuildsForBootstrap) -> str:
    return f"a bootstrap interval needs {warning.needed} builds to decide, the plan has {warning.builds}"


@text.register
def _(warning: kinds.NoLooksByBootstrap) -> str:
    return f"bootstrap intervals have no looks: all {warning.builds} rounds are measured"


@text.register
def _(warning: kinds.FewIterationsForSteady) -> str:
    few = f"plan.iterations = {warning.iterations} cannot show a steady state, which needs {warning.needed}"
    return f'{", ".join(warning.benchmarks)}: warmup = "auto": {few}'


@text.register
def _(warning: kinds.NoEarlyStop) -> str:
    return f"several jobs do not stop early: each measures all {warning.builds} rounds that its budget allows"


@text.register
def _(_: kinds.NoAutoPlan) -> str:
    return "plan.auto: the plan is as configured, since all jobs of a gate measure by one plan"


@text.register
def _(warning: kinds.PlannedFromMemory) -> str:
    builds = f"{warning.last}" if warning.first == warning.last else f"{warning.first} to {warning.last}"
    counts = f"{builds} builds x {warning.executions} x {warning.iterations}"
    aim = "half-widths of half the thresholds"
    reached = f"for {aim}" if warning.reached else f"the nearest to {aim} within the budget"
    notes = "".join(f"; {note}" for note in warning.notes)
    return f"plan.auto: {counts} a side, {reached}, by what is remembered of this host{notes}"


@text.register
def _(warning: kinds.PlannedAsConfigured) -> str:
    why = warning.why or "nothing is remembered of this host"
    return f"plan.auto: the plan is as configured, since {why}"


# --- the instruments --------------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.SpawnInstead) -> str:
    return f"{warning.why}: measured with the built-in spawn"


@text.register
def _(warning: kinds.InstrumentLimits) -> str:
    return f"{warning.instrument}: {warning.limits}"


# --- what is remembered -----------------------------------------------------------------------------------------------


@text.register
def _(warning: kinds.NothingRemembered) -> str:
    return f"nothing is remembered of this host: intervals are {warning.method} (`perfgate calibrate`)"


@text.register
def _(warning: kinds.HistoryUnusable) -> str:
    return f"what is remembered of this host is not used: {warning.error}"


@text.register
def _(_: kinds.MemoryOfOneSession) -> str:
    return "what is remembered of the host is not used: it is of one session, and there are several"


@text.register
def _(_: kinds.MemoryOfOneFile) -> str:
    return "what is remembered of the host is not used: the files were measured apart"


@text.register
def _(warning: kinds.MemoryOfOtherMachine) -> str:
    differing = "; ".join(f"{each.name} was {each.was}, is {each.now}" for each in warning.differing)
    unused = f"what is remembered of {listed(warning.benchmarks)} is not used"
    return f"{unused}: measured on another machine ({differing or 'of another make'})"


_SETUP = {
    "command": "its command",
    "instrument": "its instrument",
    "warmup": "its warm-up",
    "build": "[build] command",
    "conditions": "its conditions",
}
_LONGEST = 60


@text.register
def _(warning: kinds.MemoryOfOtherSetup) -> str:
    reason = "; ".join(
        f"{_SETUP.get(each.name, each.name)} was {_shown(each.was)}, is {_shown(each.now)}"
        for each in warning.differing
    )
    unused = f"what is remembered of {listed(warning.benchmarks)} is not used"
    return f"{unused}: {reason or 'base and head are measured in different ways'}"


def _shown(value: str | int | None) -> str:
    if not isinstance(value, str):
        return "none" if value is None else str(value)
    return f"`{value if len(value) <= _LONGEST else value[: _LONGEST - 1] + '…'}`"
