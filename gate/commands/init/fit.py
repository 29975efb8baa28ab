"""What fits a budget, by what a trial took: shorter starts, the cases that are chosen of a large suite, the counts."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from statistics import median
from typing import Any

from gate.commands.init.found import (
    MINUTES,
    MOST,
    MOST_EXECUTIONS,
    PRINTED,
    VALUES,
    Amount,
    Found,
    Proposed,
    Rank,
    Row,
    as_printed,
    fixed_plan,
    like,
    of_parts,
    suite_plan,
)
from gate.commands.init.tree import Tree
from gate.config.commands import as_text
from gate.config.rules import FIRST_STARTS, matches

_ROUNDS, _BUILDS, _FEWEST = 12, 8, 5
"""Rounds that so many minutes hold where executions can be made fewer, should hold, and must hold for a regression."""
_SHARPER, _WORKING = 2.0, 0.9
"""How many times as noisy as CPU time a time is that gives way to it, and the share of it in which a command works."""
_WIDE = 0.1
"""A change that a plan should find: otherwise half of what is left of the minutes goes into more executions."""
_OFTEN = 5
"""Executions of a build from which few are enough for their spread."""
_BESIDE = 0.25
"""Of the time of builds: executions that take less are no reason for fewer of them."""
_MANY = 40
"""Findings beyond which a budget has too few builds for each."""
_CHOSEN, _FEW = 16, 8
"""Cases that are chosen; few where more would not be measured well enough, and of a suite that took too long, whose
start is to take seconds (or a quarter, if these are fewer). Of 41 nothing was found on a host at a load of 3.
"""
_SURE = 4.5
"""Standard errors of a change that four of five checks call, of some forty cases."""
_FILTERS = ("go", "google-benchmark", "criterion", "asv", "pyperf", "divan", "libtest")
"""Instruments, and formats of values, that give `include` to the suite, so that one case takes the time of one."""
CHOOSES = "PERFGATE_INCLUDE"
"""In what is loaded into a program: it leaves out itself what `include` does not name."""
_START = {"values": 2.0, "pyperf": 5.0}
"""Seconds of a start of a suite that takes its own time, or processes, for each case: many turns are better."""
_LEAST = 4
"""Cases that are kept whatever they take, if a budget has room for them."""
_LENGTH = re.compile(r"(--benchmark[-_]min[-_]time=|--min-time=|--sample-time=|-test\.benchtime=)([\d.]+)(ms|)")
"""The length of a value, as init writes it."""
_ROOM = 0.85
"""Of a budget that rounds may be expected to take."""
BUILD_LIMIT = "30m"
"""Of a build in a trial, and of one that took long there."""
_SLOW_BUILD = 200.0
"""Seconds from which a third of them may be too few: a runner may be slower, or loaded."""
LONGEST = 30
"""Minutes of the budget where a start takes long."""
_WHOLE = 12.0
"""Seconds of a start of which a check holds the twelve that a regression and the proof take, with two thirds more."""
_SOME = 8.0
"""Seconds of a start of chosen test cases: a check holds twelve rounds of both sides."""
_AMOUNT = Amount(1, 1)
_TIMES = re.compile(
    r"performance|hrtime|console\.time|Date\.now|clock|perf_counter|monotonic|time\.time|timeit|pyperf|chrono|Instant|"
    r"gettimeofday|microtime|nanoTime"
)


class Shorter:
    """Looks for shorter starts of a project whose benchmarks take long, trial by trial."""

    def __init__(self, tree: Tree) -> None:
        """Begin."""
        self._tree = tree
        self._whole: tuple[Found, Mapping[str, Any]] | None = None
        """What was written before the printed times were asked for, whose whole run is timed, and its trial."""
        self._apart: Found | None = None
        """What was written before its test cases were tried one by one."""
        self._long = False

    def patience(self, found: Found) -> float:
        """Return the seconds of a first start after which something shorter is tried; inf: there may be nothing."""
        begun = self._whole is not None or self._apart is not None
        timed = any(each.instrument == "spawn" for each in found.benchmarks)
        stays = begun or (timed and _by_printed_times(found, self._tree) is None)
        return math.inf if stays else _WHOLE / len(found.benchmarks)

    def next(self, found: Found, trial: Mapping[str, Any], *, compares: bool = False) -> tuple[Found, str] | None:
        """Return what is tried next, by the trial of what is written, and that in words; None: it may stay.

        compares: whether the trial gave results of other packages beside those of the project.
        """
        if self._apart is not None and len(found.benchmarks) > len(self._apart.benchmarks):
            return _joined(self._apart, found, trial)
        if self._apart is None and (apart := _parted(found, trial)) is not None:
            self._apart = found
            return apart, "a start takes too long: its test cases are tried one by one"
        if any(each.form == PRINTED for each in found.benchmarks):
            gave = _gave(trial)
            if gave and (self._long or compares):
                return _first_printed(found, trial)
            if self._whole is None:
                return None
            chosen = _sharper(*self._whole, found, trial) if gave else self._whole[0]
            said = f"it prints no times that {'tell more' if gave else 'can be read'}: its whole run is timed"
            return (chosen, said) if found != chosen else None
        self._long = _long(found, trial)
        times = _by_printed_times(found, self._tree) if self._long or _gave(trial) else None
        if self._whole is not None or times is None:
            return None
        self._whole = found, trial
        long, short = "a start takes too long to be timed ten times", "its whole run tells little of each of its parts"
        return times, f"{long if self._long else short}: the times that it prints are read"


def _parted(found: Found, trial: Mapping[str, Any]) -> Found | None:
    """Return what tries the test cases of a program that took too long one by one, spread over it; None: none did."""
    late = {each["benchmark"] for each in trial["benchmarks"] if each["longer_than"] is not None}
    benchmarks = list[Proposed]()
    for each in found.benchmarks:
        step = max(1.0, len(each.parts) / MOST)
        some = [each.parts[int(at * step)] for at in range(min(MOST, len(each.parts)))] if each.name in late else []
        # under a number, as names of test cases are sentences
        own = [replace(of_parts(each, [part]), name=f"{each.name}-{at}") for at, part in enumerate(some, 1)]
        benchmarks += own if len(own) > 1 else [each]
    return replace(found, benchmarks=benchmarks, amount=_AMOUNT) if len(benchmarks) > len(found.benchmarks) else None


def _joined(whole: Found, apart: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
    """Put the quickest test cases together that a trial had values of, as many as a start has room for; None: none."""
    told = {each["benchmark"]: each for each in trial["benchmarks"]}
    ended = [
        (each["execution"], part.name, part.parts[0])
        for part in apart.benchmarks
        if (each := told.get(part.name)) and each["longer_than"] is None and each["cases"] and not each["failures"]
    ]
    benchmarks, rows, said = list[Proposed](), [*apart.rows], list[str]()
    for each in whole.benchmarks:
        own, spent = list[str](), 0.0
        for seconds, name, part in sorted(ended):
            if name.rpartition("-")[0] == each.name and (not own or spent + seconds <= _SOME / len(whole.benchmarks)):
                own.append(part)
                spent += seconds
        if any(part.name == each.name for part in apart.benchmarks):
            benchmarks.append(each)
        elif own:
            benchmarks.append(of_parts(each, own))
            rows.append(
                Row(f"{len(each.parts) - len(own)} of {len(each.parts)} test cases", "left out: they take long")
            )
            said.append(f"{each.name} runs {', '.join(own)}")
    if not said:
        return None
    return replace(whole, benchmarks=benchmarks, rows=rows, amount=fixed_plan(1, 0.0, _SOME)), "; ".join(said)


def _gave(trial: Mapping[str, Any]) -> bool:
    """Return whether all of a trial gave values."""
    return trial["failure"] is None and not any(each["failures"] for each in trial["benchmarks"])


def _sharper(whole: Found, before: Mapping[str, Any], printed: Found, trial: Mapping[str, Any]) -> Found:
    """Return what is written to time the whole run of a program where that shows more than what it prints.

    One of k results that changes is a k-th of the whole, and where all of them do the whole changes as each: between
    the two, results are as good that vary by its root times as much as the whole.

    before, trial: of the whole, and of what it prints.
    """
    chosen = []
    for each, other in zip(whole.benchmarks, printed.benchmarks, strict=True):
        # what tells another name each time is no result
        steady = [one["spread"] for _, one in judged(other, trial) if one["values"] > 1]
        noise = median([one["spread"] or 0.0 for _, one in judged(each, before)] or [0.0])
        told = len(steady) > 1 and median(steady) <= math.sqrt(len(steady)) * noise
        chosen.append(other if told else each)
    return replace(printed if chosen != whole.benchmarks else whole, benchmarks=chosen)


def _long(found: Found, trial: Mapping[str, Any]) -> bool:
    """Return whether a benchmark that is timed as a whole takes longer than its share of the room."""
    timed = {each.name for each in found.benchmarks if each.instrument == "spawn"}
    return any(
        each["longer_than"] is not None or each["iteration"] > _WHOLE / len(found.benchmarks)
        for each in trial["benchmarks"]
        if each["benchmark"] in timed and not each["failures"]
    )


def _files(tree: Tree, words: list[str]) -> Iterator[str]:
    """Yield the files of the project that a command names, as a path or a module, and what a module loads."""
    for word in words:
        path = word.removeprefix("./")
        for each in (path, f"{path.replace('.', '/')}.py"):
            if each in tree.names:
                yield each
                beside = re.findall(r"^from \.(\w+) import", tree.text(each), re.MULTILINE)
                yield from (str(PurePosixPath(each).with_name(f"{name}.py")) for name in beside)


def _by_printed_times(found: Found, tree: Tree) -> Found | None:
    """Return what is written to read the times that programs print; None: none takes times."""
    benchmarks = [as_printed(each) if _times(tree, each) else each for each in found.benchmarks]
    return replace(found, benchmarks=benchmarks, amount=_AMOUNT) if benchmarks != found.benchmarks else None


def _times(tree: Tree, measured: Proposed) -> bool:
    texts = [tree.text(path) for path in _files(tree, shlex.split(as_text(measured.command)))]
    able = measured.instrument == "spawn" and measured.rank <= Rank.BENCHMARK
    return able and (not texts or any(map(_TIMES.search, texts)))


def _first_printed(found: Found, trial: Mapping[str, Any]) -> tuple[Found, str] | None:
    """Name the results that a trial saw before it ended a start, with that in words; None: it ended none."""
    cut = {each["benchmark"]: each["cases"] for each in trial["benchmarks"] if each["longer_than"] is not None}
    benchmarks, said = list[Proposed](), list[str]()
    for each in found.benchmarks:
        names = [one["metric"] for one in cut.get(each.name, ()) if one["decided"]]
        if each.form == PRINTED and not each.include and names:
            more = ", ..." if len(names) > 3 else ""
            said.append(f"{each.name} is ended once it has printed {', '.join(names[:3])}{more}")
            each = replace(each, include=names)
        benchmarks.append(each)
    row = Row("what it prints later", f"left out: ten starts that come so far take more than {MINUTES} minutes")
    return (replace(found, benchmarks=benchmarks, rows=[row, *found.rows]), "; ".join(said)) if said else None


# --- the cases and counts of what gave values -------------------------------------------------------------------------


def judged(measured: Proposed, trial: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the cases of a benchmark that a trial gave and the gate would judge, with their labels."""
    own = [one for each in trial["benchmarks"] if each["benchmark"] == measured.name for one in each["cases"]]
    cases = []
    for one in (each for each in own if each["decided"]):
        name = str(one["benchmark"])
        metric = str(one["metric"]).removesuffix(".median")
        cases.append((name.removeprefix(f"{measured.name}/") if name != measured.name else metric, one))
    return [each for each in cases if not any(matches(glob, each[0]) for glob in measured.exclude)]


