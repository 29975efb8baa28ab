"""What two checkouts print and write for the same inputs, and where they differ.

    scripts/same record DIR [--python PYTHON] [--only REGEX]
    scripts/same diff DIR_A DIR_B [--only REGEX]

`record` makes the inputs of scripts/situations.py, runs their command lines with the perfgate of PYTHON (of another
checkout's environment; default: this one), and keeps how each ended, what it printed and what it wrote. The inputs come
from this checkout: record both sides with the same one. `diff` names each difference once, with where it is found, and
ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import pkgutil
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

CORES = 2
LONGEST = 200
"""Letters of a line of a difference that are shown."""
MOST_LINES = 16
"""Of a difference."""
MOST_NAMED = 4
"""Of the places where a difference is found."""
NOW = datetime.datetime(2026, 11, 28, 9, tzinfo=datetime.UTC)
_PROGRESS = re.compile(r"^perfgate: simulating: .*\n", re.MULTILINE)
_BREAKS = re.compile(r'(?<=[,\[{])(?=["{\[])')
Command = Sequence[str]

# --- by the Python of the other checkout ------------------------------------------------------------------------------


def run_all(inputs: Path, out: Path) -> int:
    """Run the situations that situations.json lists, each in its folder below inputs; in as many shares as cores."""

    class Fixed(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Fixed:
            return cls.fromtimestamp(NOW.timestamp(), tz)

    situations: dict[str, list[Command]] = json.loads((inputs / "situations.json").read_text(encoding="utf-8"))
    # loaded once, and not by each command
    import gate

    for module in pkgutil.walk_packages(gate.__path__, "gate."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # pandas, which some of them load, wants the real one
    datetime.datetime = Fixed  # type: ignore[misc]
    shares = [sorted(situations)[core::CORES] for core in range(CORES)]
    return _wait(
        [_forked(partial(_record_all, {name: situations[name] for name in each}, inputs, out)) for each in shares]
    )


def _record_all(situations: Mapping[str, Sequence[Command]], inputs: Path, out: Path) -> int:
    for name, commands in situations.items():
        _record(name, commands, inputs, out)
    return 0


def _record(name: str, commands: Sequence[Command], inputs: Path, out: Path) -> None:
    folder, kept = inputs / name, out / name
    kept.mkdir(parents=True, exist_ok=True)
    for number, command in enumerate(commands, 1):
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        streams = [inputs / f"{name.replace('/', '-')}.{stream}" for stream in ("stdout", "stderr")]
        code = _wait([_forked(partial(_started, command, folder, streams))])
        told = [f"$ perfgate {' '.join(command)}\nexit {code}"]
        for stream in streams:
            text = stream.read_text(encoding="utf-8", errors="surrogateescape")
            told += [f"--- {stream.suffix[1:]}\n{text}"] if text else []
        _keep(kept / f"{number} {command[0]}.txt", "\n".join(told), inputs)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and before.get(path) != path.stat().st_mtime_ns:
                where = "-".join(path.relative_to(folder).parts)
                _keep(kept / f"{number} {where}", path.read_text(encoding="utf-8", errors="replace"), inputs)


def _keep(path: Path, text: str, inputs: Path) -> None:
    """Write what was recorded, without the folder where it happened, one element of a page and one key a line."""
    text = _PROGRESS.sub("", text.replace(str(inputs), "INPUTS"))
    if path.suffix == ".html" or "<!doctype" in text:
        text = text.replace("<", "\n<")
    path.write_text(_BREAKS.sub("\n", text), encoding="utf-8", errors="surrogateescape")


def _started(command: Command, folder: Path, streams: Sequence[Path]) -> int:
    width, *argv = command if command[0].isdigit() else ("100", *command)
    os.environ["COLUMNS"] = width
    os.chdir(folder)
    for number, stream in enumerate(streams, 1):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return _perfgate(argv)


def _perfgate(argv: Sequence[str]) -> int:
    sys.argv = ["perfgate", *argv]
    try:
        runpy.run_module("gate", run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _forked(work: Callable[[], int]) -> int:
    """Do it in a process of its own, whose number is returned; it ends with what work returns."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        except BaseException:  # noqa: BLE001 - the parent is told
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def _wait(children: Sequence[int]) -> int:
    """Wait for all of them, and return the largest exit code."""
    return max([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])


