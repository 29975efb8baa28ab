"""The Executor protocol with one real and one fake executor; time-outs, environment, exit status."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from gate.units import Duration
from harness.process import end_group, start_time

STDERR_KEPT = 64 * 1024
_STDERR_ON_DISK = 64 * 1024 * 1024
_TICK = 0.25
_GRACE = 3.0
_LEFTOVER_GRACE = 0.5

PADDING = "PERFGATE_PADDING"
# A directory's own names: the shell and the executor set them anew.
_OF_DIRECTORY = ("PWD", "OLDPWD")
_PRIVATE = re.compile(r"\A(GITHUB_|ACTIONS_|RUNNER_|INPUT_)|TOKEN|SECRET|PASSWORD|CREDENTIAL|KEY", re.IGNORECASE)
# `git rev-parse --local-env-vars`, and what git sets in hooks: they would turn the benchmarked tree's git elsewhere.
_GIT = re.compile(
    r"GIT_(ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|CONFIG|CONFIG_COUNT|CONFIG_PARAMETERS|CONFIG_VALUE_\d+|DIR|"
    r"GRAFT_FILE|IMPLICIT_WORK_TREE|INDEX_FILE|INTERNAL_\w+|NAMESPACE|NO_REPLACE_OBJECTS|OBJECT_DIRECTORY|PREFIX|"
    r"QUARANTINE_PATH|REPLACE_REF_BASE|SHALLOW_FILE|WORK_TREE)"
)


@dataclass(frozen=True, slots=True)
class Command:
    """One process to start.

    argv: program and arguments, ready to exec. environment: the whole environment, nothing is inherited; only PWD is
    set to the directory. timeout: seconds until the whole process group is killed. stdout: the file that takes
    standard output; None discards it. max_stdout: bytes beyond which the process group is killed.
    """

    argv: tuple[str, ...]
    directory: Path
    environment: dict[str, str]
    timeout: float
    stdout: Path | None = None
    max_stdout: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a Command.

    status: "" when it exited with 0, else in words: "exit 1", "signal SIGSEGV", "time-out after 10m",
    "cannot start: ...". started: UTC, ISO 8601. seconds: wall time. stderr: its last 64 KiB, decoded with replacement.
    """

    status: str
    started: str
    seconds: float
    stderr: str


class Executor(Protocol):
    """Starts a process, waits for it and tells what became of it; never raises for what the process did."""

    def run(self, command: Command) -> Outcome:
        """Start a process, wait for it, and end what is left of its group."""
        ...


@dataclass(frozen=True, slots=True)
class FakeExecutor:
    """An executor that starts nothing: a function answers, and the commands are kept."""

    answer: Callable[[Command], Outcome]
    commands: list[Command] = field(default_factory=list)

    def run(self, command: Command) -> Outcome:
        """Keep the command and return the function's answer."""
        self.commands.append(command)
        return self.answer(command)


