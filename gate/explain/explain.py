"""explain: two profiles of a benchmark -> which functions add to the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from gate.explain.blame import Blames, blame_by_calls, blame_by_shape
from gate.explain.call_tree import BOTH, Node, call_tree, is_project, match, settle_shifts
from gate.model.profile import Agreement, Amounts, Candidate, Explanation, Frame, FrameChange, Moved, Profile, State

MOST = 20
"""Candidates that are listed."""
_MOVED = 5
_GUESS = 0.2
_PARTS = 3
_MINOR = 0.1
"""A function with less than this share of what moved is not named."""
_CALLERS = 6
_LEAST = 0.002
"""Costs below this share of the program's say nothing."""
_WORTH_SAYING = 0.05
"""A shift of less than this share of the difference is not listed."""
_SHOWN = 0.5
"""A profile shows a change if its own is at least this share of it, both as logarithms."""
_IN_DIFF = 2.0
"""How much more a function in a changed file counts."""
_NOT_OURS = 0.5
"""How much less a library function counts that no function of the project calls, such as a collector's."""


class MetricRatio(msgspec.Struct, frozen=True):
    """What was measured of the benchmark that the profiles are of."""

    metric: str
    unit: str
    ratio: float
    """Above 1 is worse."""
    low: float
    high: float
    """Ends of its interval: a profile whose change lies between them does not disagree."""


def explain(base: Profile, head: Profile, measured: MetricRatio | None = None) -> Explanation:
    """Rank the functions of two profiles by what they add to the difference, and set apart what only moved.

    Args:
        base: of the same benchmark and profiler as head.
        measured: the change to be explained; None: nothing was measured.
    """
    return _Comparison(base, head).explanation(measured)


