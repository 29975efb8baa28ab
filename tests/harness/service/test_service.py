"""Services and loads: when they are ready, what becomes of them, and which port they get."""

import dataclasses
import http.server
import os
import shlex
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark, Load, Service
from gate.model import Side
from gate.writing.units import Duration
from harness.instruments.protocol import Context, Unusable
from harness.process.budget import Budget
from harness.process.execute import Command, ProcessEnd, ProcessExecutor
from harness.service.service import Companions, Living, NotStartedError, Probe, free_port, make_probe, wait_until_ready
from tests.support.fakes import FakeExecutor
from tests.support.project import until

ENVIRONMENT = {"PATH": os.environ["PATH"]}
OK = ProcessEnd("", "2026-01-01T00:00:00Z", 1.0, "")
SERVER = """\
import os, socket, sys
from tests.support.project import until
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(sys.argv[1])))
# before it listens: who connects finds it said
print("listening", os.environ["PERFGATE_PORT"], os.environ["PERFGATE_SEED"], os.getpid(), flush=True)
server.listen()
while True:
    server.accept()[0].close()
"""


@pytest.fixture
def executor() -> Iterator[ProcessExecutor]:
    made = ProcessExecutor()
    yield made
    assert not any(background.alive() for background in made._background)
    made.close()


@pytest.fixture
def companions(executor: ProcessExecutor, tmp_path: Path) -> Iterator[Companions]:
    (tmp_path / "logs").mkdir()
    (tmp_path / "server.py").write_text(SERVER)
    made = Companions(executor, tmp_path / "logs", Budget())
    yield made
    made.stop_builds()


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return fresh(tmp_path)


def fresh(directory: Path, side: Side = "base") -> Context:
    """As the loop makes it: a scratch directory and a port of its own for each execution."""
    port = free_port()
    scratch = directory / f"scratch-{port}"
    scratch.mkdir()
    return Context(directory, ENVIRONMENT, side, seed=17, padding=3, iterations=1, scratch=scratch, port=port)


def bench(service: Service | None = None, load: Load | None = None) -> Benchmark:
    return Benchmark(name="b", command="true", instrument="values", service=service, load=load)


def server(**options: Any) -> Service:
    return Service(command=f"exec {shlex.quote(sys.executable)} server.py {{port}}", **options)


def living(entered: Living | Unusable) -> Living:
    assert isinstance(entered, Living), entered
    return entered


def unusable(entered: Living | Unusable) -> Unusable:
    assert isinstance(entered, Unusable)
    return entered


def connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def said(path: Path) -> str:
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return path.read_text()


def complains(entered: Living) -> str:
    until(entered.complaint)
    return entered.complaint()


def test_a_benchmark_without_either_starts_nothing_and_the_environment_is_the_execution_s(
    tmp_path: Path, context: Context
) -> None:
    fake = FakeExecutor(lambda command: OK)
    with Companions(fake, tmp_path, Budget()).around(bench(), context) as entered:
        assert (living(entered).port, living(entered).complaint(), living(entered).logs()) == (context.port, "", "")
    assert fake.commands == []
    assert list(context.scratch.iterdir()) == []
    fake = FakeExecutor(lambda command: OK)
    (context.scratch / "service.log").write_text(f"{context.port} is up")
    each = bench(Service(command=["s", "{port}", "{output}"], ready="log:{port} is up"), Load(command=["l"], cpus="1"))
    with Companions(fake, tmp_path, Budget()).around(each, context) as entered:
        assert living(entered).complaint() == ""
        fake.background[0].ended = "exit 2"
        assert living(entered).complaint() == "service ended while the benchmark ran: exit 2"
    service, load = fake.commands
    assert service.argv == ("s", str(context.port), "{output}")
    assert (load.argv, load.cpus, service.cpus) == (("l",), "1", None)
    for command in fake.commands:
        assert command.directory == context.directory
        assert command.environment["PERFGATE_SIDE"] == "base"
        assert command.environment["PERFGATE_PADDING"] == "xxx"
    assert [background.ended for background in fake.background] == ["exit 2", "signal SIGTERM"]


