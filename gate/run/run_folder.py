"""The folder of a run: past runs are kept, an interrupted one can be resumed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from gate.checkout import refuse_tracked
from gate.config.config_text import Path as Key
from gate.config.config_text import dotted
from gate.config.schema import differences, to_tables
from gate.config.wrong import shown
from gate.evidence.records import MEASUREMENTS, cut_incomplete, cut_torn, read
from gate.evidence.runs import config_of
from gate.model import SIDES, Commit, Failure, Record, Run, UserError
from gate.removal import remove_tree
from gate.writing.units import plural

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
    own, file = "unknown", folder / MEASUREMENTS
    with suppress(OSError, UserError, IndexError):
        record = read(str(file), file.read_bytes().partition(b"\n")[0] + b"\n").records[0].record
        found = (record.id if isinstance(record, Run) else None) or ""
        own = found if re.fullmatch(r"(?!\.)[\w.-]{1,100}", found) else "unknown"
    past = folder / PAST / own
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

    Raises: UserError: the first line is another one.
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

    Raises: UserError: naming what differs.
    """
    differing = []
    for name in SIDES:
        was, now_is = (getattr(run, name) or Commit() for run in (past, now))
        same = name in past.sources and past.sources[name] == now.sources.get(name)
        if (was.sha, was.tree) == (now_is.sha, now_is.tree) or same:
            continue
        told = (_named(was), _named(now_is))
        what = "{} was {}, is {}" if told[0] != told[1] else "the uncommitted changes of {} have changed"
        differing.append(what.format(name, *told))
    differing += _changed_rules(past, now, free)
    if past.seed != now.seed:
        differing.append(f"the seed was {past.seed}, is {now.seed}")
    before, after = past.host or {}, now.host or {}
    if before.get("fingerprint") != after.get("fingerprint"):
        differing.append("the host is different")
    # an older perfgate gave what it started its own priority
    facts = {"the runner": ("runner", "none"), "the priority": ("priority", 0)}
    facts |= {tool: (tool, "not used") for tool in ("hyperfine", "perf_stat", "callgrind")}
    for what, (fact, none) in facts.items():
        was, value = (host.get(fact) or none for host in (before, after))
        if was != value:
            differing.append(f"{what} was {was}, is {value}")
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


def _named(commit: Commit) -> str:
    return f"{(commit.sha or 'unknown')[:12]}{' with changes' if commit.dirty else ''}"
