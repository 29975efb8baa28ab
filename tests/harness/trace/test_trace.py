"""What a command and all that it starts read is seen, by real processes and the real kernel."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.process.execute import Command, Outcome, ProcessExecutor
from harness.trace.accesses import Accesses, Doubt
from harness.trace.trace import tracing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells of system calls")

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def traced(
    argv: Sequence[str] | str, tmp_path: Path, *, ports: Sequence[int] = (), timeout: float = 60
) -> tuple[Outcome, Accesses]:
    words = ("/bin/sh", "-c", argv) if isinstance(argv, str) else tuple(argv)
    command = Command(words, tmp_path, {"PATH": os.environ["PATH"]}, timeout, stdout=tmp_path / "printed")
    with tracing(tmp_path, ports=ports) as trace:
        outcome = ProcessExecutor().run(trace.wrap(command))
        return outcome, trace.accesses()


def seen(argv: Sequence[str] | str, tmp_path: Path) -> Accesses:
    outcome, accesses = traced(argv, tmp_path)
    assert outcome.status == "", outcome.stderr
    assert accesses.doubts == ()
    return accesses


def python(source: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", source)


def compiled(source: str, tmp_path: Path, *options: str) -> str:
    (tmp_path / "x.c").write_text(source)
    subprocess.run(["gcc", "-O1", "x.c", "-o", "x", *options], cwd=tmp_path, check=True)
    return "./x"


@pytest.mark.parametrize(
    "command",
    [
        "cat data",
        "sh -c 'sh -c \"cat data\"'",
        "cat < data",
        "(cat data &) ; wait; sleep 0.2",
        "cd sub && cat ../data",
        "cat link",
        "cat sub/up/data",
        "test -e data",
        "test -r data",
        "stat data",
        "mv data sub/",
        "rm data",
        "chmod 600 data",
        "env -i /bin/cat data",
        "exec 9< data; cat /proc/self/fd/9",
        "setsid cat data",
        "cat //proc/self/cwd/data",
        "cat /proc/./self/cwd/data",
        "cd /proc && cat self/cwd/self/status thread-self/status && cd - && cat here/data",
        "exec 9< . && cat /dev/fd/9/data",
    ],
)
def test_a_file_is_seen_however_it_is_read(command: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("data")
    (tmp_path / "sub/up").symlink_to("..")
    (tmp_path / "here").symlink_to("/proc/self/cwd")
    accesses = seen(command, tmp_path)
    assert str(tmp_path / "data") in accesses.read
    if command == "cat link":
        assert str(tmp_path / "link") in accesses.read
    if command == "cat sub/up/data":
        assert str(tmp_path / "sub/up") in accesses.read


@pytest.mark.parametrize(
    "call",
    [
        "open('data')",
        "os.open('data', os.O_RDWR)",
        "os.open('data', os.O_PATH)",
        "os.stat('data')",
        "os.lstat('data')",
        "os.access('data', os.R_OK)",
        "os.stat('data', dir_fd=os.open('.', os.O_RDONLY))",
        "os.truncate('data', 0)",
        "os.link('data', 'other')",
        "os.getxattr('data', 'user.x')",
        "os.listxattr('data')",
        "os.utime('data')",
        "os.statvfs('data')",
        "threading.Thread(target=open, args=('data',)).start()",
        "os.waitpid(os.posix_spawn('/bin/cat', ['cat', 'data'], {}), 0)",
    ],
)
def test_each_call_is_seen(call: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    source = f"import os, threading, contextlib\nwith contextlib.suppress(OSError):\n    {call}"
    assert str(tmp_path / "data") in seen(python(source), tmp_path).read


def test_a_link_that_is_only_read_is_seen(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    accesses = seen(python("import os; os.readlink('link')"), tmp_path)
    assert str(tmp_path / "link") in accesses.read


def test_what_is_not_there_is_seen(tmp_path: Path) -> None:
    assert str(tmp_path / "config") in seen("test -e config || true", tmp_path).read


def test_a_directory_that_is_listed_is_seen(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    accesses = seen("ls sub", tmp_path)
    assert str(tmp_path / "sub") in accesses.listed
    assert str(tmp_path) not in accesses.listed


def test_programs_and_the_interpreters_of_scripts_are_seen(tmp_path: Path) -> None:
    (tmp_path / "tool").symlink_to("/bin/sh")
    (tmp_path / "script").write_text(f"#!{tmp_path}/tool\nexec /bin/true\n")
    (tmp_path / "script").chmod(0o755)
    accesses = seen(["./script"], tmp_path)
    assert {str(tmp_path / "script"), os.path.realpath("/bin/true")} <= accesses.executed
    assert accesses.executed <= accesses.read


@needs_gcc
def test_an_interpreter_that_opens_nothing_is_seen(tmp_path: Path) -> None:
    compiled("int main(void) { return 0; }", tmp_path)
    (tmp_path / "script").write_text("#!./x -f\n")
    (tmp_path / "script").chmod(0o755)
    assert str(tmp_path / "x") in seen(["./script"], tmp_path).executed


@needs_gcc
def test_the_loader_of_a_program_is_seen(tmp_path: Path) -> None:
    loader = next(path for path in seen(["/bin/true"], tmp_path).executed if "ld-" in path)
    (tmp_path / "own").symlink_to(loader)
    compiled("int main(void) { return 0; }", tmp_path, "-Wl,--dynamic-linker=./own")
    assert {str(tmp_path / "own"), loader} <= seen(["./x"], tmp_path).read


def test_a_file_that_is_only_written_anew_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    accesses = seen("echo new > out", tmp_path)
    assert str(tmp_path / "out") in accesses.written
    assert str(tmp_path / "out") not in accesses.read


@needs_gcc
def test_a_library_that_is_opened_late_is_seen(tmp_path: Path) -> None:
    (tmp_path / "plug.c").write_text("int plug(void) { return 0; }")
    subprocess.run(["gcc", "-shared", "-fPIC", "plug.c", "-o", "plug.so"], cwd=tmp_path, check=True)
    program = compiled(
        '#include <dlfcn.h>\n#include <unistd.h>\nint main() { usleep(100000); return !dlopen("./plug.so", RTLD_NOW); }',
        tmp_path,
        "-ldl",
    )
    assert str(tmp_path / "plug.so") in seen([program], tmp_path).read


@needs_gcc
def test_threads_of_a_static_program_are_seen(tmp_path: Path) -> None:
    program = compiled(
        """#include <pthread.h>
