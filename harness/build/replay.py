"""Links again what a build has linked, with another seed, and puts the results where the build had put its own.

Started by itself (`python -I -S replay.py RECORDING ROOT`) as a build's command is, in the same place and environment,
so it imports little. Which links, and what goes where, is what harness.build.relink_check has found.
"""

import marshal
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from gate.removal import remove_tree
from harness.build import archives, record
from harness.build.linker import BESIDES, BESIDES_NEXT, arranged, shortened
from harness.build.record import Link

Plan = Sequence[tuple[Link, Sequence[Sequence[str]]]]
"""What is linked again, and where each result goes: paths relative to the root, hard links of one file together."""

ANSWER = "answer"
"""Beside the records: what the check or a failed link says, kind and path."""
_PLAN = "plan"
_AT_A_TIME = 4  # a large link takes gigabytes
SCRATCH = "scratch"


class NotSoundError(Exception):
    """Links cannot stand for builds. kind, path: as gate.model.records.WhyNotRelinked has them."""

    def __init__(self, kind: str, path: str = "") -> None:
        super().__init__(kind, path)
        self.kind, self.path = kind, path


def linked(scratch: Path, links: Mapping[str, Link], seed: int) -> dict[str, str]:
    """Link into an empty folder, some at a time; give what succeeded by its name."""
    remove_tree(scratch)
    scratch.mkdir(parents=True)
    jobs = []
    for number, (name, link) in enumerate(links.items()):
        folder = scratch / str(number)
        folder.mkdir()
        jobs.append((name, link, str(folder / os.path.basename(link.output))))  # noqa: PTH119
    with ThreadPoolExecutor(min(_AT_A_TIME, len(os.sched_getaffinity(0)))) as pool:
        done = list(pool.map(lambda job: relinked(job[1], seed, job[2]), jobs))
    return {name: output for (name, _, output), good in zip(jobs, done, strict=True) if good}


def relinked(link: Link, seed: int, output: str) -> bool:
    """Link once more, in the order of a seed, into another file; return whether that succeeded."""
    now = record.located(link)

    def located(argument: str) -> str:
        return os.path.join(link.directory, now.get(argument, argument))  # noqa: PTH118

    tree = link.environment.get(archives.TREE, link.directory)
    try:
        arrangement = arranged(link.linker, link.arguments, seed, located, link.directory, tree)
    except (ValueError, OSError):
        return False
    whole = [*_put(link, now, arrangement.arguments, output), *arrangement.options]
    plain = _put(link, now, arrangement.plain, output)
    directory = link.directory if os.path.isdir(link.directory) else os.path.dirname(output)  # noqa: PTH112, PTH120
    environment = {**link.environment, "PERFGATE_SEED": str(seed)}
    environment.pop(record.LINKS, None)
    try:
        for given in (whole, plain):
            short = shortened(given)
            done = subprocess.run(
                [link.linker, *short], cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                close_fds=False, check=False,
            )  # fmt: skip
            if short is not given:
                os.close(int(short[0].rpartition("/")[2]))
            if done.returncode == 0:
                return True
            sys.stderr.buffer.write(done.stderr)
        return False
    finally:
        arrangement.close()


def _put(link: Link, now: Mapping[str, str], ordered: Sequence[str], output: str) -> list[str]:
    """Give the arguments of a link that reads its inputs where they are now and writes another output."""
    place, _ = record.output_place(link.arguments)
    arguments = list(ordered)
    for number, argument in enumerate(ordered):
        if argument in now and now[argument] != (path := link.kept[argument][0]):
            arguments[number] = argument[: len(argument) - len(path)] + now[argument]
    for number, argument in enumerate(ordered):
        if number == place:
            arguments[number] = output if argument == link.output else argument.removesuffix(link.output) + output
        elif argument.startswith(BESIDES):
            arguments[number] = f"{argument[: argument.rindex('=')]}={output}.{number}"
        elif number and ordered[number - 1] in BESIDES_NEXT:
            arguments[number] = f"{output}.{number}"
    return arguments if place >= 0 else [*arguments, "-o", output]


def put(result: str, root: Path, groups: Sequence[Sequence[str]]) -> None:
    """Replace files by a result, each at once; they keep mode and time, so that no tool finds them newer."""
    for first, *others in groups:
        target = root / first
        was = target.stat()
        new = target.with_name(f".perfgate-{target.name}")
        # a linker leaves holes; what had some keeps them, since a program can ask for them, and a proof does
        sparse = was.st_blocks * 512 < was.st_size
        if not sparse or subprocess.run(["cp", "--sparse=auto", "--", result, new], check=False).returncode:
            shutil.copyfile(result, new)
        new.chmod(was.st_mode & 0o7777)
        os.utime(new, ns=(was.st_atime_ns, was.st_mtime_ns))
        new.replace(target)
        for other in others:
            linked = (root / other).with_name(f".perfgate-{target.name}")
            os.link(target, linked)
            linked.replace(root / other)


def write(recording: Path, plan: Plan) -> None:
    """Keep a plan beside the records."""
    (recording / _PLAN).write_bytes(marshal.dumps([(tuple(link), groups) for link, groups in plan]))


def answer(recording: Path, kind: str, said: str) -> None:
    """Leave an answer beside the records, and no result."""
    remove_tree(recording / SCRATCH)
    (recording / ANSWER).write_bytes(os.fsencode(f"{kind}\0{said}"))


def run(recording: Path, root: Path, seed: int) -> None:
    """Link all again with a seed and put the results into the tree.

    Raises: NotSoundError: a link failed; nothing was put.
    """
    values: Any = marshal.loads((recording / _PLAN).read_bytes())  # noqa: S302  # our own
    plan: Plan = [(record.restored(str(recording), link), groups) for link, groups in values]
    results = linked(recording / SCRATCH, {str(number): link for number, (link, _) in enumerate(plan)}, seed)
    for number, (_, groups) in enumerate(plan):
        if str(number) not in results:
            raise NotSoundError("failed", groups[0][0])
    for number, (_, groups) in enumerate(plan):
        put(results[str(number)], root, groups)
    remove_tree(recording / SCRATCH)


def main(recording: Path, root: Path) -> int:
    """Link again with PERFGATE_SEED; return the exit status."""
    try:
        run(recording, root, int(os.environ["PERFGATE_SEED"]))
    except NotSoundError as error:
        answer(recording, error.kind, error.path)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