class _Comparison:
    """Two profiles in one tree, with what each function is blamed for."""

    def __init__(self, base: Profile, head: Profile) -> None:
        self.base, self.head = base, head
        functions, numbers = match(base, head)
        self.functions = functions
        files_known = any((bool(f.frame.file) and is_project(f.frame, files_known=True)) for f in functions)
        self.project = [is_project(f.frame, files_known=files_known) for f in functions]
        self.states: list[State] = [
            "new" if f.base is None else "changed" if f.head is not None else "gone" for f in functions
        ]
        # how often each function was called, per operation; None where a side did not count
        self.calls: list[Amounts | None] = [None] * len(functions)
        if base.calls is not None and head.calls is not None:
            often = [[0.0, 0.0] for _ in functions]
            for side, profile in enumerate((base, head)):
                for number, calls in zip(numbers[side], profile.calls or [], strict=False):
                    often[number][side] += calls / (profile.operations or 1.0)
            self.calls = [Amounts(*both) for both in often]
        self.root = call_tree(base, head, numbers, self.project)
        self.total = Amounts(self.root.inclusive[0], self.root.inclusive[1])
        # the functions whose own change says how evenly both sides ran; for as many calls where those count
        large = []
        for cost, each in zip(_Costs(self.root, len(functions)).cost, self.calls, strict=True):
            if min(cost.base, cost.head) > _LEAST * self.total.base:
                times = each.head / each.base if each is not None and each.base and each.head else 1.0
                large.append(Amounts(cost.base, cost.head / times))
        self.sampling = Sampling(base, head, large)
        if self.sampling.speed != 1.0:
            self.root = call_tree(base, head, numbers, self.project, speed=self.sampling.speed)
        least = _LEAST * max(self.total.base, self.total.head)
        self.shifts = settle_shifts(self.root, self.states, least)
        counted = [calls for calls in self.calls if calls is not None]
        self.blames: Blames
        if len(counted) == len(self.calls):
            self.blames = blame_by_calls(self.root, counted, self.states)
        else:
            self.blames = blame_by_shape(self.root, self.states, self.sampling.error, least)
        self.costs = _Costs(self.root, len(functions))

    def explanation(self, measured: MetricRatio | None) -> Explanation:
        error = self.sampling.error(self.total, whole=True)
        noise = error > 0 and abs(self.total.change) <= SURE * error
        # of the functions, as far as it is not the same for all
        whole = self.root.inclusive[1] - self.root.inclusive[0]
        worse = whole if whole > 0 and not noise else None
        ranked = sorted(self.blames, key=lambda i: (-self._score(i), self._frame(i).function))
        candidates = [self._candidate(i, worse) for i in ranked if i >= 0 and self._score(i) > 0]
        least = _LEAST * max(self.total.base, self.total.head)
        listed = [c for c in candidates if abs(c.change) >= least or c.maybe >= _WORTH_SAYING * abs(whole)]
        operations = self.base.operations, self.head.operations
        return Explanation(
            benchmark=self.head.benchmark,
            factors=self.head.factors,
            session=self.head.session,
            metric=measured.metric if measured else None,
            profiler=self.head.profiler,
            tool=self.head.tool,
            unit=self.head.unit,
            approximate=self.base.approximate or self.head.approximate,
            operations=None if None in operations else Amounts(*(each or 0.0 for each in operations)),
            total=self.total,
            measured=measured.ratio if measured else None,
            alike=self.sampling.alike,
            left_alike=self.sampling.speed != 1.0,
            agreement=self._agreement(noise, measured),
            noise=noise,
            candidates=listed[:MOST],
            moved=self._moved(worse),
            left_out=max(0, len(listed) - MOST),
        )

    def _agreement(self, noise: bool, measured: MetricRatio | None) -> Agreement:
        """Compare the profiles' totals with the measured change."""
        total = self.total
        if measured is not None and measured.unit == "B":
            return "elsewhere"
        if measured is None or min(total.base, total.head, measured.ratio) <= 0 or measured.ratio == 1:
            return "unknown"
        wanted, found = math.log(measured.ratio), math.log(total.head / total.base)
        if math.log(max(measured.low, 1e-9)) <= found <= math.log(measured.high):
            return "agrees"
        if found * wanted < 0 and not noise:
            return "opposite"
        return "agrees" if abs(found) >= _SHOWN * abs(wanted) and found * wanted > 0 else "less"

    def _frame(self, index: int) -> Frame:
        return self.functions[index].frame if index >= 0 else Frame("")

    def _score(self, index: int) -> float:
        if index < 0:
            return -math.inf
        weight = 1.0 if self.project[index] else _NOT_OURS
        return self.blames[index].score * weight * (_IN_DIFF if self._in_diff(index) else 1.0)

    def _in_diff(self, index: int) -> bool | None:
        changed = self.head.changed
        if changed is None:
            return None
        function = self.functions[index]
        return any(frame is not None and frame.file in changed for frame in (function.base, function.head))

    def _candidate(self, index: int, worse: float | None) -> Candidate:
        function, blamed, costs = self.functions[index], self.blames[index], self.costs
        cost = costs.cost[index]
        error = self.sampling.error(costs.inclusive[index] if blamed.more else cost)
        path = max(blamed.paths, key=lambda p: abs(blamed.paths[p])) if blamed.paths else ()
        least = 0.05 * abs(blamed.change)
        library = {i: c for i, c in costs.library[index].items() if c * blamed.change > 0 and abs(c) >= least}
        return Candidate(
            frame=function.frame,
            was=function.was,
            state=self.states[index],
            project=self.project[index],
            in_diff=self._in_diff(index),
            cost=cost,
            own=costs.own[index],
            inclusive=costs.inclusive[index],
            calls=self.calls[index],
            change=blamed.change,
            maybe=blamed.maybe,
            share=blamed.change / worse if worse else None,
            noise=error > 0 and abs(blamed.change) <= SURE * error,
            library=self._parts(library),
            more=self._parts({i: c for i, c in blamed.more.items() if c >= least and c > 0}),
            guesses=self._parts({i: c for i, c in blamed.guesses.items() if c >= max(least, _GUESS * blamed.maybe)}),
            callers=[self._frame(i) for i in path[-_CALLERS:]],
        )

    def _parts(self, changes: Mapping[int, float]) -> list[FrameChange]:
        largest = sorted(changes, key=lambda i: (-abs(changes[i]), self._frame(i).function))[:_PARTS]
        return [FrameChange(self._frame(i), changes[i]) for i in largest]

    def _moved(self, worse: float | None) -> list[Moved]:
        """Name what moved, the largest first, without a function that only changed its place."""
        least = _WORTH_SAYING * (worse or max(self.total.base, self.total.head))
        found = []
        for node, net in self.shifts:
            cost = sum(change for change in net.values() if change > 0)
            costs = [self.costs.cost[i] for i in net if i >= 0]
            error = self.sampling.error(Amounts(sum(c.base for c in costs), sum(c.head for c in costs)))
            if cost < max(least, SURE * error):
                continue
            large = {i: change for i, change in net.items() if abs(change) > _MINOR * cost}
            moved = Moved(
                sources=self._parts({i: change for i, change in large.items() if change < 0}),
                targets=self._parts({i: change for i, change in large.items() if change > 0}),
                caller=self._frame(node.function) if node.function >= 0 else None,
                cost=cost,
                inclusive=Amounts(node.inclusive[0], node.inclusive[1]),
            )
            found.append(moved)
        return sorted(found, key=lambda m: -m.cost)[:_MOVED]


