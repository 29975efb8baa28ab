"""Whether a benchmark meets outside its tree what its own build left there: `go build -o /tmp/app` is not each side's.

Both sides have trees of their own. What a build leaves elsewhere, the next build of the other side overwrites, and then
both sides run one program.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import string
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from gate.config.types import Benchmark
from gate.model import Failure, Side
from gate.model.case import canonical, pairs
from gate.walking import walk
from gate.writing.plain import visible
from gate.writing.units import plural
from harness.build.builder import TreeBuilder
from harness.loop.execution import Executions
from harness.loop.proof import changed_above, is_hosts
from harness.loop.schedule import BuildStep, ExecutionStep
from harness.sandbox.home import Reach
from harness.source.differences import FileFacts
from harness.trace.trace import tracing
from harness.trace.watcher import Accesses

SECONDS = 20.0
"""That looking takes of all benchmarks together, beside the probe: a program opens most files as it starts."""
_SHARE = 0.05
"""Of what is left of the budget, at most."""

_CONTAINERS = ("docker", "podman", "nerdctl")
_NAME = re.compile(r"[a-z0-9][a-zA-Z0-9._/:@-]*")

Tree = tuple[Side, str]
"""A side, and the settings that its build depends on."""


_Known = tuple[tuple[int | str, ...], str]
"""What is at a path: facts that change with it, and its content: a file's hash, a link's target, "" of all else."""


def tree_of(step: BuildStep | ExecutionStep) -> Tree:
    """Return the tree that a step makes or needs."""
    return step.side, canonical(step.factors if isinstance(step, BuildStep) else step.building)


class Outside:
    """Finds what builds leave outside their trees, and compares it with what is there when a benchmark starts.

    A suspicion is a file that a benchmark reads there and that changed since the builds began. Who wrote it is not
    known then; so all but the last are built once more, one after the other, and after each build it is noted what is
    there. Without a suspicion nothing is compared later.
    """

    def __init__(
        self, executions: Executions, standing: TreeBuilder, benchmarks: Mapping[Side, Mapping[str, Benchmark]],
        begun: int,
    ) -> None:  # fmt: skip
        """See the class; begun: when the run began, in nanoseconds."""
        self._executions = executions
        self._standing = standing
        self._benchmarks = benchmarks
        self._begun = begun
        self._met: dict[tuple[str, Tree], list[str]] = {}
        self._facts = FileFacts(timeless=True)
        self._known: dict[str, _Known] = {}
        """By absolute path, or by the tool and the name of an image."""
        self._left: dict[Tree, dict[str, str]] = {}
        self._writers: dict[str, BuildStep] = {}

    def suspects(
        self, steps: Sequence[ExecutionStep], seen: Mapping[tuple[str, Side], Accesses], started: int,
        last: BuildStep | None, begin: Callable[[ExecutionStep], None],
    ) -> str | None:  # fmt: skip
        """Look for files outside that a build may have written; return one of them.

        steps: the first of each benchmark in each tree. seen: what the probe saw of them. started: when the first of
        them started, in nanoseconds: what changed later is no build's. last: the build after all others, which has left
        what is there; None: which one that is, is not known. begin: called with each step before it is executed.
        """
        conditions = self._executions.conditions
        stay = {side: recipe for side, recipe in conditions.recipes.items() if recipe.stays}
        reaches = [conditions.sandbox.reach(side, recipe.environment) for side, recipe in stay.items()]
        since = int(min(self._begun, self._standing.since())) if stay else 0
        if len(set(map(tree_of, steps))) <= 1:
            # nobody else's build can overwrite what its own has left
            return None
        images = {(step.benchmark, tree_of(step)): list(self._images(step)) for step in steps}
        if not any(images.values()) and not any(_is_changed(reach, since, started) for reach in reaches):
            return None
        end = time.monotonic() + min(SECONDS, _SHARE * conditions.budget.left)
        paths: dict[tuple[str, Tree], list[str]] = {}
        cut: list[tuple[str, Tree]] = []
        for number, step in enumerate(steps):
            accesses = seen.get((step.benchmark, step.side))
            if accesses is None:
                begin(step)
                left, ended = max(0.0, end - time.monotonic()) / (len(steps) - number), True
                directory = self._standing.directory(step.side, step.building)
                with suppress(OSError), tracing(conditions.scratch, since=self._begun) as trace:
                    benchmark = self._benchmarks[step.side][step.benchmark]
                    ran = self._executions.run_unmeasured(benchmark, step, directory, trace=trace, seconds=left)
                    accesses, ended = trace.accesses(), ran.ended
                cut += [(step.benchmark, tree_of(step))] if ended else []
            met = self._named(step)
            if accesses is not None:
                # one of them is named: programs before what they read, and sources before what is made of them
                read = sorted(accesses.read, key=lambda path: (path.endswith(".pyc"), path))
                met += [*sorted(accesses.executed), *read]
            held = [each for each in dict.fromkeys(met) if not is_hosts(each) and any(r.holds(each) for r in reaches)]
            paths[step.benchmark, tree_of(step)] = [*held, *images[step.benchmark, tree_of(step)]]
        for place in cut:
            # what a busy machine did not let it reach it probably meets as well
            beside = [path for other, found in paths.items() if other[0] == place[0] for path in found]
            paths[place] = list(dict.fromkeys([*paths[place], *beside]))
        passed: set[str] = set()
        for place, found in paths.items():
            # what a benchmark has written is not a build's, whichever side's it was
            met = [path for path in found if path[0] != "/" or self._is_suspect(path, since, started, passed)]
            # what is there says more than what was looked for in vain
            self._met[place] = sorted(met, key=os.path.lexists, reverse=True)
            self._known |= dict.fromkeys(self._met[place], ((), ""))
        self.look()
        if last is not None:
            self._left[tree_of(last)] = {path: content for path, (_, content) in self._known.items()}
            self._writers = dict.fromkeys(self._known, last)
        return next(iter(self._known), None)

    def look(self) -> None:
        """Note what is there now, before a build."""
        for path in self._known:
            self._see(path)

    def built(self, step: BuildStep) -> None:
        """Note what a build has left; what it did not touch is as it left it only if it was the first to be asked."""
        left = self._left.setdefault(tree_of(step), {})
        for path, (before, _) in list(self._known.items()):
            now, content = self._see(path)
            if now != before:
                left[path] = content
                self._writers[path] = step
            left.setdefault(path, content)

    def differs(self, step: ExecutionStep) -> Failure | None:
        """Return the failure of a benchmark that would meet what the build of another tree has left."""
        tree = tree_of(step)
        left, found = self._left.get(tree, {}), list[str]()
        for path in self._met.get((step.benchmark, tree), ()):
            if path not in self._writers or (owner := tree_of(self._writers[path])) == tree:
                continue
            # nobody but builds tags images, and to ask takes long
            _, now = self._known[path] if not path.startswith("/") else self._see(path)
            # what neither has left there is a benchmark's, or another program's
            if now != left.get(path, now) and now == self._left[owner][path]:
                found.append(path)
        if not found:
            return None
        writer = self._writers[found[0]]
        by = f"the build of {writer.side}{f' ({pairs(writer.factors)})' if writer.factors else ''}"
        more = f" and {plural(len(found) - 1, 'more file')}" if found[1:] else ""
        failure = Failure(
            kind="outside", benchmark=step.benchmark, side=step.side, session=self._executions.conditions.session,
            build=step.build, factors=dict(step.factors),
            status=f"{by} overwrote {visible(found[0])}{more} in round {writer.build + 1}",
        )  # fmt: skip
        return msgspec.structs.replace(failure, hint=self._executions.hint(failure, False))

    def _see(self, path: str) -> _Known:
        """Read what is at a path, if it is not what it was."""
        if not path.startswith("/"):
            tool, _, name = path.split(" ")
            image = _image(tool, name)
            self._known[path] = (image,), image
            return self._known[path]
        facts: tuple[int | str, ...] = ()
        with suppress(OSError):
            found = os.lstat(path)
            mode = found.st_mode
            facts = (mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if facts != self._known[path][0]:
                self._facts.until = time.monotonic() + SECONDS
                fact = self._facts.of(path, found, (found.st_uid, found.st_gid))
                self._known[path] = facts, f"{stat.S_IFMT(mode)} {fact.content}" if fact.content else ""
            return self._known[path]
        self._known[path] = facts, ""
        return self._known[path]

    def _is_suspect(self, path: str, since: int, started: int, passed: set[str]) -> bool:
        """Return whether a build may have written a file, removed it, or put it in another one's place."""
        if path.startswith(f"{self._standing.work}/"):
            return False
        with suppress(OSError):
            facts = os.lstat(path)
            if not (stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode)) or facts.st_ctime_ns >= started:
                return False
            if facts.st_ctime_ns >= since:
                return True
        return changed_above(path, self._standing.work, self._begun, passed) is not None

    def _words(self, step: ExecutionStep) -> Iterator[str]:
        """Give the words of a benchmark's commands, with the values of the variables in them."""
        benchmark = self._benchmarks[step.side][step.benchmark]
        environment = self._executions.conditions.recipes[step.side].environment
        for each in (benchmark, benchmark.service, benchmark.load):
            if each is not None and isinstance(each.command, str):
                with suppress(ValueError):
                    yield from shlex.split(string.Template(each.command).safe_substitute(environment))
            elif each is not None:
                yield from each.command

    def _named(self, step: ExecutionStep) -> list[str]:
        """Name the files that a benchmark's commands name, for systems that show no more."""
        environment, found = self._executions.conditions.recipes[step.side].environment, list[str]()
        directory = self._standing.directory(step.side, step.building)
        for word in self._words(step):
            program = shutil.which(word, path=environment.get("PATH")) if "/" not in word else None
            path = os.path.realpath(directory / (program or word))
            found += [path] if os.path.isfile(path) else []  # noqa: PTH113
        return found

    def _images(self, step: ExecutionStep) -> Iterator[str]:
        """Name images of containers that a benchmark's commands name, where builds make such: "docker image app"."""
        tables = [recipe.table for recipe in self._executions.conditions.recipes.values()]
        builds = " ".join(str(command) for table in tables for command in (table.command, table.setup))
        words = list(self._words(step))
        for tool in _CONTAINERS:
            if tool in words and tool in builds:
                yield from (f"{tool} image {word}" for word in words if _NAME.fullmatch(word) and _image(tool, word))


def _is_changed(reach: Reach, since: int, until: int) -> bool:
    """Return whether there may be a file that changed in a time; of a whole system that is not looked for."""
    if reach.folders is None:
        return True
    for folder in reach.folders:
        for parent, _, names in walk(folder):
            # a directory changes where something in it is renamed or removed
            for name in (".", *names):
                with suppress(OSError):
                    changed = since <= os.lstat(f"{parent}/{name}").st_ctime_ns < until
                    if changed and reach.holds(f"{parent}/{name}"):
                        return True
    return False


def _image(tool: str, name: str) -> str:
    """Return what identifies the image of a name; "" where there is none."""
    command = [tool, "image", "inspect", "--format", "{{.Id}}", name]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout.strip()
    return ""
