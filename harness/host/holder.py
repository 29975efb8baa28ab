"""Who holds a lock: the process that the kernel names, and what the holder wrote into the file about itself.

Anybody can write the file, so what it says counts only where the kernel names the same process. The kernel tells on
Linux (proc_locks(5)), of the processes of one PID namespace; elsewhere the file is all there is.
"""

from __future__ import annotations

import json
import os
import pwd
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.process.groups import alive, start_time

_LONGEST = 4096
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Claim:
    """What a holder writes about itself. folder: where it measures to. started: as harness.process.groups has it.

    since: when it took the lock.
    """

    pid: int
    started: str | None
    since: str
    command: str
    run: str
    directory: str
    folder: str

    @classmethod
    def own(cls, command: str, run: str, directory: Path, folder: Path) -> Claim:
        """Make that of this process, from now on."""
        pid = os.getpid()
        return cls(pid, start_time(pid), _now(), command, run, str(directory), str(folder.absolute()))

    def from_now(self) -> Claim:
        """Return it as of this moment: there may have been a wait since it was made."""
        return replace(self, since=_now())

    def write(self, descriptor: int) -> None:
        """Write it in place of what the file holds."""
        with suppress(OSError):  # another user's file, opened read-only: it locks, and does not tell the run
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(asdict(self)).encode(), 0)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock. pid: None where nothing tells it. claim: what it says of itself, where that can be it.

    taker: the process that took the lock and has ended, where no living one that has it can be seen.
    """

    pid: int | None
    user: str | None
    command: str | None
    claim: Claim | None
    taker: int | None = None

    def __str__(self) -> str:
        """Name it: "process 12 (user ann, `perfgate check`), measuring since 2026-11-23T09:00:00Z, run 2026..."."""
        if self.taker is not None:
            return f"a process that process {self.taker} started, which has ended itself"
        if self.pid is None:
            return "a process that is not visible here, of another container or system"
        user = [f"user {self.user}"] if self.user else []
        command = [f"`{_clipped(self.command)}`"] if self.command else []
        who = f"process {self.pid}" + (f" ({', '.join([*user, *command])})" if user or command else "")
        if self.claim is None:
            return f"{who}, which did not register as perfgate"
        return f"{who}, measuring since {_clipped(self.claim.since)}, run {_clipped(self.claim.run)}"

    @property
    def directory(self) -> str | None:
        """Return the project that it measures."""
        return _clipped(self.claim.directory, 300) if self.claim else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def holder_of(descriptor: int) -> Holder:
    """Say who holds the lock of an open file, as far as that can be known."""
    claim = _claim(descriptor)
    pid = _by_kernel(descriptor)
    if pid is None:
        # where the kernel does not tell, the process may at least be there
        known = claim if claim is not None and _kernel_tells() is False and alive(claim.pid, claim.started) else None
        return Holder(known.pid if known else None, None, known.command if known else None, known)
    if not _has(pid, pid, descriptor):
        # it passed the open file on, or is another user's
        heir = next((each for each in _processes() if _has(each, pid, descriptor)), None)
        if heir is None and _has_ended(pid):
            return Holder(None, None, None, None, taker=pid)
        pid = heir or pid
    own = claim if claim is not None and claim.pid == pid and claim.started == start_time(pid) else None
    return Holder(pid, _user(pid), own.command if own else _program(pid), own)


def _kernel_tells() -> bool:
    return Path("/proc/locks").exists()


def _by_kernel(descriptor: int) -> int | None:
    """Return the process that took the lock; None: nobody has it, or the kernel does not say."""
    status = os.fstat(descriptor)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    same: dict[bool, int] = {}
    with suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            # those that wait have an arrow before them
            if len(words) < 6 or words[1] != "FLOCK":
                continue
            place, _, inode = words[5].rpartition(":")
            if int(inode) == status.st_ino and int(words[4]) > 0:
                same.setdefault(place == device, int(words[4]))
    # file systems in layers show other devices to stat(2)
    return same.get(True, same.get(False))


def _processes() -> list[int]:
    return sorted(int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())


def _has(pid: int, taker: int, descriptor: int) -> bool:
    """Return whether a process can be seen to have the file open that `taker` locked (proc_pid_fdinfo(5))."""
    inode = str(os.fstat(descriptor).st_ino)
    with suppress(OSError):
        return any(_says(file, taker, inode) for file in Path(f"/proc/{pid}/fdinfo").iterdir())
    return False


def _says(file: Path, taker: int, inode: str) -> bool:
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    # "lock: 1: FLOCK ADVISORY WRITE 12 fe:00:34 0 EOF": the process and the inode
    found = (line.split() for line in lines if line.startswith("lock:"))
    return any(
        words[2] == "FLOCK" and words[5] == str(taker) and words[6].endswith(f":{inode}")
        for words in found
        if len(words) > 6
    )


def _has_ended(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    # a zombie has no open files
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def _user(pid: int) -> str | None:
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)


def _program(pid: int) -> str | None:
    # not its arguments: they may hold secrets, and a report may be public
    with suppress(OSError):
        first = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
        return Path(os.fsdecode(first)).name or None
    return None


def _claim(descriptor: int) -> Claim | None:
    try:
        found = json.loads(os.pread(descriptor, _LONGEST, 0))
        texts = {name: str(found[name]) for name in ("since", "command", "run", "directory", "folder")}
        started = found["started"]
        return Claim(pid=int(found["pid"]), started=None if started is None else str(started), **texts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _clipped(text: str, most: int = _SHOWN) -> str:
    """Keep what can be printed, and not too much of it."""
    plain = "".join(character if character.isprintable() else "?" for character in text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
