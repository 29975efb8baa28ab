"""A build or benchmark reaches for a server of the machine, or for what others keep in /tmp: whoever runs perfgate."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from harness.sandbox.sandbox import examined
from tests.hostile.conftest import PLAN, Stage

PROGRAM = """\
import socket, sys
with socket.socket() as own, socket.socket() as client:
    own.bind(("127.0.0.1", 0))
    own.listen()
    client.connect(own.getsockname())  # its own loopback works
FAMILIES = [(socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_UNIX, "\\0NAME"), (socket.AF_INET, ("192.0.2.1", 9))]
if sys.argv[1:] == ["build"]:
    FAMILIES = []  # builds have the network
for each in FILES:
    FAMILIES.append((socket.AF_UNIX, each))
    try:
        print("REACHED", open(each).read(), file=sys.stderr)
    except OSError:
        continue
for family, address in FAMILIES:
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
if len(sys.argv) > 1 and sys.argv[1] != "build":
    open(sys.argv[1], "w").write("1\\n2\\n")
# DIFFERS
"""
WAYS = {
    "spawn": 'instrument = "spawn"\ncommand = "python3 -IS n.py"',
    "hyperfine": 'instrument = "hyperfine"\ncommand = "python3 -IS n.py"',
    "values": 'instrument = "values"\ncommand = "python3 -IS n.py {output}"',
}


@pytest.mark.skipif(examined("auto").network == "on", reason="this system has no network namespaces for this user")
@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.nightly] * (way == "hyperfine")) for way in WAYS])
def test_is_not_reached(stage: Stage, way: str) -> None:
    name = f"perfgate-{os.getpid()}-{way}"
    with (
        socket.socket() as server,
        socket.socket(socket.AF_UNIX) as other,
        socket.socket(socket.AF_UNIX) as docker,
        socket.socket(socket.AF_UNIX) as agent,
        tempfile.TemporaryDirectory(prefix="others-") as folder,
    ):
        server.bind(("127.0.0.1", 0))
        other.bind(f"\0{name}")
        files = [str(stage.root / "docker.sock"), f"{folder}/agent", f"{folder}/note"]
        docker.bind(files[0])
        agent.bind(files[1])
        Path(files[2]).write_text("a secret")
        for each in (folder, *files):
            Path(each).chmod(0o777)
        for listening in (server, other, docker, agent):
            listening.listen()
        program = PROGRAM.replace("PORT", str(server.getsockname()[1])).replace("NAME", name)
        # in the stage itself files are in sight: it lies where the project does
        program = program.replace("FILES", str(files if examined("auto").files == "own" else []))
        build = '[build]\ncommand = "python3 -IS n.py build"\n'
        config = f'[gate]\nthreshold = "500%"\n{PLAN}{build}[[benchmark]]\nname = "b"\n{WAYS[way]}\n'
        stage.commit(config, {"n.py": program}, {"n.py": f"{program}# head\n"})
        stage.check(seconds=240.0, DOCKER_HOST=f"unix://{files[0]}")
    assert "REACHED" not in stage.shown, stage.shown
    assert stage.code == 0, stage.shown
    assert stage.report["run"]["sandbox"]["network"] == "off"


NAMES = """\
[build]
command = "grep -r s[e]cret FOLDER ~/ >&2; exit 3"
write = ["FOLDER", "/tmp"]
[env]
set = {TOOLS = "FOLDER", HOME = "/tmp"}
"""


@pytest.mark.skipif(examined("auto").files != "own", reason="this system refuses namespaces")
def test_a_proposal_names_nothing_of_others(stage: Stage) -> None:
    """What commands name in /tmp stays in sight, and is copied if it is called a cache: but not what head names."""
    with tempfile.TemporaryDirectory(prefix="others-") as folder:
        Path(folder, "note").write_text("a secret")
        for each in (Path(folder), Path(folder, "note")):
            each.chmod(0o755)
        config = f'{PLAN}BUILD[[benchmark]]\nname = "b"\ncommand = "true"\n'
        named = config.replace("BUILD", NAMES.replace("FOLDER", folder))
        stage.commit(config.replace("BUILD", ""), {"x": "1"}, {"perfgate.toml": named})
        stage.check(CI="true", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request")
        assert "a secret" not in stage.shown
        assert "exit 3" in stage.shown, stage.shown
