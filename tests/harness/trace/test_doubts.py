"""What cannot be followed is a doubt, and what can be is none."""

import ctypes
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness.trace.trace import Tracer
from harness.trace.watcher import Doubt
from tests.support.traced import python, seen, traced


def test_servers_and_their_clients_are_one(tmp_path: Path, tracer: Tracer) -> None:
    source = """
import os, socket, sys
for number, (family, address) in enumerate({pairs}):
    server = socket.socket(family)
    server.bind(address)
    server.listen()
    address = server.getsockname()
    if os.fork() == 0:
        client = socket.socket(family)
        client.connect(address)
        client.recv(1)
        os._exit(0)
    connection, _ = server.accept()
    open("served" + str(number))
    connection.send(b"x")
    os.wait()
"""
    pairs = [
        (int(socket.AF_INET), ("127.0.0.1", 0)),
        (int(socket.AF_INET6), ("::1", 0)),
        (int(socket.AF_INET6), ("::ffff:127.0.0.1", 0)),
        (int(socket.AF_UNIX), "own.socket"),
        (int(socket.AF_UNIX), f"\0perfgate-{tmp_path.name}-{tracer}"),
    ]
    served = [tmp_path / f"served{number}" for number in range(len(pairs))]
    for each in served:
        each.write_text("x")
    accesses = seen(python(source.format(pairs=pairs)), tmp_path, tracer)
    assert set(map(str, served)) <= accesses.read


def test_what_stays_among_themselves_or_reaches_nobody_is_no_doubt(tmp_path: Path, tracer: Tracer) -> None:
    source = """
import socket
one, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
one.bind(("127.0.0.1", 0))
other.sendto(b"x", one.getsockname())
other.sendmsg([b"y"], [], 0, one.getsockname())
print(one.recv(1), one.recv(1))
socket.socket(socket.AF_UNIX).connect_ex("daemon")  # it is not there
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    address = free.getsockname()
with socket.socket() as server, socket.socket() as client:
    client.connect_ex(address)  # nobody is there yet
    server.bind(address)
    server.listen()
    with socket.socket() as client:
        client.connect(address)
with socket.socket() as client:
    assert client.connect_ex(address), "nobody is there any more"
"""
    assert str(tmp_path / "daemon") in seen(python(source), tmp_path, tracer).read


@pytest.mark.parametrize("name", [None, "{}/theirs", "\0{}"])
def test_a_connection_to_somebody_else_is_a_doubt(name: str | None, tmp_path: Path, tracer: Tracer) -> None:
    family = "AF_UNIX" if name else "AF_INET"
    with socket.socket(getattr(socket, family)) as server:
        server.bind(name.format(tmp_path) if name else ("127.0.0.1", 0))
        server.listen()
        address = name.format(tmp_path) if name else server.getsockname()
        # a name that somebody has cannot be taken
        source = f"""
import contextlib, socket
with contextlib.suppress(OSError):
    socket.socket(socket.{family}).bind({address!r})
socket.socket(socket.{family}).connect({address!r})
"""
        outcome, accesses = traced(python(source), tmp_path, tracer)
    where = address.replace("\0", "@") if name else f"port {address[1]}"
    assert (outcome.status, accesses.doubts) == ("", (Doubt("connection", where),))


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))", "connection"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('192.0.2.1', 9))", "connection"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))", "connection"),
        ("socket.socket(40)", "connection"),
        ("libc.open(1)", "lost"),
        ("libc.unshare(0x00020000)", "namespace"),
        ("libc.chroot(b'/')", "namespace"),
        ("libc.syscall({'x86_64': 29, 'aarch64': 194}[os.uname().machine], 77, 1, 0)", "shared-memory"),
        ("libc.ptrace(16, 1, 0, 0)", "process"),
        # the session's keyring
        ("libc.syscall({'x86_64': 250, 'aarch64': 219}[os.uname().machine], 0, -3, 0)", "keyring"),
        # it reads without calls, and what does without it may be another program
        ("libc.syscall(425, 4, 0)", "io-uring"),
        ("libc.syscall({'x86_64': 304, 'aarch64': 265}[os.uname().machine], -1, 0, 0)", "handle"),
    ],
)
def test_what_cannot_be_followed_is_a_doubt(call: str, kind: str, tmp_path: Path, tracer: Tracer) -> None:
    _, accesses = traced(python(f"import ctypes, os, socket; libc = ctypes.CDLL(None); {call}"), tmp_path, tracer)
    assert [doubt.kind for doubt in accesses.doubts] == [kind]


def private_memory(tmp_path: Path) -> str:
    """Make memory that has no key; return its number, and leave it."""
    argv = python("import ctypes; print(ctypes.CDLL(None).shmget(0, 64, 0o600))")
    return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()


def test_memory_that_a_build_left_is_a_doubt_and_its_own_is_none(tmp_path: Path, tracer: Tracer) -> None:
    number = private_memory(tmp_path)
    attach = (
        "import ctypes; libc = ctypes.CDLL(None); number = {}; libc.shmat(number, None, 0); libc.shmctl(number, 0, 0)"
    )
    try:
        seen(python(attach.format("libc.shmget(0, 64, 0o600)")), tmp_path, tracer)
        # its time is in seconds
        time.sleep(1.1)
        _, accesses = traced(python(attach.format(number)), tmp_path, tracer)
    finally:
        ctypes.CDLL(None).shmctl(int(number), 0, 0)
    assert accesses.doubts == (Doubt("shared-memory", "shmat"),)


def test_a_program_with_privileges_is_a_doubt_and_a_pipe_that_is_executed_holds_nothing_up(
    tmp_path: Path, tracer: Tracer
) -> None:
    shutil.copy("/bin/true", tmp_path / "true")
    (tmp_path / "true").chmod(0o4755)
    _, accesses = traced(["./true"], tmp_path, tracer)
    assert accesses.doubts == (Doubt("privileges", str(tmp_path / "true")),)
    # To open it would wait for who writes it; the kernel refuses to execute it.
    os.mkfifo(tmp_path / "pipe", 0o755)
    source = "import os\ntry:\n    os.execv('pipe', ['pipe'])\nexcept OSError:\n    pass\n"
    seen(python(source), tmp_path, tracer)