def test_a_service_lives_as_long_as_the_execution(companions: Companions, context: Context) -> None:
    with companions.around(bench(server()), context) as entered:
        assert living(entered).port == context.port
        assert connects(context.port)
        assert living(entered).complaint() == ""
        logs = living(entered).logs()
        assert logs.startswith(f"--- service ---\nlistening {context.port} 17 ")
        pid = int(logs.split()[-1])
        os.kill(pid, 0)
    assert not connects(context.port)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    # whatever happens
    entering = companions.around(bench(server()), context)
    entering.__enter__()
    assert connects(context.port)
    assert not entering.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not connects(context.port)


DEAF = Service(command="echo up but deaf; sleep 60 {port}", timeout=Duration(0.2))


@pytest.mark.parametrize(
    ("service", "load", "status", "told"),
    [
        (DEAF, None, "service not ready after 0.2s (tcp:PORT): connection refused", "--- service ---\nup but deaf\n"),
        (Service(command="echo no licence >&2; exit 3", ready="log:up"), None, "service ended before it was ready: exit 3", "no licence"),
        (Service(command=["no-such"], ready="log:x"), None, 'service cannot start: there is no program "no-such"', ""),
        (Service(command="true", ready="tcp:x"), None, 'service: ready = "tcp:x": write "tcp:PORT", "tcp:HOST', ""),
        (Service(command="sleep 9", ready="log:x", cpus="60000"), None, 'service cannot start: cpus = "60000": processor 60000 is not available here', ""),
        # and tells of the service, too
        (server(ready="log:listening"), Load(command=["./absent"]), 'load cannot start: there is no program "./absent"', "listening"),
    ],
)  # fmt: skip
def test_what_is_not_there_beside_a_benchmark(
    companions: Companions, context: Context, service: Service, load: Load | None, status: str, told: str
) -> None:
    with companions.around(bench(service, load), context) as entered:
        found = unusable(entered)
    assert found.status.startswith(status.replace("PORT)", f"{context.port})"))
    assert told in found.stderr
    assert not connects(context.port)


def test_somebody_else_on_the_port_is_not_taken_for_the_service(companions: Companions, context: Context) -> None:
    # before its own process finds out that it cannot have the port
    service = Service(command="sleep 60 {port}")
    with socket.socket() as other:
        other.bind(("127.0.0.1", context.port))
        other.listen()
        with companions.around(bench(service), context) as entered:
            status = unusable(entered).status
    assert status.startswith(f"service: another process listens on port {context.port} of 127.0.0.1 already")


def test_a_service_that_ends_while_the_benchmark_runs(
    companions: Companions, executor: ProcessExecutor, context: Context
) -> None:
    service = Service(command="echo up; sleep 0.4; echo out of memory; exit 9", ready="log:up")
    with companions.around(bench(service), context) as entered:
        command = Command(("sleep", "600"), context.directory, ENVIRONMENT, 60)
        outcome = executor.run(command, living(entered).complaint)
        assert "out of memory" in living(entered).logs()
    assert outcome.status == "service ended while the benchmark ran: exit 9"


def test_a_load_lives_as_long_as_the_execution_and_is_a_failure_where_it_ends_first(
    companions: Companions, context: Context
) -> None:
    load = Load(command="echo $$ {port} $PERFGATE_PORT {seed} > load; sleep 60 & wait")
    with companions.around(bench(load=load), context) as entered:
        pid, *rest = said(context.directory / "load").split()
        assert rest == [str(context.port), str(context.port), "17"]
        os.kill(int(pid), 0)
        assert living(entered).complaint() == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
    with companions.around(bench(load=Load(command="echo nothing left to do")), context) as entered:
        assert complains(living(entered)) == "load ended before the benchmark: exit 0"
        assert living(entered).logs() == "--- load ---\nnothing left to do\n"


