"""What a command and all that it starts read is seen, by real processes and the real kernel."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from harness.trace import syscalls
from harness.trace.trace import Tracer
from tests.support.traced import compiled, needs_gcc, python, seen

LOADER = Path("/lib64/ld-linux-x86-64.so.2")


COMMANDS = [
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
    "exec 9< sub/up; cat /dev/fd/9/data",
    "exec 9< sub/up; cat /proc/self/fd/9/data",
    "cat /proc/self/cwd/data",
    "cat //proc/self/../self/cwd/data",
    "cd sub; cat ./..//data",
    "cat sub/../data",
    "mkfifo pipe; cat data > pipe & cat pipe; wait",
    "echo 'cat data' > run; sh run",
    ". ./set",
    "setsid cat data",
    "cat //proc/self/cwd/data",
    "cat /proc/./self/cwd/data",
    "cd /proc && cat self/cwd/self/status thread-self/status && cd - && cat here/data",
]
CALLS = [
    "open('data')",
    "os.open('data', os.O_RDWR)",
    "os.open('data', os.O_PATH)",
    "os.open('data', os.O_WRONLY | os.O_TRUNC)",
    "os.open('data', os.O_CREAT | os.O_EXCL | os.O_WRONLY)",
    "os.symlink('x', 'data')",
    "os.mkdir('data')",
    "os.rename('data', 'other')",
    "os.chdir('data')",
    "(os.chdir('sub'), open('../data'))",
    "(d := os.open('.', os.O_PATH), os.chdir('/'), os.open('data', os.O_RDONLY, dir_fd=d))",
    "(d := os.open('.', os.O_PATH), os.chdir('/'), os.fchdir(d), os.open('data', os.O_RDONLY))",
    "mmap.mmap(os.open('data', os.O_RDWR), 0)",
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
]


def test_a_file_is_seen_however_it_is_read(tmp_path: Path, tracer: Tracer) -> None:
    """Each command runs in a directory of its own, and all under one tracer."""
    script = ""
    for number, command in enumerate(COMMANDS):
        place = tmp_path / str(number)
        (place / "sub").mkdir(parents=True)
        (place / "data").write_text("x")
        (place / "link").symlink_to("data")
        (place / "sub/up").symlink_to("..")
        (place / "set").write_text("cat data")
        (place / "here").symlink_to("/proc/self/cwd")
        script += f"(cd {number}; {command})\n"
    read = seen(script, tmp_path, tracer).read
    assert [each for n, each in enumerate(COMMANDS) if str(tmp_path / str(n) / "data") not in read] == []
    for command, also in (("cat link", "link"), ("cat sub/up/data", "sub/up")):
        assert str(tmp_path / str(COMMANDS.index(command)) / also) in read


def test_each_call_is_seen(tmp_path: Path, tracer: Tracer) -> None:
    """Each by a process in a directory of its own, and all under one tracer."""
    for number in range(len(CALLS)):
        (tmp_path / str(number) / "sub").mkdir(parents=True)
        (tmp_path / str(number) / "data").write_text("x")
    source = f"""
import contextlib, mmap, os, threading
for number, call in enumerate({CALLS!r}):
    if os.fork() == 0:
        os.chdir(str(number))
        with contextlib.suppress(OSError):
            exec(call)
        for thread in threading.enumerate()[1:]:
            thread.join()
        os._exit(0)
    os.wait()