# --- by our own -------------------------------------------------------------------------------------------------------


def record(out: Path, python: str, only: str) -> int:
    """Make the inputs and have them run; return how many situations there are."""
    from scripts.situations import write

    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out}: holds files already: name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    # of one length wherever it stands: lines are broken by it
    inputs = Path(tempfile.mkdtemp(prefix="same-", dir="/tmp")).resolve()
    try:
        situations = {name: commands for name, commands in write(inputs).items() if re.search(only, name)}
        (inputs / "situations.json").write_text(json.dumps(situations), encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(inputs / "home"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
            "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "PERFGATE_HISTORY": str(inputs / "home" / "memory"),
        }  # fmt: skip
        command = [python, "-P", __file__, "run", str(inputs), str(out.resolve())]
        if subprocess.run(command, env=environment, cwd=inputs, check=False).returncode:
            sys.exit("not everything could be recorded")
    finally:
        shutil.rmtree(inputs)
    return len(situations)


def differences(old: Path, new: Path, only: str = "") -> dict[str, list[str]]:
    """Return each difference, as the lines of a unified one, and the files that have it."""
    files = [{str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()} for top in (old, new)]
    alone = {f"only in {old}": files[0] - files[1], f"only in {new}": files[1] - files[0]}
    found = {what: kept for what, each in alone.items() if (kept := sorted(filter(re.compile(only).search, each)))}
    command = ["git", "diff", "--no-index", "--no-renames", "--no-color", "--text", "--diff-filter=M", "-U0"]
    done = subprocess.run([*command, str(old.resolve()), str(new.resolve())], capture_output=True, check=False)
    for part in re.split(r"^diff --git .*\n", done.stdout.decode(errors="replace"), flags=re.MULTILINE)[1:]:
        head, *hunks = re.split(r"^@@ .*\n", part, flags=re.MULTILINE)
        where = head.partition("\n+++ ")[2].strip().replace(f"b{new.resolve()}/", "")
        for hunk in hunks if re.search(only, where) else ():
            found.setdefault(hunk, []).append(where)
    return found


def shown(found: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the differences, the most frequent first."""
    for hunk, files in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])):
        places = sorted(set(files))
        more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
        yield f"== {len(files)} times, in {len(places)} files: {', '.join(places[:MOST_NAMED])}{more}"
        lines = hunk.splitlines()
        for line in lines[:MOST_LINES]:
            yield line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
        if len(lines) > MOST_LINES:
            yield f"… {len(lines) - MOST_LINES} more lines"


def main() -> NoReturn:
    """Read the command line."""
    if sys.argv[1:2] == ["run"]:
        sys.exit(run_all(Path(sys.argv[2]), Path(sys.argv[3])))
    parser = argparse.ArgumentParser(prog="scripts/same", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record all situations into a new folder")
    recording.add_argument("folder", type=Path, metavar="DIR")
    recording.add_argument("--python", default=sys.executable, help="of the environment whose perfgate runs")
    comparing = commands.add_parser("diff", help="say where two recordings differ")
    comparing.add_argument("folders", type=Path, nargs=2, metavar="DIR")
    for each in (recording, comparing):
        each.add_argument("--only", default="", metavar="REGEX", help="situations whose name has it")
    options = parser.parse_args()
    if options.command == "record":
        count = record(options.folder, options.python, options.only)
        sys.exit(print(f"{count} situations in {options.folder}"))
    old, new = options.folders
    found = differences(old, new, options.only)
    files = {place for places in found.values() for place in places}
    situations = {place.rpartition("/")[0] for place in files}
    names = {str(path.parent.relative_to(old)) for path in old.rglob("*.txt")}
    whole = sum(re.search(options.only, name) is not None for name in names)
    print("\n".join([*shown(found), f"{len(situations)} of {whole} situations differ, in {len(files)} files"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