def test_the_load_starts_when_the_service_is_ready_and_ends_before_it(
    tmp_path: Path, companions: Companions, context: Context
) -> None:
    trap = "trap 'echo {0} ends >> order; exit' TERM; echo {0} >> order; echo up; while :; do sleep 0.05; done"
    service = Service(command=f"sleep 0.1; {trap.format('service')}", ready="log:up")
    with companions.around(bench(service, Load(command=trap.format("load"))), context):
        while "load" not in said(tmp_path / "order"):
            time.sleep(0.01)
    assert (tmp_path / "order").read_text().split("\n")[:-1] == ["service", "load", "load ends", "service ends"]


@pytest.mark.endtoend
def test_a_service_per_build_serves_all_executions_of_its_side_and_treatment(
    companions: Companions, tmp_path: Path
) -> None:
    each, pids, ports = bench(server(per="build")), list[str](), list[int]()
    sides: tuple[Side, ...] = ("base", "head", "base", "base")
    contexts = [
        dataclasses.replace(fresh(tmp_path, side), treatment=treatment)
        for side, treatment in zip(sides, ("", "", "", '{"clients": 8}'), strict=True)
    ]
    for context in contexts:
        with companions.around(each, context) as entered:
            ports.append(living(entered).port)
            assert connects(ports[-1])
            pids.append(living(entered).logs().split()[-1])
    assert ports == [contexts[number].port for number in (0, 1, 0, 3)]
    assert (pids[0] == pids[2], len(set(pids))) == (True, 3)
    companions.stop_builds()
    assert not any(connects(port) for port in ports)
    with companions.around(each, fresh(tmp_path)) as entered:
        assert living(entered).port not in ports
    companions.stop_builds()


def test_a_service_per_build_gives_its_port_to_the_load_and_may_end_between_executions(
    companions: Companions, tmp_path: Path
) -> None:
    each = bench(server(per="build"), Load(command="echo {port} $PERFGATE_PORT > load-{seed}; sleep 60"))
    first, second = fresh(tmp_path), dataclasses.replace(fresh(tmp_path), seed=18)
    for context in (first, second):
        with companions.around(each, context):
            assert said(tmp_path / f"load-{context.seed}").split() == [str(first.port)] * 2
    companions.stop_builds()
    each = bench(Service(command="echo up; exec sleep 1", ready="log:up", per="build"))
    with companions.around(each, fresh(tmp_path)) as entered:
        assert complains(living(entered)) == "service ended while the benchmark ran: exit 0"
    with companions.around(each, fresh(tmp_path)) as entered:
        assert unusable(entered).status == "service ended before the benchmark: exit 0"
        assert "up" in unusable(entered).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="absent: Linux")
def test_processors_are_used(companions: Companions, context: Context) -> None:
    cpu = str(max(os.sched_getaffinity(0)))
    text = "import os, time; print(os.sched_getaffinity(0), flush=True); time.sleep(60)"
    script = [sys.executable, "-c", text]
    benchmark = bench(Service(command=script, ready="log:\n", cpus=cpu), Load(command=script, cpus=cpu))
    with companions.around(benchmark, context) as entered:
        until(lambda: living(entered).logs().count("\n") == 4)
        assert living(entered).logs() == f"--- service ---\n{{{cpu}}}\n--- load ---\n{{{cpu}}}\n"


# --- readiness --------------------------------------------------------------------------------------------------------


def probe(ready: str, log: Path = Path("nowhere")) -> Probe:
    return make_probe(ready, log)


def alive() -> str:
    return ""


@contextmanager
def listening(host: str = "127.0.0.1") -> Iterator[int]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip(f"absent: {host}")
        server.listen()
        yield server.getsockname()[1]


@contextmanager
def answering(status: int, **headers: str) -> Iterator[tuple[int, list[str]]]:
    """A server that answers all with one status; gives its port and the requests it saw."""
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.requestline)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port, seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_tcp() -> None:
    with listening() as port:
        for ready in (f"tcp:{port}", f"tcp:127.0.0.1:{port}", f"tcp:localhost:{port}"):
            assert probe(ready).ask(1) == ""
            assert probe(ready).taken().startswith(f"another process listens on port {port} of ")
    closed = probe(f"tcp:{free_port()}")
    assert closed.ask(1) == "connection refused"
    assert closed.taken() == ""
    with listening("::1") as port:
        assert probe(f"tcp:{port}").ask(1) == ""
        assert probe(f"tcp:[::1]:{port}").ask(1) == ""
        assert probe(f"tcp:127.0.0.1:{port}").ask(1) == "connection refused"


