import http.server
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path

import pytest

from harness.process.budget import Budget
from harness.service.service import Probe, ReadyError, free_port, make_probe, wait_until_ready


def no_command(script: str, seconds: float) -> str:
    raise AssertionError


def probe(ready: str, log: Path = Path("nowhere"), run: Callable[[str, float], str] = no_command) -> Probe:
    return make_probe(ready, log, run)


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


def test_a_text_in_the_log_and_a_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asked = probe("log:listening: on .*", log)
    whole = "starting\nlistening: on .*\nmore"
    for length in (12, 23, len(whole)):
        log.write_text(whole[:length])
        assert asked.ask(1) == ("" if length == len(whole) else "its output does not contain that text")
    # cut meanwhile
    log.write_text("listening: on .*")
    assert asked.ask(1) == ""

    def run(script: str, seconds: float) -> str:
        return {"test -e a:b": "", "false": "exit 1"}[script]

    assert probe("command:test -e a:b", run=run).ask(1) == ""
    assert probe("command:false", run=run).ask(1) == "exit 1"


@pytest.mark.parametrize("ready", ["tcp:", "tcp:x", "tcp:localhost", "tcp:1:70000", "tcp:0", "http://", "http://x:y/"])
def test_what_cannot_be_meant(ready: str) -> None:
    with pytest.raises(ReadyError, match=r"^ready = "):
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
    assert all(len(str(port)) == 5 for port in given)
    first = (
        int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        if Path("/proc/sys").exists()
        else 32768
    )
    if first > 11000:
        assert max(given) < first
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