"""
    read = seen(python(source), tmp_path, tracer).read
    assert [each for n, each in enumerate(CALLS) if str(tmp_path / str(n) / "data") not in read] == []


def test_what_is_passed_listed_absent_or_only_written_is_told_apart(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("a", "sub"):
        (tmp_path / name).mkdir()
    (tmp_path / "out").write_text("old")
    # whether a/config is there decides whether what is beside it is found
    passing = "test -e a/config/../x || test -e a/gone/lower || test -e config || true"
    accesses = seen(f"readlink link; ls sub; {passing}; echo new > out", tmp_path, tracer)
    read = ("link", "config", "a", "a/config", "a/x", "a/gone", "a/gone/lower")
    assert {str(tmp_path / each) for each in read} <= accesses.read
    assert str(tmp_path / "sub") in accesses.listed
    assert str(tmp_path) not in accesses.listed
    assert str(tmp_path / "out") in accesses.written
    assert str(tmp_path / "out") not in accesses.read


def test_a_link_that_leads_elsewhere_meanwhile_is_followed_there(tmp_path: Path, tracer: Tracer) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").touch()
    source = (
        "rm -f on; ln -s a on; cat on/x; rm on; ln -s b on; cat on/x; rm on; mkdir on; cat on/x; mv a/x on; cat on/x"
    )
    accesses = seen(f"{source} || true", tmp_path, tracer)
    assert {str(tmp_path / each) for each in ("a/x", "b/x", "on", "on/x")} <= accesses.read


def test_directories_that_get_other_names_are_seen(tmp_path: Path, tracer: Tracer) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a/x").touch()
    moved = seen('mv a c; mv c/x y; python3 -c \'import os; os.rename("c", "b")\'', tmp_path, tracer).moved
    assert moved == {str(tmp_path / each) for each in "abc"}


def test_programs_and_their_interpreters_are_seen(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "tool").symlink_to("/bin/sh")
    (tmp_path / "inner").write_text(f"#!{tmp_path}/tool\nexec /bin/true\n")
    (tmp_path / "script").write_text("#! ./inner -x\n")
    for name in ("inner", "script"):
        (tmp_path / name).chmod(0o755)
    accesses = seen(["./script"], tmp_path, tracer)
    executed = (tmp_path / "script", tmp_path / "inner", Path("/bin/sh").resolve(), Path("/bin/true").resolve())
    assert {str(path) for path in executed} <= accesses.executed
    assert str(tmp_path / "tool") in accesses.read
    assert accesses.executed <= accesses.read


@needs_gcc
@pytest.mark.skipif(not LOADER.exists(), reason="needs the dynamic linker of x86-64")
def test_the_dynamic_linker_of_a_program_is_seen(tmp_path: Path, tracer: Tracer) -> None:
    shutil.copy(LOADER, tmp_path / "loader")
    program = compiled("int main(void) { return 0; }", tmp_path, f"-Wl,--dynamic-linker={tmp_path}/loader")
    assert str(tmp_path / "loader") in seen([program], tmp_path, tracer).executed


@needs_gcc
def test_a_library_that_is_opened_late_is_seen(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "plug.c").write_text("int plug(void) { return 0; }")
    subprocess.run(["gcc", "-shared", "-fPIC", "plug.c", "-o", "plug.so"], cwd=tmp_path, check=True)
    program = compiled(
        '#include <dlfcn.h>\n#include <unistd.h>\nint main() { usleep(100000); return !dlopen("./plug.so", RTLD_NOW); }',
        tmp_path,
        "-ldl",
    )
    assert str(tmp_path / "plug.so") in seen([program], tmp_path, tracer).read


@pytest.mark.endtoend
@needs_gcc
def test_threads_of_a_static_program_are_seen(tmp_path: Path, tracer: Tracer) -> None:
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
    read = seen([program], tmp_path, tracer).read
    assert {str(tmp_path / f"f{thread}-{i}") for thread in range(8) for i in range(200)} <= read


def test_what_somebody_else_changed_is_told(tmp_path: Path, tracer: Tracer) -> None:
    (tmp_path / "old").write_text("x")
    since = time.time_ns() + 3 * 10**7
    os.utime(tmp_path / "old", ns=(0, 0))
    while time.time_ns() < since + 3 * 10**7:
        time.sleep(0.01)
    for name in ("looked", "in"):
        (tmp_path / name).mkdir()
    for name in ("read", "anew", "first", "in/x"):
        (tmp_path / name).write_text("x")
    command = """cat read old > /dev/null; echo > anew; cat anew; cat first; echo > first; cat in/x; ls looked
        echo > made; cat made; mkdir own; touch own/y; ls own; echo >> old; cat old; mv made moved; cat moved"""
    changed = seen(command, tmp_path, tracer, since=since).changed
    expected = {str(tmp_path / each) for each in ("read", "first", "in/x", "looked")}
    assert {path for path in changed if path.startswith(str(tmp_path))} == expected


HEADERS = {
    "x86_64": [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")],
    "aarch64": [Path("/usr/include/asm-generic/unistd.h")],
}
# the kernel's names for what has two of them
OTHERS = {"newfstatat": ("fstatat",), "truncate": ("truncate64",), "statfs": ("statfs64",)}


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = next((path for path in HEADERS[machine] if path.exists()), None)
    if header is None:
        pytest.skip("absent: the kernel's headers (no number was compared)")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in found}
    for number, name in syscalls.numbers(machine).items():
        names = (name, *OTHERS.get(name, ()))
        known = {numbers[each] for each in names if each in numbers}
        # headers may be older than the table
        assert known == {number} or (not known and number > max(numbers.values()))
    assert len(syscalls.numbers(machine)) > 60
