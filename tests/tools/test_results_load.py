"""Load tests that the real tools make here against a server of this process, read back, and against what they say."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import pytest

from tests.support import tools
from tests.support.foreign import of, told
from tests.support.tools import need, read_as

pytestmark = pytest.mark.tools
SCRIPT = """
import http from "k6/http";
export const options = { vus: 2, iterations: 10 };
export default function () { http.get(__ENV.URL, { tags: { name: "flaky" } }); }
"""


class Flaky(BaseHTTPRequestHandler):
    """Fails each fifth request."""

    protocol_version = "HTTP/1.1"
    asked = count()

    def do_GET(self) -> None:
        time.sleep(0.002)
        body = b"hello\n"
        self.send_response(503 if next(self.asked) % 5 == 4 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Flaky.asked = count()
    with ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/flaky"
        server.shutdown()
        thread.join()


def run(*command: str, said: bytes = b"", **environment: str) -> bytes:
    need(command[0])
    return tools.run(*command, said=said, env=environment)


def test_k6(url: str, tmp_path: Path) -> None:
    script, points = tmp_path / "script.js", tmp_path / "points.json.gz"
    script.write_text(SCRIPT)
    run("k6", "run", "-q", "--out", f"json={points}", str(script), URL=url)
    reading = read_as("k6", points.read_bytes())
    times = of(reading, "GET flaky", "time")
    assert (len(times), of(reading, "GET flaky", "error_rate")) == (8, [0.2])


def test_wrk(url: str) -> None:
    reading = read_as("wrk", run("wrk", "-t1", "-c2", "-d1", "--latency", url))
    assert told(reading, "/flaky", "error_rate")["value"] == pytest.approx(0.2, abs=0.1)
    assert told(reading, "/flaky")["p50"] > 0.002
