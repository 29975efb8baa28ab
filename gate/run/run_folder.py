"""The folder of a run: past runs are kept, an interrupted one can be resumed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from gate.checkout import refuse_tracked
from gate.config.changed import differences
from gate.config.schema import to_tables
from gate.config.source import Path as Key
from gate.config.source import dotted
from gate.config.wrong import shown
from gate.evidence.inputs import MEASUREMENTS
from gate.evidence.records import cut_incomplete, cut_torn, read
from gate.evidence.runs import config_of
from gate.model import SIDES, Commit, Failure, Record, Run, UserError
from gate.removal import remove_tree
from gate.units import plural

__all__ = ["MEASUREMENTS", "OF_A_RUN", "interrupted", "make_room", "records_of", "refuse_other", "resumed"]

_KEPT = 10
PAST = "runs"
"""The folder of past runs in that of the last one."""
OF_A_RUN = (MEASUREMENTS, "report.json", "report.html", "comment.md")
_OF_A_STUDY = ("study.json", "study.html", "tables")


def outputs_in(folder: Path) -> list[Path]:
    """Name what perfgate writes in the folder of a run."""
    return [folder / name for name in (*OF_A_RUN, *_OF_A_STUDY, PAST)]


def make_room(folder: Path) -> None:
    """Move the run in a folder to runs/<id>/ and keep the last ten of those.

    Raises:
        OSError: the folder cannot be written.
        UserError: it leads through a link of a commit.
    """
    names = [*OF_A_RUN, *(_OF_A_STUDY if (folder / _OF_A_STUDY[0]).is_file() else ())]
    present = [folder / name for name in names if (folder / name).exists()]
    if not present:
        return
    past = folder / PAST / _id_of(folder / MEASUREMENTS)
    refuse_tracked(past)
    past.mkdir(parents=True, exist_ok=True)
    for file in present:
        if (past / file.name).is_dir():
            # of another run without an id: a folder takes no other's place
            remove_tree(past / file.name)
        file.replace(past / file.name)
    # ids begin with the time of the run
    for old in sorted(p for p in past.parent.iterdir() if p.is_dir())[:-_KEPT]:
        remove_tree(old)


def _id_of(file: Path) -> str:
    try:
        first = file.read_bytes().partition(b"\n")[0] + b"\n"
        record = read(str(file), first).records[0].record
    except (OSError, UserError, IndexError):
        return "unknown"
    name = record.id if isinstance(record, Run) and record.id else "unknown"
    return name if re.fullmatch(r"[\w.-]{1,100}", name) and not name.startswith(".") else "unknown"


def resumed(folder: Path, run: Run) -> Sequence[Record]:
    """Read what the interrupted run left, less what was not written whole; called by who holds the machine.

    That the machine was not free before is left out.

    Raises:
        UserError: another run has begun in the folder meanwhile, or a line is bad.
        OSError: the file cannot be read or cut.
    """
    past = interrupted(folder)
    if past is None or past.id != run.id:
        raise UserError(f"--resume: another run was started in {folder}")
    cut_torn(folder / MEASUREMENTS)
    cut_incomplete(folder / MEASUREMENTS)
    return [each for each in records_of(folder) if not (isinstance(each, Failure) and each.kind == "lock")]


def records_of(folder: Path) -> Sequence[Record]:
    """Read the records of a run; a torn last line is left out.

    Raises:
        RecordError: a bad line.
        OSError: the file cannot be read.
    """
    file = folder / MEASUREMENTS
    return [located.record for located in read(str(file), file.read_bytes()).records]


def interrupted(folder: Path) -> Run | None:
    """Return the run line of the run in a folder; None where none has begun, so that there is nothing to resume.

    Raises:
        UserError: the first line is another one.
    """
    file = folder / MEASUREMENTS
    if not file.exists():
        return None
    records = records_of(folder)
    if not records:
        return None
    if not isinstance(records[0], Run):
        raise UserError(f"--resume: {file} does not begin with a run line; start without --resume")
    return records[0]


def refuse_other(past: Run, now: Run, folder: Path, free: Collection[Key] = ()) -> None:
    """Refuse to go on with a run of other commits, changes, rules, seed or host.

    free: keys of the rules that may differ.

    Raises:
        UserError: naming what differs.
    """
    differing = [
        f"the uncommitted changes of {name} have changed"
        if _named(getattr(past, name)) == _named(getattr(now, name))
        else f"{name} was {_named(getattr(past, name))}, is {_named(getattr(now, name))}"
        for name in SIDES
        if _identity(getattr(past, name)) != _identity(getattr(now, name))
        and not (name in past.sources and past.sources[name] == now.sources.get(name))
    ]
    differing += _changed_rules(past, now, free)
    if past.seed != now.seed:
        differing.append(f"the seed was {past.seed}, is {now.seed}")
    before, after = past.host or {}, now.host or {}
    if before.get("runner") != after.get("runner"):
        differing.append(f"the runner was {before.get('runner') or 'none'}, is {after.get('runner') or 'none'}")
    if before.get("fingerprint") != after.get("fingerprint"):
        differing.append("the host is different")
    # an older perfgate gave what it started its own
    if before.get("priority", 0) != after.get("priority", 0):
        differing.append(f"the priority was {before.get('priority', 0)}, is {after.get('priority', 0)}")
    for tool in ("hyperfine", "perf_stat", "callgrind"):
        if before.get(tool) != after.get(tool):
            versions = (host.get(tool, "not used") for host in (before, after))
            differing.append("{} was {}, is {}".format(tool, *versions))
    if differing:
        raise UserError(f"--resume: cannot continue the run in {folder}: {'; '.join(differing)}")


_MOST = 4


def _changed_rules(past: Run, now: Run, free: Collection[Key]) -> list[str]:
    # as types: another version may have written a key that has its default
    before, after = (to_tables(config) if (config := config_of(run)) else {} for run in (past, now))
    changed = [each for each in differences(before, after) if each[0] not in free]
    found = [f"{dotted(key)} was {_value(was)}, is {_value(value)}" for key, was, value in changed]
    if not found:
        sides = ((side, (past.benchmarks or {}).get(side), (now.benchmarks or {}).get(side)) for side in SIDES)
        return [
            f"{side}'s benchmarks were {_value(was)}, are {_value(names)}" for side, was, names in sides if was != names
        ]
    more = len(found) - _MOST
    return [*found[:_MOST], *([f"{plural(more, 'more setting')} changed"] if more > 0 else [])]


def _value(value: object) -> str:
    return "none" if value is None else shown(value)


def _identity(commit: Commit | None) -> tuple[str | None, str | None]:
    return (commit.sha, commit.tree) if commit else (None, None)


def _named(commit: Commit | None) -> str:
    if commit is None:
        return "unknown"
    return f"{(commit.sha or '')[:12]}{' with changes' if commit.dirty else ''}"