@dataclass(frozen=True, slots=True)
class ProcessExecutor:
    """Starts real processes, each in its own session, with nothing on standard input.

    running: a file that names the process that runs, for whoever cleans up after a perfgate that was killed.

    The whole process group ends with the process: on a time-out, on any exception (which is raised again) and after a
    normal exit, when the process left children behind. A daemon that left the group is not waited for.
    """

    running: Path | None = None

    def run(self, command: Command) -> Outcome:
        """Start a process and wait for it.

        Raises:
            OSError: perfgate's own files (standard error's, standard output's) cannot be written.
        """
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with tempfile.TemporaryFile() as errors, _output(command.stdout) as output:
            # appending, so that cutting the file short while it is written leaves no hole
            fcntl.fcntl(errors, fcntl.F_SETFL, fcntl.fcntl(errors, fcntl.F_GETFL) | os.O_APPEND)
            tail = _Tail(errors)
            begin = time.perf_counter()
            try:
                process = subprocess.Popen(
                    command.argv,
                    cwd=command.directory,
                    env={**command.environment, "PWD": str(command.directory)},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                status = f"cannot start: {start_error(error, command.argv[0], command.directory)}"
                return Outcome(status, started, time.perf_counter() - begin, "")
            self._name(process.pid)
            try:
                status = _watch(process, command, begin, output, tail)
                seconds = time.perf_counter() - begin
            except BaseException:
                end_group(process, _GRACE)
                raise
            end_group(process, _GRACE if status else _LEFTOVER_GRACE)
            return Outcome(status or exit_status(process.returncode), started, seconds, tail.text())

    def _name(self, pid: int) -> None:
        if self.running is not None:
            with suppress(OSError):
                self.running.write_text(f"{pid} {start_time(pid)}", encoding="ascii")


def _output(path: Path | None) -> BinaryIO:
    return Path(path or os.devnull).open("wb")


def _watch(process: subprocess.Popen[bytes], command: Command, begin: float, output: BinaryIO, tail: _Tail) -> str:
    # returns "" when the process ended by itself
    waiter = _Waiter(process)
    try:
        while True:
            remaining = begin + command.timeout - time.perf_counter()
            if waiter.wait(max(0.0, min(remaining, _TICK))):
                return ""
            if remaining <= 0:
                return f"time-out after {Duration(command.timeout)}"
            if command.max_stdout is not None and os.fstat(output.fileno()).st_size > command.max_stdout:
                return f"more than {command.max_stdout:.0f} bytes on standard output"
            tail.bound()
    finally:
        waiter.close()


class _Waiter:
    """Waits for a process without polling where the system can (Linux), and there without reaping it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._fd: int | None = None
        if sys.platform == "linux":
            with suppress(OSError):  # a sandbox may lack pidfd_open
                self._fd = os.pidfd_open(process.pid)

    def wait(self, seconds: float) -> bool:
        if self._fd is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                return True
            return False
        poller = select.poll()
        poller.register(self._fd, select.POLLIN)
        return bool(poller.poll(seconds * 1000))

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)


class _Tail:
    """The end of what a process writes into a file, which is cut off when it grows too long.

    A file and not a pipe: a reader would take time from the benchmark, and a daemon that keeps a pipe open would
    never let it end.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._fd = file.fileno()
        self._kept = b""

    def bound(self) -> None:
        if os.fstat(self._fd).st_size > _STDERR_ON_DISK:
            self._kept = self._last()
            os.ftruncate(self._fd, 0)

    def _last(self) -> bytes:
        size = os.fstat(self._fd).st_size
        read = os.pread(self._fd, STDERR_KEPT, max(0, size - STDERR_KEPT))
        return (self._kept + read)[-STDERR_KEPT:]

    def text(self) -> str:
        return self._last().decode("utf-8", "replace")


def exit_status(code: int) -> str:
    """Put a return code into words: 0 -> "", 3 -> "exit 3", 139 -> "exit 139 (SIGSEGV)", -11 -> "signal SIGSEGV".

    A shell answers 128 + number when a signal ended what it started.
    """
    if code >= 0:
        name = _signal_name(code - 128) if code > 128 else ""
        return f"exit {code} ({name})" if name else f"exit {code}" if code else ""
    return f"signal {_signal_name(-code) or -code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def start_error(error: Exception, program: str, directory: Path) -> str:
    """Say why a program could not be started in a directory."""
    if not directory.is_dir():
        return f"the directory {directory} does not exist"
    if isinstance(error, FileNotFoundError):
        if "/" in program and (directory / program).is_file():
            return f'the interpreter that "{program}" names in its first line does not exist'
        return f'there is no program "{program}"'
    if isinstance(error, PermissionError):
        return f'"{program}" is not executable'
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        return f'"{program}" is neither a program of this machine nor does it begin with #!'
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()


def clean_environment(
    caller: Mapping[str, str], passed: Collection[str] = (), added: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of builds and benchmarks: the caller's without secrets, CI's own and git's names.

    passed: names that are let through all the same. added: values set over it.
    """
    kept = {
        name: value
        for name, value in caller.items()
        if name in passed or not (_PRIVATE.search(name) or _GIT.fullmatch(name) or name in _OF_DIRECTORY)
    }
    return kept | dict(added or {})


def environment_difference(caller: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to change in the caller's environment to get another: name -> value, "" for a name to remove.

    The padding is left out, and the value of a removed name is never shown.
    """
    unspoken = {PADDING, *_OF_DIRECTORY}
    changed = {n: v for n, v in environment.items() if n not in unspoken and caller.get(n) != v}
    removed = {n: "" for n in caller if n not in unspoken and n not in environment}
    return dict(sorted((changed | removed).items()))


def find_program(name: str, caller: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program on the caller's PATH."""
    found = shutil.which(name, path=caller.get("PATH", os.defpath))
    return str(Path(found).resolve()) if found else None