def test_a_connection_to_oneself_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # as happens by chance when the port is one of those for outgoing connections
    def to_itself(address: tuple[str, int], timeout: float) -> socket.socket:
        made = socket.socket()
        made.bind(("127.0.0.1", 0))
        made.connect(made.getsockname())
        return made

    monkeypatch.setattr(socket, "create_connection", to_itself)
    assert probe("tcp:50051").ask(1) == "connection refused"


def test_http() -> None:
    for status, answer in ((200, ""), (204, ""), (404, "answered with 404"), (503, "answered with 503")):
        with answering(status) as (port, seen):
            assert probe(f"http://127.0.0.1:{port}/health?full=1").ask(1) == answer
            assert seen == ["GET /health?full=1 HTTP/1.1"]
    assert probe(f"http://127.0.0.1:{free_port()}/").ask(1) == "connection refused"


def test_http_without_an_answer_or_with_a_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as port:
        assert probe(f"http://127.0.0.1:{port}/").ask(0.05) == "no answer"

    def talk(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.recv(1000)
            connection.sendall(b"SSH-2.0-whatever\r\n")

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        thread = threading.Thread(target=talk, args=(server,))
        thread.start()
        assert probe(f"http://127.0.0.1:{server.getsockname()[1]}/").ask(1) == "no HTTP answer (BadStatusLine)"
        thread.join()
    with answering(200) as (elsewhere, seen):
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{elsewhere}")
        with answering(302, Location=f"http://127.0.0.1:{elsewhere}/") as (port, _):
            assert probe(f"http://127.0.0.1:{port}").ask(1) == ""
        assert seen == []


def test_a_text_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asked = probe("log:listening: on .*", log)
    whole = "starting\nlistening: on .*\nmore"
    for length in (12, 23, len(whole)):
        log.write_text(whole[:length])
        assert asked.ask(1) == ("" if length == len(whole) else "its output does not contain that text")
    # cut meanwhile
    log.write_text("listening: on .*")
    assert asked.ask(1) == ""


@pytest.mark.parametrize("ready", ["tcp:", "tcp:x", "tcp:localhost", "tcp:1:70000", "tcp:0", "http://", "http://x:y/"])
def test_what_cannot_be_meant(ready: str) -> None:
    with pytest.raises(NotStartedError, match=r"^service: ready = "):
        probe(ready)


def test_waiting_ends_with_the_answer_with_the_service_or_with_the_limit() -> None:
    def late() -> Probe:
        answers = iter(["not yet"] * 3)
        return Probe(lambda _: next(answers, ""))

    assert wait_until_ready(late(), "log:x", alive, 30, Budget()) == ""
    assert (
        wait_until_ready(late(), "log:x", lambda: "exit 1", 30, Budget()) == "service ended before it was ready: exit 1"
    )
    assert wait_until_ready(late(), "log:x", alive, 0.01, Budget()) == "service not ready after 0.01s (log:x): not yet"
    # an answer of somebody else is none of ours
    with listening() as port:
        said = wait_until_ready(probe(f"tcp:{port}"), f"tcp:{port}", lambda: "exit 98", 30, Budget())
    assert said == "service ended before it was ready: exit 98"


def test_ports_have_five_digits_are_free_and_differ() -> None:
    given = [free_port() for _ in range(200)]
    assert len(set(given)) == 200
    assert all(10000 <= port < 32768 for port in given)
    for port in given[:20]:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_a_port_that_is_taken_or_was_given_is_not_given(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with socket.socket() as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"absent: {address}")
        taken = server.getsockname()[1] - 10000
        draws = chain([taken, taken, 5, 5, 6], repeat(taken))
        monkeypatch.setattr("harness.service.service.secrets.randbelow", lambda below: next(draws))
        monkeypatch.setattr("harness.service.service._given", deque(maxlen=500))
        assert [free_port(), free_port()] == [10005, 10006]
        with pytest.raises(OSError, match="no free port between 10000 and "):
            free_port()
