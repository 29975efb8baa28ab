"""The probe: before anything is measured, one execution of each benchmark a side that tells what can be known so.

It tells whether both sides give the same output, where the rules ask for that, and whether a benchmark can differ at
all: what runs the same program on the same data is proved identical, and not measured.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

import msgspec

from gate.config.benchmark_checks import OUTPUT as NAMED
from gate.config.types import Benchmark
from gate.formats.parts.output import OutputError
from gate.model import SIDES, Failure, Same, Side, Unproved, UnprovedKind
from gate.model.sameness import MOST_NAMED
from gate.writing.plain import visible
from harness.build.builder import TreeBuilder
from harness.errors import SourceError
from harness.instruments.protocol import OUTPUT, Unusable
from harness.instruments.values import regular
from harness.loop.execution import Executions, Unmeasured
from harness.loop.proof import (
    ProofGround,
    State,
    apart,
    changed_outside,
    compared,
    differing,
    doubt,
    program_differs,
    states,
)
from harness.loop.schedule import ExecutionStep, Pair
from harness.sandbox.sandbox import outputs
from harness.source.differences import FileFacts, differences
from harness.trace.trace import Trace, Tracer, tracing
from harness.trace.watcher import Accesses

_WORTH = 2.0
"""Seconds from which a traced start is ended early: a shorter one is seen whole, which the look outside needs."""
AGAIN = 20.0
"""Seconds that comparing again takes at most: what is not known by then is not proved."""
SHARE = 0.5
"""Of the budget, what all proofs together may take; what compares outputs takes what it takes.

