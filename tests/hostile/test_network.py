"""A benchmark reaches for a server of the machine: it has a network of its own, whoever runs perfgate."""

from __future__ import annotations

import os
import socket

import pytest

from harness.sandbox.sandbox import examined
from tests.hostile.conftest import PLAN, Stage

PROGRAM = """\
import socket, sys
with socket.socket() as own, socket.socket() as client:
    own.bind(("127.0.0.1", 0))
    own.listen()
    client.connect(own.getsockname())  # its own loopback works
for family, address in ((socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_UNIX, "\\0NAME"), (socket.AF_INET, ("192.0.2.1", 9))):
    with socket.socket(family) as one:
        one.settimeout(2)
        try:
            one.connect(address)
        except TimeoutError:
            print("REACHED the network", file=sys.stderr)
        except OSError:
            continue
        print("REACHED", address, file=sys.stderr)
    sys.exit(3)
if len(sys.argv) > 1:
    open(sys.argv[1], "w").write("1\\n2\\n")
# DIFFERS
"""
WAYS = {
    "spawn": 'instrument = "spawn"\ncommand = "python3 -IS n.py"',
    "hyperfine": 'instrument = "hyperfine"\ncommand = "python3 -IS n.py"',
    "values": 'instrument = "values"\ncommand = "python3 -IS n.py {output}"',
    "duet": 'command = "python3 -IS n.py"',
}


@pytest.mark.skipif(examined("auto").network == "on", reason="this system has no network namespaces for this user")
@pytest.mark.parametrize("way", WAYS)
def test_is_not_reached(stage: Stage, way: str) -> None:
    name = f"perfgate-{os.getpid()}-{way}"
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as other:
        server.bind(("127.0.0.1", 0))
        server.listen()
        other.bind(f"\0{name}")
        other.listen()
        program = PROGRAM.replace("PORT", str(server.getsockname()[1])).replace("NAME", name)
        plan = PLAN + ('pairing = "duet"\n' if way == "duet" else "")
        config = f'[gate]\nthreshold = "500%"\n{plan}[[benchmark]]\nname = "b"\n{WAYS[way]}\n'
        stage.commit(config, {"n.py": program}, {"n.py": f"{program}# head\n"})
        stage.check()
    assert "REACHED" not in stage.shown, stage.shown
    assert stage.code == 0, stage.shown
    assert stage.report["run"]["sandbox"]["network"] == "off"