class _Costs:
    """The costs of each function over all its places in the tree."""

    def __init__(self, root: Node, count: int) -> None:
        cost, own, inclusive = ([[0.0, 0.0] for _ in range(count)] for _ in range(3))
        self.library: list[dict[int, float]] = [{} for _ in range(count)]
        for node in root.below():
            if node is root:
                continue
            index = node.function
            for side in BOTH:
                cost[index][side] += node.cost[side]
                own[index][side] += node.own[side]
                # recursion is folded, so no function stands below itself
                inclusive[index][side] += node.inclusive[side]
            for called, both in node.library.items():
                self.library[index][called] = self.library[index].get(called, 0.0) + both[1] - both[0]
        self.cost, self.own, self.inclusive = ([Amounts(b, h) for b, h in each] for each in (cost, own, inclusive))


SURE = 2.6
"""Standard errors that a difference needs to exceed; of some ten functions looked at, one in ten profiles has a false
one."""
_COUNTED = frozenset({"instructions"})
_MANY = 20
_CLEAR = 0.15
"""Standard error of the logarithm of a function's ratio below which it shows how evenly both sides ran."""
_ENOUGH = 8
"""Functions that show how evenly both sides ran."""
_EVEN = 1.04
_MAD = 1.4826
"""Of normal noise: standard deviation over the median of absolute deviations."""
_MOST_NOISE = 0.3
_TIMED = 0.03
"""Relative standard deviation of a timed function from one execution to the next, on a quiet machine."""


class Sampling:
    """What one sample of each side is worth, or that nothing is sampled; and how evenly both sides ran."""

    def __init__(self, base: Profile, head: Profile, costs: Sequence[Amounts]) -> None:
        """Take two profiles of one unit.

        costs: of the functions; most of them are the same program on both sides.
        """
        self._counted = base.unit in _COUNTED
        # the cost of one sample: of many stacks the rare ones were seen once; timers do not tick evenly, so the least
        # cost of all says too little
        self._quanta = [0.0, 0.0]
        for side, profile in enumerate(() if self._counted else (base, head)):
            seen = sorted(stack.cost for stack in profile.stacks if stack.cost > 0)
            rare = seen[len(seen) // 4] if len(seen) >= _MANY else min(seen, default=0.0)
            self._quanta[side] = (1.0 if base.unit == "samples" else rare) / (profile.operations or 1.0)
        ratios = []
        for cost in costs:
            # sampling alone leaves the ratio about as it is
            errors = sum(q / side for side, q in zip((cost.base, cost.head), self._quanta, strict=True) if side > 0)
            if min(cost.base, cost.head) > 0 and math.sqrt(errors) <= _CLEAR:
                ratios.append(math.log(cost.head / cost.base))
        ratios.sort()
        known = len(ratios) >= _ENOUGH
        middle = ratios[len(ratios) // 2] if known else 0.0
        spread = sorted(abs(ratio - middle) for ratio in ratios)[len(ratios) // 2] if known else 0.0
        self.alike = math.exp(middle) if abs(middle) >= math.log(_EVEN) else 1.0
        """By which factor the functions changed alike, in the middle; 1: about the same, or too few are known."""
        self._timed = 0.0 if self._counted or base.unit == "samples" else max(_TIMED, min(_MAD * spread, _MOST_NOISE))

    @property
    def speed(self) -> float:
        """How many times as long head took for the same: of times, which no two executions share."""
        return 1.0 if self._counted else self.alike

    def error(self, cost: Amounts, *, whole: bool = False) -> float:
        """Return the standard error of a difference: of samples by Poisson's law, of times with their noise.

        whole: it is of the program, in which the noise of the functions averages out.
        """
        sampled = self._quanta[0] * abs(cost.base) + self._quanta[1] * abs(cost.head)
        timed = min(self._timed, _TIMED) if whole else self._timed
        return math.sqrt(sampled + (timed * cost.base) ** 2 + (timed * cost.head) ** 2)