def by_cpu_time(found: Found, trial: Mapping[str, Any]) -> tuple[Found, list[str]]:
    """Let the CPU time of commands decide where their time varies more than twice as much here; name them.

    That is where several tasks do the work, or active time would decide. Who waits for a tenth of the time keeps it.
    """
    benchmarks, named = list[Proposed](), list[str]()
    for each in found.benchmarks:
        own = (one for tried in trial["benchmarks"] for one in tried["cases"] if one["benchmark"] == each.name)
        seen = {str(one["metric"]): one for one in own}
        quieter = each.instrument == "spawn" and {"time", "active", "user", "system"} <= {*seen}
        noise = {name: seen[name]["spread"] or 0.0 for name in ("time", "user")} if quieter else {}
        if (
            quieter
            and seen["time"]["decided"]
            and noise["time"] > _SHARPER * noise["user"]
            and seen["user"]["mean"] + seen["system"]["mean"] > _WORKING * seen["active"]["mean"]
        ):
            named.append(each.name)
        benchmarks.append(replace(each, metrics=["user"]) if each.name in named else each)
    return replace(found, benchmarks=benchmarks), named


def representatives(found: Found, trial: Mapping[str, Any]) -> tuple[Found, int, int] | None:
    """Choose of a suite with more cases than a budget has room for, by the suite's own filter; None: it has fewer.

    Without few of the slowest, where that is enough; else of each group of cases the fastest is taken.

    Returns:
        what is written instead, how many cases are chosen, and how many there are.
    """
    means = {each.name: {label: one["mean"] for label, one in judged(each, trial)} for each in found.benchmarks}
    late = {each["benchmark"]: each for each in trial["benchmarks"] if each.get("longer_than") is not None}
    # by what it had printed until then
    short = _short(found, trial, means, late.values())
    # what took too long has a list, and no times
    listed = {name: each["names"] for name, each in late.items() if each.get("names")}
    means |= {name: dict.fromkeys(labels, 1.0) for name, labels in listed.items()}
    begun = {name for name in late if means[name]}
    total = sum(map(len, means.values()))
    few = min(_FEW, max(1, total // 4))
    many = few if listed else _MANY
    held = _held(found, trial)
    # how much values vary is not known of what was hurried: it is to find something
    fewest = _ROUNDS if any(each.get("hurried") for each in trial["benchmarks"]) else _FEWEST
    lengths = {each.name: _LENGTH.search(as_text(each.command)) for each in found.benchmarks}
    told = {name: float(each[2]) / (1000 if each[3] else 1) for name, each in lengths.items() if each}
    # few slow cases may take what would let the others be measured often
    often = _OFTEN if len(told) == len(means) and _finds_little(trial) else 1
    if not total or (total <= many and held >= fewest * often and short >= total and not begun - {*listed}):
        return None
    leanest = ((trial.get("plans") or {}).get("leaner") or {}).get("builds", 0)
    lean = leanest >= _BUILDS
    wanted, why = None, "left out: the slowest, which take most of the time"
    if total <= many and not begun and short >= total:
        if len(told) == len(means):
            room = _room(trial, _BUILDS)
            # executions differ more than values: where little is found, so many of each build are worth a few cases
            part = 3 if lean else 2 if held >= fewest else 1
            rooms = [(room / _OFTEN, 3), (room, part)][0 if _finds_little(trial) else 1 :]
            each = (_quick(found, trial, means, told, room, total * part / 4) for room, part in rooms)
            wanted = next(filter(None, each), None)
        if wanted is None and (lean or held >= fewest):
            return None
    if wanted is None:
        why = "left out: its table names those that are measured"
        most = min(short, few if listed else _room_for(found, trial, total))
        if math.isinf(short) and not lean:
            # with fewest values a start is as long as its cases are many
            rounds = _ROUNDS if (leanest or fewest == _ROUNDS) and _finds_little(trial) else _BUILDS
            most = max(1, int(min(most, total * max(held, leanest) / rounds)))
        counts = {b.name: _counts(judged(b, trial), _noise(found, trial)) for b in found.benchmarks}
        shares = {name: max(1, round(most * len(own) / total)) for name, own in means.items()}
        wanted = {name: _spread(found, own, counts[name], shares[name]) for name, own in means.items()}
    # a benchmark whose suite has no filter stays whole
    filtered = {
        b.name: _chosen(b, wanted[b.name], means[b.name], chooses=_loaded(found))
        for b in found.benchmarks
        if b.name in begun or len(wanted[b.name]) < len(means[b.name])
    }
    chosen = sum(len((wanted if filtered.get(name) else means)[name]) for name in means)
    benchmarks = [filtered.get(each.name) or each for each in found.benchmarks]
    if benchmarks == found.benchmarks:
        return None
    # fewer cases leave room for more executions
    plan = least = found.plan
    if len(told) == len(means):
        least = suite_plan(chosen)[0]
    elif math.isfinite(short):
        least = fixed_plan(chosen, 0.1, 0.5)
    amount = replace(plan, executions=max(plan.executions, least.executions), budget=min(plan.budget, MINUTES))
    rows = [Row(f"{total - chosen} of {total} cases", why), *found.rows]
    return replace(found, benchmarks=benchmarks, rows=rows, amount=amount), chosen, total


def _counts(cases: Sequence[tuple[str, Mapping[str, Any]]], usual: float | None) -> dict[str, float]:
    """Return the values that each case has; inf: it varies many times as much as is usual, and would tell little."""
    loud = _OFTEN * (usual or math.inf)
    return {label: one.get("values", 1) if _noise_of(one) <= loud else math.inf for label, one in cases}


def _noise_of(case: Mapping[str, Any]) -> float:
    """Return what a value of a case varies, as a share; 0: that is not known."""
    return float(case.get("start") or case.get("spread") or 0.0)


def _spread(found: Found, means: Mapping[str, float], counts: Mapping[str, float], count: int) -> list[str]:
    """Return so many cases at most: the fastest of each group, of the largest groups first.

    Of groups as large as each other those that are spread over the suite, and not its first names.

    counts: of values that each has. What has many times as many as is usual takes as many times as long.
    """
    groups: dict[str, list[str]] = {}
    usual = _OFTEN * median([counts.get(label, 1) for label in means] or [1])
    light = [label for label in means if counts.get(label, 1) <= usual]
    for label in sorted(light, key=means.__getitem__):
        # names of JavaScript are sentences
        parts = [label] if _loaded(found) else re.split(r"[/\[(<:]", re.sub(r"^\S+\.py::", "", label))
        groups.setdefault(parts[0], []).append(label)
    every = sorted(groups.values(), key=lambda own: (-len(own), own[0]))
    least = len(every[count - 1]) if count < len(every) else 0
    large = [own[0] for own in every if len(own) > least]
    alike = [own[0] for own in every if len(own) == least]
    some = min(count - len(large), len(alike))
    return sorted([*large, *(alike[int(at * len(alike) / some)] for at in range(some))])


def _loaded(found: Found) -> bool:
    """Return whether what is loaded into the programs leaves out what was not chosen."""
    return CHOOSES in found.environment.get("NODE_OPTIONS", "")


def _short(
    found: Found,
    trial: Mapping[str, Any],
    means: Mapping[str, Mapping[str, float]],
    late: Collection[Mapping[str, Any]],
) -> float:
    """Return how many cases a start may have where each takes the tool's own time; inf: they are as short as wanted.

    What is chosen stays: it is to suit a host that is not as loaded as this one may be now.

    late: benchmarks whose start was ended; means: the cases that they had printed until then, and those of the others.
    """
    cost, count = trial.get("cost"), sum(map(len, means.values()))
    longest = {_START.get(each.instrument, math.inf) for each in found.benchmarks}
    if not cost or max(longest) == math.inf:
        return math.inf
    start = sum(each["longer_than"] for each in late) or cost["executions"] / 2 / found.plan.executions
    each = max(start, 1e-3) / max(count, 1) / max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return max(1, int(min(longest) / each), min(_LEAST, int(_room(trial, _BUILDS) / 2 / each)))


def _quick(
    found: Found,
    trial: Mapping[str, Any],
    means: Mapping[str, Mapping[str, float]],
    told: Mapping[str, float],
    room: float,
    least: float,
) -> dict[str, list[str]] | None:
    """Return the cases without the slowest, if at least so many fit.

    told: seconds that a value is to last; room: those of one execution of both sides.
    """
    weights = {(name, label): max(mean, told[name]) for name, own in means.items() for label, mean in own.items()}
    share = trial["cost"]["executions"] / found.plan.executions / sum(weights.values())
    kept, spent = {name: list[str]() for name in means}, 0.0
    for name, label in sorted(weights, key=lambda each: weights[each]):
        spent += share * weights[name, label]
        kept[name] += [label] if spent <= room else []
    return kept if sum(map(len, kept.values())) >= least and all(kept.values()) else None


def _held(found: Found, trial: Mapping[str, Any]) -> float:
    """Return how many rounds of one execution the minutes hold in which a verdict is wanted; inf: that is not known."""
    cost = trial.get("cost")
    if cost is None or cost["least"]:
        return math.inf
    seconds = cost["builds"] + cost["executions"] / found.plan.executions
    return float(_ROOM * 60 * MINUTES / max(seconds, 1e-3))


def _room(trial: Mapping[str, Any], rounds: int) -> float:
    """Return the seconds of executions in each of so many rounds within the minutes in which a verdict is wanted."""
    return float(_ROOM * 60 * MINUTES / rounds - trial["cost"]["builds"])


def _room_for(found: Found, trial: Mapping[str, Any], total: int) -> int:
    """Return how many cases a check has room for with so many values of each that it finds what plans should find."""
    noise = _noise(found, trial)
    if noise is None:
        return _FEW
    value = trial["cost"]["executions"] / found.plan.executions / found.plan.iterations / total
    values = 2 * (_SURE * noise / _WIDE) ** 2
    return int(min(max(_room(trial, _ROUNDS) * _ROUNDS / (value * values), _FEW), _CHOSEN))


def _noise(found: Found, trial: Mapping[str, Any]) -> float | None:
    """Return what a value varies as is usual, as a share; None: nothing is known of it."""
    cases = [one for each in found.benchmarks for _, one in judged(each, trial)]
    return median([each for one in cases if (each := _noise_of(one))] or [0.0]) or None


def _finds_little(trial: Mapping[str, Any]) -> bool:
    """Return whether a plan as it is written finds large changes alone."""
    finds = ((trial.get("plans") or {}).get("fit") or {"finds": 0.0})["finds"]
    return finds is None or finds > _WIDE


_PARAMETER = re.compile(r"[{,](\w+)=([\w.-]+)(?=[,}])")
"""In the label of a case of JMH."""


def _chosen(measured: Proposed, labels: Sequence[str], every: Collection[str], *, chooses: bool) -> Proposed | None:
    """Return the benchmark with those cases alone, which its instrument makes the suite's filter; None: it has none.

    every: the labels of all of its cases. chooses: whether what is loaded into the program does.
    """
    if chooses or (measured.form or measured.instrument) in _FILTERS:
        return replace(measured, include=[*labels], exclude=[])
    # of what Catch2 prints a test case is the first part of the name
    parts = [next((own for own in measured.parts if f"{each}/".startswith(f"{own}/")), None) for each in labels]
    if parts and None not in parts:
        return of_parts(measured, [each for each in measured.parts if each in parts])
    text = as_text(measured.command)
    if measured.instrument == "jmh":
        # its own choice of methods stands last; behind a colon are parameters and the mode
        text = text[: text.rindex(" '")] if text.endswith("$'") else text
        methods = [*dict.fromkeys(label.split(":")[0] for label in labels)]
        # one value of a parameter where all methods have it, each of which is chosen with one
        held = [{*_PARAMETER.findall(label)} for label in labels]
        if len(methods) == len(labels):
            held = [
                {pair for label in every if label.split(":")[0] == method for pair in _PARAMETER.findall(label)}
                for method in methods
            ]
        values = [pair for pair in _PARAMETER.findall(labels[0]) if all(pair in own for own in held)]
        pattern = f"^({'|'.join(map(re.escape, methods))})$"
        words = [*(word for name, value in values for word in ("-p", f"{name}={value}")), pattern]
        return replace(measured, command=like(measured.command, f"{text} {shlex.join(words)}"))
    if measured.instrument == "pytest-benchmark":
        *words, last = text.rsplit("\n", 1)
        kept = [word for word in shlex.split(last) if not word.endswith(".py") or word.startswith("-")]
        return replace(measured, command=like(measured.command, "\n".join([*words, shlex.join([*kept, *labels])])))
    return None


def fitted(found: Found, trial: Mapping[str, Any]) -> Found:
    """Return the plan that gives a verdict in a few minutes here, as loaded as this host is, and limits that hold."""
    plans, built, cost = trial.get("plans") or {}, trial.get("built") or {}, trial.get("cost")
    if max(built.get("seconds") or 0.0, built.get("setup") or 0.0, built.get("compiled") or 0.0) > _SLOW_BUILD:
        found = replace(found, timeout=BUILD_LIMIT)
    plan, lean = found.plan, plans.get("leaner")
    if found.timed and cost and min(cost.get("starts", {}).values(), default=FIRST_STARTS) < FIRST_STARTS:
        # a start that takes so long needs none before it
        plan = replace(plan, warmup=0)
    elif not found.timed and lean:
        plan = replace(plan, executions=lean["executions"], iterations=lean["iterations"])
    if not found.timed and cost and not cost["least"]:
        each = cost["executions"] / found.plan.executions
        fit = max(_room(trial, _ROUNDS), _BESIDE * cost["builds"]) / max(each, 1e-3)
        # half of it is spare: a host may become twice as slow
        more = min(MOST_EXECUTIONS * VALUES // plan.iterations, int(fit / 2)) if _finds_little(trial) else 1
        plan = replace(plan, executions=max(1, min(plan.executions, int(fit)), more))
    if "fit" in plans:
        # the first builds come beside the minutes of a verdict
        plan = replace(plan, budget=min(LONGEST, round(plans["fit"]["budget"] / 60)))
    enough = float(plans.get("enough") or math.inf)
    if not lean and 60 * plan.budget < enough <= 60 * LONGEST:
        plan = replace(plan, budget=math.ceil(enough / 60))
    return found if plan == found.plan else replace(found, amount=plan)