Where measuring can reach a verdict within the budget, each benchmark is executed ten times in it, in five rounds of
both sides: one start a side fits several times over, traced too. Where it cannot, a proof is all that the run can give.
"""


Probed = Failure | Same | Unproved
"""What the probe tells of a benchmark: that it failed, that it is the same, or why that is not proved."""


class Probe:
    """Probes benchmarks.

    no_proofs: why none is proved the same; None: proofs are wanted. begun: when the run began, in nanoseconds.
    """

    def __init__(
        self, executions: Executions, standing: TreeBuilder, benchmarks: Mapping[Side, Mapping[str, Benchmark]], *,
        no_proofs: UnprovedKind | None, begun: int,
    ) -> None:  # fmt: skip
        self._executions = executions
        self._standing = standing
        self._benchmarks = benchmarks
        self._no_proofs = no_proofs
        self._begun = begun
        self.seen: dict[tuple[str, Side], Accesses] = {}
        """What was seen of benchmarks on a side, whole or not."""
        self.cut: set[tuple[str, Side]] = set()
        """Of those the ones that were ended once they had met a difference."""
        self.proved: dict[str, Same] = {}
        """By benchmark, what holds as far as it is known."""
        self._left: dict[str, Mapping[Side, Mapping[str, State]]] = {}
        """By benchmark, how each side left what it met."""
        self._stood: ProofGround | None = None

    @property
    def seconds(self) -> float:
        """What proofs may take from now on."""
        budget = self._executions.conditions.budget
        left = budget.left
        if budget.is_over and left > 0:
            # where head's build went on beyond the budget, until twice of it
            left = max(left, 2 * budget.limit - budget.used)
        return min(left, SHARE * budget.limit)

    def examine(self, pairs: Sequence[Pair], begin: Callable[[ExecutionStep], None]) -> Iterator[tuple[str, Probed]]:
        """Probe benchmarks one after the other, by name; begin: called with each step before it is executed."""
        budget, seconds = self._executions.conditions.budget, self.seconds
        ground = self._ground(seconds)
        end = budget.clock() + seconds
        # what waits for a service does not go on beyond that, nor what compares outputs
        budget.allow(max(0.0, budget.used + seconds - budget.limit))
        for pair in pairs:
            own = {side: self._benchmarks[side][pair[side].benchmark] for side in SIDES}
            one = _One(self._executions, self._standing, own, pair, begin, end)
            name, found = pair["base"].benchmark, one.examined(ground)
            self.seen |= {(pair[side].benchmark, side): accesses for side, accesses in one.seen.items()}
            self.cut |= {(pair[side].benchmark, side) for side in one.cut}
            self._stood = ground if isinstance(ground, ProofGround) else None
            if isinstance(found, Same):
                self.proved[name] = found
                self._left[name] = one.left
            yield name, found

    def broken(self) -> dict[str, Unproved]:
        """Compare again what proved benchmarks met; return which of them are no more proved, and forget these.

        What is measured, and what is built later, may have written there.
        """
        ground, found = self._stood, dict[str, Unproved]()
        if ground is None or not self.proved:
            return found
        ground.facts.until = time.monotonic() + AGAIN
        for name in list(self.proved):
            try:
                why = self._broken(name, ground)
            except KeyError:  # a tree that could not be built again: nothing of the run counts
                why = None
            except (OSError, SourceError):
                why = Unproved(kind="failed")
            if why is not None:
                found[name] = _shown(why)
                del self.proved[name]
        return found

    def _broken(self, name: str, ground: ProofGround) -> Unproved | None:
        sandbox = self._executions.conditions.sandbox
        roots, homes = self._standing.roots(), sandbox.homes()
        known = self._left[name]
        for side in known:
            accesses = self.seen[name, side]
            why = compared(accesses, ground.root, roots or {}, ground.facts, known)
            if why is None and ground.home is not None:
                why = _of_home(compared(accesses, ground.home, homes, ground.facts, known))
            why = why or changed_outside(ground, known[side], accesses, partial(sandbox.sees, side))
            if why is not None:
                return why
        # where nothing differed, nothing was executed
        changed = sorted(differences(roots, ground.facts).paths) if roots and not known else []
        return Unproved(kind="changed", path=changed[0]) if changed else None

    def _ground(self, seconds: float) -> ProofGround | Unproved:
        """Compare both trees, in half of some seconds at most; or say why no proof can stand on them."""
        if self._no_proofs is not None:
            return Unproved(kind=self._no_proofs)
        roots = self._standing.roots()
        if roots is None:
            return Unproved(kind="not-at-one-path")
        conditions = self._executions.conditions
        own = (conditions.scratch, *([conditions.shims] if conditions.shims is not None else []))
        try:
            since = int(min(self._begun, self._standing.since()))
            home = conditions.sandbox.environment("base").get("HOME") if conditions.sandbox.homes() else None
            facts = FileFacts(time.monotonic() + seconds / 2)
            found, committed = differences(roots, facts), self._standing.committed()
            facts.until = time.monotonic() + seconds
            sources = tuple(sorted(found.paths & committed))
            home_path = None if home is None else Path(home)
            return ProofGround(found, sources, self._standing.root(), own, self._begun, since, facts, home_path)
        except TimeoutError:
            return Unproved(kind="too-long", seconds=seconds / 2)
        except (OSError, SourceError):
            return Unproved(kind="failed")


def _of_home(known: Unproved | None) -> Unproved | None:
    """Say of a path that it is in the home directory."""
    return known and msgspec.structs.replace(known, path=f"~/{known.path}")


class _One:
    """One benchmark that is probed; end: of all proofs, by the clock of the budget."""

    def __init__(
        self, executions: Executions, standing: TreeBuilder, benchmarks: Mapping[Side, Benchmark], pair: Pair,
        begin: Callable[[ExecutionStep], None], end: float,
    ) -> None:  # fmt: skip
        self._executions = executions
        self._standing = standing
        self._benchmarks = benchmarks
        self._pair = pair
        self._begin = begin
        self._end = end
        self._name = pair["base"].benchmark
        self._asked = benchmarks["base"].same_output is not False
        self._kept: dict[Side, _Output] = {}
        self.read: set[str] = set()
        self.seen: dict[Side, Accesses] = {}
        self.cut: set[Side] = set()
        self.left: dict[Side, Mapping[str, State]] = {}

    def examined(self, stands_on: ProofGround | Unproved) -> Probed:
        """Execute what must be, and tell what it told."""
        ground, known = (stands_on, None) if isinstance(stands_on, ProofGround) else (None, stands_on)
        if ground is not None:
            base, head = (self._benchmarks[side] for side in SIDES)
            recipes = self._executions.conditions.recipes
            known = apart(base, head, (recipes["base"], recipes["head"]))
            known = known or program_differs(base, self._stand("base"), ground)
        for side in SIDES:
            if not self._asked and (known is not None or (ground is not None and not ground.differences.paths)):
                break
            found = self._execute(side, None if known else ground)
            if isinstance(found, Failure):
                return found
            known = known or found
        if known is None and ground is not None and ground.home is not None and self.seen:
            # what was met in the home directories and differs, but for what the benchmark itself made there
            homes = self._executions.conditions.sandbox.homes()
            made = frozenset.intersection(*(each.absent for each in self.seen.values()))
            own = {side: {path: left[path] for path in made if path in left} for side, left in self.left.items()}
            try:
                found_there = [compared(each, ground.home, homes, ground.facts, own) for each in self.seen.values()]
                known = _of_home(next(filter(None, found_there), None))
            except OSError:
                known = Unproved(kind="failed")
        if known is not None or ground is None:
            return _shown(known or Unproved(kind="failed"))
        different = ground.differences
        return Same(
            benchmark=self._name, session=self._executions.conditions.session,
            differ=[visible(path) for path in ground.sources[:MOST_NAMED]], differ_count=len(different.paths),
            made_count=len(different.paths) - len(ground.sources), read_count=len(self.read),
            hash=dict(different.hashes),
        )  # fmt: skip

    def _stand(self, side: Side) -> Path:
        return self._standing.directory(side, self._pair[side].building)

    def _execute(self, side: Side, ground: ProofGround | None) -> Unproved | Failure | None:
        """Execute one side; ground: of a proof that is still possible."""
        benchmark, directory = self._benchmarks[side], self._stand(side)
        # what the seed moves must not differ
        first = self._pair["base"]
        step = replace(self._pair[side], seed=first.seed, padding=first.padding)
        self._begin(step)
        scratch = self._executions.conditions.scratch
        printed = outputs(scratch, side) / "same-output"
        printed.parent.mkdir(exist_ok=True)
        place = scratch / f"same-output-{side}"
        output = _Output(benchmark, directory, place, printed) if self._asked else None
        allowed = self._allowed(side)
        ran, accesses = self._traced(benchmark, step, directory, output, ground, "seccomp")
        if accesses is not None and accesses.disturbed and not ran.ended:
            ran, again = self._traced(benchmark, step, directory, output, ground, "ptrace")
            accesses = accesses.and_again(again) if again is not None else None
        failed = ran.failure is not None and not ran.ended
        if failed and ground is not None and self._asked:
            # the tracer may be why: it is slower, and takes from a program what sets its user
            ran, _ = self._traced(benchmark, step, directory, output, None, "seccomp")
        if output is not None:
            failure = self._compare(side, output, ran)
            if failure is not None:
                return failure
        if ground is None:
            return None
        if accesses is None:
            return Unproved(kind="no-tracer")
        if ran.ended:
            met = None if self._asked else differing(accesses, ground)
            self.cut |= set() if met is None else {side}
            return met or Unproved(kind="too-long", seconds=allowed)
        if failed:
            return Unproved(kind="failed")
        self.read |= accesses.read | accesses.listed
        self.left[side] = states(accesses, partial(self._executions.conditions.sandbox.sees, side))
        return doubt(accesses, ground)

    def _allowed(self, side: Side) -> float:
        """Return the seconds that a start has: of what is left base leaves head half, and so as much as it needs."""
        left = max(0.0, self._end - self._executions.conditions.budget.clock())
        return left / 2 if side == "base" else left

    def _traced(
        self, benchmark: Benchmark, step: ExecutionStep, directory: Path, output: _Output | None,
        ground: ProofGround | None, tracer: Tracer,
    ) -> tuple[Unmeasured, Accesses | None]:  # fmt: skip
        with ExitStack() as stack:
            trace: Trace | None = None
            with suppress(OSError):
                if ground is not None:
                    scratch = self._executions.conditions.scratch
                    trace = stack.enter_context(tracing(scratch, since=ground.since, tracer=tracer))

            worth = time.monotonic() + _WORTH

            def disproved() -> bool:
                # what has met a difference need not run to its end, unless its output is to be compared, or what it
                # prepared is to be removed by itself
                if trace is None or ground is None or self._asked or benchmark.prepare or benchmark.cleanup:
                    return False
                if time.monotonic() < worth:
                    return False
                return differing(trace.accesses(), ground) is not None

            ran = self._executions.run_unmeasured(
                benchmark, step, directory,
                printed=output.printed if output else None, trace=trace,
                seconds=benchmark.timeout if self._asked else self._allowed(step.side), enough=disproved,
            )  # fmt: skip
            if trace is None:
                return ran, None
            self.seen[step.side] = trace.accesses()
            return ran, self.seen[step.side]

    def _compare(self, side: Side, output: _Output, ran: Unmeasured) -> Failure | None:
        if ran.failure is not None:
            return ran.failure
        lacking = output.keep(ran.attempt.context.scratch)
        self._kept[side] = output
        of_both = lacking is None and len(self._kept) == len(SIDES)
        why = _difference(self._benchmarks["base"], self._kept["base"], self._kept["head"]) if of_both else lacking
        if why is None:
            return None
        failure = self._executions.failure(ran.attempt, why, None)
        own = None if of_both else side
        return msgspec.structs.replace(failure, kind="output", execution=None, hint=None, side=own)


def _shown(known: Unproved) -> Unproved:
    """Write a path as text, which a name need not be."""
    if known.path is None:
        return known
    return msgspec.structs.replace(known, path=visible(known.path))


# --- the same output --------------------------------------------------------------------------------------------------

_CHUNK = 1 << 20
_SHOWN = 200
"""Bytes of a line that are shown."""
_BEFORE = 40
"""Of those, the bytes before the difference in a longer line."""


class _Output:
    """The output of one side that is to be compared: looked at before its execution, and kept after it.

    benchmark: whose `same_output` says which. directory: where it runs. place: where perfgate keeps it, and no command
    writes, until the other side has been executed. printed: a file for standard output, which the command may open
    again.
    """

    def __init__(self, benchmark: Benchmark, directory: Path, place: Path, printed: Path) -> None:
        self._benchmark = benchmark
        self.place = place
        same = benchmark.same_output
        self.printed = printed if same is True else None
        """The file that takes standard output; None: nobody wants it."""
        self.digest = ""
        """The hash of what was kept."""
        self._directory = directory
        for old in (place, printed):
            old.unlink(missing_ok=True)
        self._before = None if same == NAMED else _state(self.printed or directory / str(same))

    def keep(self, scratch: Path) -> Unusable | None:
        """Copy and hash what the execution gave, since the other side's tree will stand where this one does.

        Says why there is nothing: it is a link, no regular file, elsewhere, or longer than max_output. scratch: the
        directory of the execution.
        """
        same = self._benchmark.same_output
        inside = scratch if same == NAMED else self._directory
        file = self.printed or inside / (OUTPUT if same == NAMED else str(same))
        try:
            # what the checkout has, or a build left, is nobody's output
            changed = _state(file) != self._before
            # a directory on the way may be a link to what the command itself cannot read
            limit, root = self._benchmark.max_output.value, None if self.printed else inside
            opened = regular(file, limit, root) if changed else None
        except OutputError as error:
            return Unusable(str(error), "")
        if opened is None:
            return Unusable(f"{same} was not written", "")
        digest = hashlib.sha256()
        with opened as content, self.place.open("wb") as kept:
            while chunk := content.read(_CHUNK):
                digest.update(chunk)
                kept.write(chunk)
        self.digest = digest.hexdigest()
        return None


def _difference(benchmark: Benchmark, base: _Output, head: _Output) -> Unusable | None:
    """Say where the outputs that both sides kept differ; None: they do not."""
    if base.digest == head.digest:
        return None
    where = "standard output" if benchmark.same_output is True else str(benchmark.same_output)
    with base.place.open("rb") as of_base, head.place.open("rb") as of_head:
        lines = enumerate(zip_longest(of_base, of_head), 1)
        number, one, other = next((number, one, other) for number, (one, other) in lines if one != other)
    pairs = enumerate(zip(one or b"", other or b"", strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(one or b""), len(other or b"")))
    # where one side alone ends the line, that is the difference
    ended = (one or b"\n").endswith(b"\n") and (other or b"\n").endswith(b"\n")
    shown = f"base: {_piece(one, at, ended=ended)}\nhead: {_piece(other, at, ended=ended)}"
    return Unusable(f"line {number} of {where}", shown)


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _piece(line: bytes | None, at: int, *, ended: bool) -> str:
    """Write a line around the byte from which it differs."""
    if line is None:
        return "(no such line)"
    text = line.removesuffix(b"\n") if ended else line
    start = max(0, at - _BEFORE) if len(text) > _SHOWN else 0
    piece = visible(text[start : start + _SHOWN].decode("utf-8", "backslashreplace"))
    return f"{'…' if start else ''}{piece}{'…' if len(text) > start + _SHOWN else ''}" or "(empty)"