#include <fcntl.h>
#include <stdio.h>
static void *run(void *number) {
    for (int i = 0; i < 200; i++) {
        char name[32];
        sprintf(name, "f%ld-%d", (long)number, i);
        open(name, O_RDONLY);
    }
    return 0;
}
int main(void) {
    pthread_t threads[8];
    for (long i = 0; i < 8; i++) pthread_create(threads + i, 0, run, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    return 0;
}""",
        tmp_path, "-static", "-pthread",
    )  # fmt: skip
    read = seen([program], tmp_path).read
    assert {str(tmp_path / f"f{thread}-{i}") for thread in range(8) for i in range(200)} <= read


def test_servers_and_their_clients_are_one(tmp_path: Path) -> None:
    source = """
import os, socket, sys
server = socket.socket({family})
server.bind({address})
server.listen()
address = server.getsockname()
if os.fork() == 0:
    client = socket.socket({family})
    client.connect(address)
    client.recv(1)
    os._exit(0)
connection, _ = server.accept()
open("served")
connection.send(b"x")
os.wait()
"""
    (tmp_path / "served").write_text("x")
    for family, address in (
        ("socket.AF_INET", "('127.0.0.1', 0)"),
        ("socket.AF_INET6", "('::1', 0)"),
        ("socket.AF_UNIX", "'own.socket'"),
        ("socket.AF_UNIX", r"'\0perfgate-" + tmp_path.name + "'"),
    ):
        accesses = seen(python(source.format(family=family, address=address)), tmp_path)
        assert str(tmp_path / "served") in accesses.read


@pytest.mark.parametrize("family", ["AF_INET", "AF_UNIX"])
def test_a_connection_to_somebody_else_is_a_doubt(family: str, tmp_path: Path) -> None:
    with socket.socket(getattr(socket, family)) as server:
        address = ("127.0.0.1", 0) if family == "AF_INET" else str(tmp_path / "theirs")
        server.bind(address)
        server.listen()
        address = server.getsockname()
        argv = python(f"import socket; socket.socket(socket.{family}).connect({address!r})")
        outcome, accesses = traced(argv, tmp_path)
        where = f"port {address[1]}" if family == "AF_INET" else address
        assert (outcome.status, accesses.doubts) == ("", (Doubt("connection", where),))
        if family == "AF_INET":
            assert traced(argv, tmp_path, ports=[address[1]])[1].doubts == ()


def test_a_daemon_that_is_not_there_is_no_doubt(tmp_path: Path) -> None:
    source = f"import socket; socket.socket(socket.AF_UNIX).connect_ex({str(tmp_path / 'daemon')!r})"
    assert str(tmp_path / "daemon") in seen(python(source), tmp_path).read


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "connection"),
        ("libc.unshare(0x00020000)", "namespace"),
        ("libc.chroot(b'/')", "namespace"),
        ("libc.syscall({'x86_64': 29, 'aarch64': 194}[os.uname().machine], 77, 1, 0)", "shared-memory"),
        ("libc.ptrace(16, 1, 0, 0)", "process"),
        ("libc.syscall(437, os.open('.', 0), b'/data', struct.pack('QQQ', 0, 0, 0x10), 24)", "namespace"),
        ("libc.syscall({'x86_64': 304, 'aarch64': 265}[os.uname().machine], -1, 0, 0)", "handle"),
    ],
)
def test_what_cannot_be_followed_is_a_doubt(call: str, kind: str, tmp_path: Path) -> None:
    _, accesses = traced(python(f"import ctypes, os, socket, struct; libc = ctypes.CDLL(None); {call}"), tmp_path)
    assert [doubt.kind for doubt in accesses.doubts] == [kind]


def test_a_program_with_privileges_of_its_own_is_a_doubt(tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "true")
    (tmp_path / "true").chmod(0o4755)
    _, accesses = traced(["./true"], tmp_path)
    assert accesses.doubts == (Doubt("privileges", str(tmp_path / "true")),)


def test_io_uring_is_as_if_there_were_none(tmp_path: Path) -> None:
    source = (
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); libc.syscall(425, 4, 0); print(ctypes.get_errno())"
    )
    seen(python(source), tmp_path)
    assert (tmp_path / "printed").read_text() == "38\n"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("exit 3", "exit 3"),
        ("kill -SEGV $$", "signal SIGSEGV"),
        (("./nothing",), "exit 127"),
        (("./data",), "exit 126"),
    ],
)
def test_a_command_ends_as_it_would(command: str | tuple[str, ...], status: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    outcome, _ = traced(command, tmp_path)
    assert outcome.status == status
    assert outcome.unstarted == (status in ("exit 126", "exit 127"))


def test_a_time_out_ends_all_of_it_and_nothing_is_left(tmp_path: Path) -> None:
    threads, descriptors = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    outcome, accesses = traced("cat data; sleep 60 & sleep 60", tmp_path, timeout=0.8)
    assert outcome.timed_out
    assert str(tmp_path / "data") in accesses.read
    assert threading.active_count() == threads
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["printed"]


def test_all_commands_of_a_trace_are_joined(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"]}
    with tracing(tmp_path) as trace:
        for name in ("a", "b"):
            command = Command(("cat", name), tmp_path, environment, 60.0)
            ProcessExecutor().run(trace.wrap(command))
        assert {str(tmp_path / "a"), str(tmp_path / "b")} <= trace.accesses().read


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_nothing_that_strace_sees_is_missed(tmp_path: Path) -> None:
    script = "git init -q . && echo 1 > a && git add a && git -c user.name=a -c user.email=a@b commit -qm x && git log"
    command = [*python(f"import subprocess; subprocess.run({script!r}, shell=True)")]
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    subprocess.run(
        ["strace", "-f", "-qq", "-y", "-e", "trace=%file", "-o", "../strace", *command],
        cwd=one, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True,
    )  # fmt: skip
    lines = (tmp_path / "strace").read_text(errors="replace").splitlines()
    wanted = {os.path.normpath(one / word) for line in lines for word in line.split('"')[1:2]}
    # what git made and removed has names drawn at random, and its objects are named by the time of the commit
    ours = {path for path in wanted if path.startswith(str(one)) and os.path.lexists(path) and "/objects/" not in path}
    assert len(ours) > 15
    accesses = seen(command, other)
    found = {path.replace(str(other), str(one)) for path in accesses.read | accesses.written}
    assert ours - found == set()
