import socket
from collections import deque
from itertools import chain, repeat
from pathlib import Path

import pytest

from harness.service import service as ports


def test_ports_have_five_digits_are_free_and_differ() -> None:
    given = [ports.free_port() for _ in range(200)]
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
        assert [ports.free_port(), ports.free_port()] == [10005, 10006]
        with pytest.raises(OSError, match="no free port between 10000 and "):
            ports.free_port()
