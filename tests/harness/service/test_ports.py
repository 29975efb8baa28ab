import socket
from collections import deque
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


def test_a_port_that_is_taken_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        taken = server.getsockname()[1]
        draws = iter([taken - 10000, taken - 10000, 5, 5, 6])
        monkeypatch.setattr("harness.service.service.secrets.randbelow", lambda below: next(draws))
        monkeypatch.setattr("harness.service.service._given", deque(maxlen=500))
        monkeypatch.setattr("harness.service.service._is_free", lambda port: port != 10006 and IS_FREE(port))
        found = ports.free_port()
        assert found == 10005
    draws = iter([5] * 10 + [7])
    assert ports.free_port() == 10007


IS_FREE = ports._is_free


def test_without_any_free_port_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.service.service._is_free", lambda port: False)
    with pytest.raises(OSError, match="no free port between 10000 and "):
        ports.free_port()


def test_one_taken_on_another_address_is_not_free() -> None:
    with socket.socket() as server:
        try:
            server.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("absent: a second loopback address")
        assert not IS_FREE(server.getsockname()[1])
