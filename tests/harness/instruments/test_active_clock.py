"""The clock that stands still while a program waits for a processor: what it leaves out, what it does not, who gets it."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.instruments import active_clock
from tests.support.project import Project

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(
        shutil.which("cc") is None
        or sys.platform != "linux"
        or not any(map(int, Path("/proc/thread-self/schedstat").read_text().split())),
        reason="absent: cc, or a kernel that counts how long a thread waits (no clock was made)",
    ),
]
# Beside another program on one processor, the rest of the program has waited for about as long as it ran.
BESIDE = """\
import os, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def beside():
    other = os.fork()
    if not other:
        while True: pass
    begin, ran, at = time.perf_counter(), time.process_time(), time.time()
    while time.process_time() < ran + 0.1: pass
    print(time.perf_counter() - begin, time.time() - at, flush=True)
    os.kill(other, 9)
for _ in range(3): beside()
if os.fork(): os.wait()
else:
    for _ in range(3): beside()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clock")
    active_clock.build(path, os.environ)
    assert [each.name for each in path.iterdir()] == ["active_clock.so"]
    return path


def told(folder: Path, scratch: Path, *argv: str, **given: str) -> list[float]:
    """Run a program with the clock; return the numbers that it prints."""
    own = active_clock.variables(folder, scratch, os.environ) | given
    done = subprocess.run(argv, env={**os.environ, **own}, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [float(word) for word in done.stdout.split()]


def test_what_others_run_is_left_out_and_told(folder: Path, tmp_path: Path) -> None:
    found = told(folder, tmp_path, sys.executable, "-c", BESIDE)
    # of a program and of one that it forked; a page that is read from a disk is waited for, on any machine
    for own in (found[:6], found[6:]):
        assert min(own[::2]) == pytest.approx(0.1, rel=0.1)
        assert min(own[1::2]) > 0.15
    # the start of the program has waited too
    stood = active_clock.stood_still(tmp_path)
    assert stood is not None and stood > max(
        wall - active for active, wall in zip(found[::2], found[1::2], strict=True)
    )


@pytest.mark.parametrize(("names", "left_out"), [("a.B.c", True), ("a.B.c a.B.c", False), ("main", False)])
def test_of_jmh_what_its_only_worker_waits_is_left_out(
    folder: Path, tmp_path: Path, names: str, *, left_out: bool
) -> None:
    program = """
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <stdio.h>
    #include <time.h>
    #include <unistd.h>
    static double now(clockid_t id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
    static void *work(void *name) {
        pthread_setname_np(pthread_self(), name);
        usleep(50000);
        double begin = now(CLOCK_MONOTONIC), at = now(CLOCK_REALTIME), ran = now(CLOCK_THREAD_CPUTIME_ID);
        while (now(CLOCK_THREAD_CPUTIME_ID) < ran + 0.1) {}
        printf("%f %f\\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_REALTIME) - at);
        return NULL;
    }
    int main(int argc, char **names) {
        cpu_set_t one; CPU_ZERO(&one); CPU_SET(sched_getcpu(), &one); sched_setaffinity(0, sizeof one, &one);
        pid_t other = fork();
        if (!other) for (;;) {}
        pthread_t threads[2];
        for (int i = 1; i < argc; i++) pthread_create(threads + i - 1, 0, work, names[i]);
        for (int i = 1; i < argc; i++) pthread_join(threads[i - 1], 0);
        kill(other, 9);
        return 0;
    }
    """
    (tmp_path / "a.c").write_text(textwrap.dedent(program))
    subprocess.run(["cc", "-O1", "-o", "a", "a.c", "-pthread"], cwd=tmp_path, check=True)
    found = told(folder, tmp_path, str(tmp_path / "a"), *names.split(), **{active_clock.WORKER: "1"})
    for active, wall in zip(found[::2], found[1::2], strict=True):
        assert wall > 0.15
        assert active == pytest.approx(0.1 if left_out else wall, rel=0.1)


def test_waits_count_as_they_did_and_end_when_they_should(folder: Path, tmp_path: Path) -> None:
    """Also those until a time of this clock, which is behind the system's by then, of C and of Rust's futex."""
    source = tmp_path / "waits.c"
    source.write_text(
        textwrap.dedent("""\
        #define _GNU_SOURCE
        #include <errno.h>
        #include <linux/futex.h>
        #include <pthread.h>
        #include <sched.h>
        #include <semaphore.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/syscall.h>
        #include <sys/timerfd.h>
        #include <time.h>
        #include <unistd.h>
        static double at(clockid_t id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
        static struct timespec after(clockid_t id) {
            struct timespec t; clock_gettime(id, &t); t.tv_nsec += 100000000;
            if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
            return t;
        }
        static volatile int ended, back;
        static void *watch(void *none) {
            for (double last = 0, now; !ended; last = now) back += (now = at(CLOCK_MONOTONIC)) < last;
            return none;
        }
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
        #define TIMED(...) { double begin = at(CLOCK_MONOTONIC); __VA_ARGS__; printf("%f ", at(CLOCK_MONOTONIC) - begin); }
        int main(void) {
            cpu_set_t one; CPU_ZERO(&one); CPU_SET(sched_getcpu(), &one); sched_setaffinity(0, sizeof one, &one);
            pid_t other = fork(); if (!other) for (;;) {}
            while (at(CLOCK_PROCESS_CPUTIME_ID) < 0.2) {}
            kill(other, SIGKILL);
            /* beside the first thread, which waits and reads the clock then */
            pthread_t watching; pthread_create(&watching, 0, watch, 0);
            for (int i = 0; i < 8; i++) {
                double ran = at(CLOCK_THREAD_CPUTIME_ID); while (at(CLOCK_THREAD_CPUTIME_ID) < ran + 0.01) {}
                at(CLOCK_MONOTONIC);
            }
            ended = 1; pthread_join(watching, 0);
            pthread_mutex_lock(&mutex);
            sem_t none; sem_init(&none, 0, 0);
            int word = 0;
            pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; pthread_rwlock_rdlock(&lock);
            struct timespec t, tenth = {0, 100000000};
            TIMED(nanosleep(&tenth, 0))
            TIMED(t = after(CLOCK_MONOTONIC); clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0))
            TIMED(t = after(CLOCK_MONOTONIC); pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &t))
            TIMED(t = after(CLOCK_REALTIME); pthread_cond_timedwait(&cond, &mutex, &t))
            TIMED(t = after(CLOCK_MONOTONIC); sem_clockwait(&none, CLOCK_MONOTONIC, &t))
            TIMED(t = after(CLOCK_MONOTONIC);
                  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &t, 0, FUTEX_BITSET_MATCH_ANY))
            TIMED(t = after(CLOCK_MONOTONIC); pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &t))
            TIMED(t = after(CLOCK_BOOTTIME); clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, 0))
            int timer = timerfd_create(CLOCK_MONOTONIC, 0);
            struct itimerspec once = {{0, 0}, {0, 0}};
            TIMED(once.it_value = after(CLOCK_MONOTONIC); timerfd_settime(timer, TFD_TIMER_ABSTIME, &once, 0);
                  if (read(timer, &once, 8) < 0) return 1;)
            printf("%d ", back);
            return 0;
        }
        """)
    )
    program = tmp_path / "waits"
    subprocess.run(["cc", "-O1", "-o", program, source, "-pthread"], check=True)
    *waits, back = told(folder, tmp_path, str(program))
    assert (len(waits), back) == (9, 0)
    # a tenth of a second by both clocks: the system's is ahead by as much as the program waited
    assert min(waits) > 0.099
    # a clock that is not replaced
    assert waits[7] < 0.19
    stood = active_clock.stood_still(tmp_path)
    assert stood is not None and stood > 0.1


def test_it_goes_on_in_each_thread_and_from_the_first_to_others(folder: Path, tmp_path: Path) -> None:
    """What another thread reads does not hold back the first one's clock: a benchmark would take no time."""
    program = """
    import os, threading, time
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ended = []
    def read():
        while not ended: time.perf_counter()
    threading.Thread(target=read).start()
    steps = []
    for _ in range(30):
        first = time.perf_counter()
        sum(range(20000))
        steps.append(time.perf_counter() - first)
    ended.append(1)
    later = []
    for _ in range(30):
        seen = [time.perf_counter()]
        other = threading.Thread(target=lambda: (seen.append(time.perf_counter()), seen.append(time.perf_counter())))
        other.start(), other.join()
        later += [seen[1] - seen[0], seen[2] - seen[1]]
    print(min(steps), min(later))
    """
    steps, later = told(folder, tmp_path, sys.executable, "-c", textwrap.dedent(program))
    assert steps > 1e-5
    assert later >= 0


def test_own_libraries_stay_and_nothing_of_it_is_repeated_by_hand(folder: Path, tmp_path: Path) -> None:
    given = {"LD_PRELOAD": "theirs.so", "HOME": "/"}
    own = given | active_clock.variables(folder, tmp_path, given)
    assert own["LD_PRELOAD"] == f"{folder}/active_clock.so:theirs.so"
    assert active_clock.without(own) == given
    assert active_clock.without({"A": "b"} | active_clock.variables(folder, tmp_path, {})) == {"A": "b"}
    # no compiler, no clock
    bare = tmp_path / "bare"
    bare.mkdir()
    active_clock.build(bare, {"PATH": str(bare)})
    assert active_clock.variables(bare, tmp_path, given) == {}


def test_a_program_with_names_of_the_c_library_keeps_them(folder: Path, tmp_path: Path) -> None:
    """Variables called time and read, which the linker gives to all libraries, and no number of an error is lost."""
    source = tmp_path / "names.c"
    source.write_text(
        textwrap.dedent("""\
        #include <errno.h>
        #include <stdio.h>
        #include <sys/resource.h>
        struct timespec { long s, ns; };
        int clock_gettime(int, struct timespec *), sem_init(void *, int, unsigned), usleep(unsigned);
        int sem_clockwait(void *, int, const struct timespec *);
        double time;
        int read, open, close;
        int main(void) {
            struct timespec t;
            long sem[8];
            usleep(1000);
            clock_gettime(1, &t);
            sem_init(sem, 0, 0);
            sem_clockwait(sem, 1, &t);
            struct rlimit none = {0, 0};
            setrlimit(RLIMIT_NOFILE, &none);
            usleep(1000);
            errno = 7;
            clock_gettime(1, &t);
            printf("%d %d\\n", errno, read);
        }
        """)
    )
    program = tmp_path / "names"
    subprocess.run(["cc", "-w", "-O1", "-fno-builtin", "-rdynamic", "-o", program, source, "-pthread"], check=True)
    assert told(folder, tmp_path, str(program)) == [7, 0]


def test_a_kept_library_that_does_not_work_is_made_anew(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for directory in ("first", "again"):
        (tmp_path / directory).mkdir()
        active_clock.build(tmp_path / directory, environment)
        (kept,) = (tmp_path / "cache/perfgate").iterdir()
        assert kept.stat().st_size == (tmp_path / directory / "active_clock.so").stat().st_size > 0
        # the disk was full
        kept.write_bytes(b"")


@pytest.mark.parametrize("said", ["-5", "9" * 400, "x", "", "1e3"])
def test_what_a_program_writes_there_itself_does_no_harm(tmp_path: Path, said: str) -> None:
    (tmp_path / "clock").write_text(said)
    assert active_clock.stood_still(tmp_path) in (0.0, None)


@pytest.mark.parametrize("clock", ["active", "wall"])
def test_what_measures_itself_reads_it_and_what_perfgate_times_does_not(tmp_path: Path, clock: str) -> None:
    project = Project(tmp_path / "project")
    shown = "import os; print(1 + ('active_clock.so' in os.environ.get('LD_PRELOAD', '')))"
    without = "import os; assert 'LD_PRELOAD' not in os.environ"
    project.write(
        "perfgate.toml",
        f"""
[plan]
builds = 1
executions = 1
iterations = 1
[[benchmark]]
name = "own"
instrument = "values"
clock = "{clock}"
command = ["python3", "-c", "{shown}"]
[[benchmark]]
name = "timed"
command = ["python3", "-c", "{without}"]
""",
    )
    project.commit()
    done = project.perfgate("measure", "--base", "HEAD")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in project.lines()]
    own, timed = (
        [each for each in found if each.get("benchmark") == name and "metrics" in each] for name in ("own", "timed")
    )
    assert own and timed
    assert {each["metrics"]["time"]["values"][0] for each in own} == {2.0 if clock == "active" else 1.0}
    assert {each.get("waited") is not None for each in own} == {clock == "active"}
    assert not any(each.get("waited") for each in timed)


def test_a_program_of_c_prints_line_by_line_where_that_is_asked_for(folder: Path, tmp_path: Path) -> None:
    """Else it would print at its end, which abort leaves out; only into the file that is named."""
    source = tmp_path / "main.c"
    source.write_text('#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts("1.5"); abort(); }\n')
    subprocess.run(["cc", "-o", tmp_path / "main", source], check=True)
    kept = tmp_path / "kept"
    for asked, printed in ((None, ""), (source, ""), (kept, "1.5\n")):
        own = active_clock.variables(folder, tmp_path, os.environ) | ({"PERFGATE_LINES": str(asked)} if asked else {})
        with kept.open("wb") as file:
            subprocess.run([tmp_path / "main"], env={**os.environ, **own}, stdout=file, check=False)
        assert kept.read_text() == printed
        # without its clock, too
        quiet = active_clock.silent({**os.environ, **own})
        assert "PERFGATE_CLOCK" not in quiet and ("LD_PRELOAD" in quiet) == ("LD_PRELOAD" in os.environ or bool(asked))
        (tmp_path / "clock").unlink(missing_ok=True)
        with kept.open("wb") as file:
            subprocess.run([tmp_path / "main"], env=quiet, stdout=file, check=False)
        assert kept.read_text() == printed
        assert not (tmp_path / "clock").exists()


def test_a_program_of_c_that_is_ended_early_is_proved_by_what_is_measured_of_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("main.c", '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("a: 5 ms"); sleep(60); }\n')
    project.write(
        "perfgate.toml",
        """
build.command = "cc -o main main.c"
plan = { builds = 2, budget = "40s" }
[[benchmark]]
name = "a"
instrument = "values"
format = "printed"
include = ["a"]
command = ["./main"]
""",
    )
    project.commit()
    project.write("README", "more")
    project.commit()
    done = project.perfgate("measure", "--base", "HEAD~1")
    assert done.returncode == 0, done.stderr
    assert [each["type"] for each in map(json.loads, project.lines()) if each.get("benchmark")] == ["same"]
