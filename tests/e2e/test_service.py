"""Benchmarks that talk to a server or run beside a load, gated as a user would: real servers, real processes."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.process.process_groups import alive
from tests.support.project import Project, until

pytestmark = pytest.mark.endtoend

SERVER = """\
import os, socket, sys
print(os.getpid(), file=open(f"{os.environ['NOTES']}/server-{os.getpid()}", "w"))
print("serving", os.environ["PERFGATE_SIDE"], flush=True)
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        connection, _ = server.accept()
        with connection:
            asked = connection.recv(100)
            if asked == b"crash":
                print("it crashed", flush=True)
                os._exit(9)
            connection.sendall(b"SPEED")
"""
CLIENT = """\
import os, random, socket, sys, time
random.seed(int(os.environ["PERFGATE_SEED"]))
with open(sys.argv[2], "w") as out:
    for _ in range(int(os.environ["PERFGATE_ITERATIONS"])):
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
            server.sendall(sys.argv[3].encode())
            if sys.argv[3] == "crash":
                time.sleep(60)
            out.write(f"{float(server.recv(100)) * random.gauss(1, 0.01)}\\n")
"""
CONFIG = """\
[gate]
threshold = "5%"
sameness = "off"
[plan]
builds = 5
executions = 2
iterations = 4
[build]
write = ["$NOTES"]
[env]
set = { NOTES = "@NOTES" }
[[benchmark]]
name = "request"
command = "python3 client.py {port} {output} ask"
instrument = "values"
timeout = "20s"
service = { command = "python3 server.py {port}" }
"""


class Served(Project):
    """A repository with a server whose answers say how slow it is."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self.notes = top.parent / "notes"
        self.notes.mkdir()
        # the sandbox of root's runs is another user's
        self.notes.chmod(0o777)
        self.config = CONFIG.replace("@NOTES", str(self.notes))
        for speed in ("1.0", "1.2"):
            self.write("server.py", SERVER.replace("SPEED", speed))
            self.write("client.py", CLIENT)
            self.write("perfgate.toml", self.config)
            self.commit(speed)

    def check(self, old: str = "", new: str = "", *arguments: str) -> subprocess.CompletedProcess[str]:
        """Gate the last commit, after a change of the configuration of both sides."""
        assert old in self.config
        self.write("perfgate.toml", self.config.replace(old, new) if old else self.config)
        return self.perfgate("check", "--config", "perfgate.toml", "--base", "HEAD~1", *arguments)

    def servers(self) -> list[int]:
        """The process ids of all servers so far."""
        # one that has just been made may be empty still
        return [int(text) for path in self.notes.glob("server-*") if (text := path.read_text())]


@pytest.fixture
def project(tmp_path: Path) -> Served:
    return Served(tmp_path / "a project")


def test_a_slower_server_fails_beside_a_load(project: Served) -> None:
    load = 'load = { command = "echo $$ > $NOTES/load-$$; sleep 600 & wait" }\nservice ='
    done = project.check("service =", load)
    assert done.returncode == 1, done.stdout + done.stderr
    (finding,) = project.report()["findings"]
    assert 1.15 < finding["ratio"]["estimate"] < 1.25
    # one a side and execution, and of those that tell how short turns may be, once or twice; none is left
    for pids in (project.servers(), [int(path.read_text()) for path in project.notes.glob("load-*")]):
        assert len(pids) - 2 * 5 * 2 in (4, 8)
        assert not any(alive(pid, None) for pid in pids)


def test_a_server_per_build(project: Served) -> None:
    done = project.check('{port}" }', '{port}", per = "build" }')
    assert done.returncode == 1, done.stdout + done.stderr
    # of each side another one before the first value
    assert len(project.servers()) == 2 * 5 + 2
    assert not any(alive(pid, None) for pid in project.servers())


def test_a_server_that_crashes_is_an_error_with_its_log(project: Served) -> None:
    done = project.check("{output} ask", "{output} crash")
    assert done.returncode == 4
    failures = project.report()["failures"]
    assert [failure["status"] for failure in failures] == ["service ended while the benchmark ran: exit 9"]
    assert f"serving {failures[0]['side']}\nit crashed" in failures[0]["stderr"]
    assert "it crashed" in done.stdout


def started(project: Served, count: int, *arguments: str) -> subprocess.Popen[str]:
    """Begin a gate, and wait until so many servers were started."""
    running = project.begin("check", "--base", "HEAD~1", "--config", "perfgate.toml", *arguments, heard=False)
    try:
        until(lambda: len(project.servers()) >= count or running.poll() is not None)
        assert running.poll() is None
    except BaseException:
        running.kill()
        running.communicate()
        raise
    return running


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.nightly), signal.SIGTERM])
def test_an_interruption_ends_servers(project: Served, number: signal.Signals) -> None:
    project.write("perfgate.toml", project.config.replace('{port}" }', '{port}", per = "build" }'))
    running = started(project, 2)
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert not any(alive(pid, None) for pid in project.servers())


@pytest.mark.skipif(sys.platform != "linux", reason="without /proc nobody is known again")
def test_the_next_run_ends_what_a_killed_one_left(project: Served) -> None:
    # a server per build, a load, and a daemon in a session of its own
    daemon = "setsid sh -c 'echo $$ > $NOTES/daemon-$$; cd /; exec sleep 600' &"
    config = project.config.replace(
        'service = { command = "python3',
        f'load = {{ command = """{daemon} echo $$ > $NOTES/load-$$; sleep 600 & wait""" }}\n'
        'service = { per = "build", command = "exec python3',
    )
    project.write(
        "perfgate.toml",
        config.replace("python3 client.py {port} {output} ask", "echo $$ > $NOTES/command-$$; exec sleep 600"),
    )
    running = started(project, 1)
    # the server's, the load's, the daemon's and the command's own
    until(lambda: sum(bool(path.read_text()) for path in project.notes.iterdir()) == 4)
    running.kill()
    running.communicate()
    left = [int(path.read_text()) for path in project.notes.iterdir()]
    assert len(left) == 4
    assert all(alive(pid, None) for pid in left)
    done = project.check("", "", "--set", "plan.builds=1")
    assert (done.returncode, project.report()["failures"]) == (0, []), done.stdout + done.stderr
    assert not any(alive(pid, None) for pid in left)
