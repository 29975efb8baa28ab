"""Scripts that lose the failure of a command, and scripts that keep it, as bash and sh would."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate.commands.drill.shell import loses

LOSES = [
    "gate || true", "gate || /bin/true", "gate || :", "gate || exit 0", "gate || echo failed", "gate || { echo failed; }",
    "gate || (echo failed)", "gate ||\n  true", "gate \\\n  --json a \\\n  || true", "gate || rc=$?\necho $rc", "gate || other",
    "set +e\ngate\necho done", "cd .; set +e; gate; echo done", "set +o errexit\ngate\necho done", "gate &\nother", "gate & wait",
    "if gate; then echo ok; fi", "if gate; then echo ok; else echo bad; fi", "! gate", "gate && echo ok\necho done",
    "echo $(gate)", "export R=$(gate)", 'echo "$(gate)"', "echo `gate`", "trap 'exit 0' EXIT\ngate", "trap 'exit 0' ERR\ngate",
    "while ! gate; do break; done", "until gate; do exit 0; done", "g() {\n  gate\n}\ng || true", "bash -c 'gate || true'",
    "(cd . && gate) || true", "gate | other", "gate 2>&1 | other", "gate |& other", "gate |\n  other", "gate \\\n  --x | other",
    "other < <(gate)", "(gate; true) || true", "case x in\n  *) gate || true;;\nesac", "true && gate || false || true",
    "gate || true # exit 1", "for i in 1; do gate || true; done", "eval 'gate || true'", "timeout 9 sh -c 'gate; other'",
]  # fmt: skip
KEEPS = [
    "gate", "gate --json out\necho done", "rm x || true\ngate", "set +e\nother\nset -e\ngate", "rc=0\ngate || rc=$?\nexit $rc",
    "gate || exit 1", "gate || { echo bad; exit 1; }", "if ! gate; then echo bad; exit 1; fi", "set -o pipefail\ngate | other",
    "set -euo pipefail\ngate |& other", "gate > log\nother log | head -3", "gate --benchmark 'work|x*' || exit 1\necho",
    "# gate || true would be wrong\ngate", "gate \\\n  --json out", "other | head -3\ngate", "gate\nrm -f x || true",
    "g() {\n  gate\n}\ng", "rc=0\ngate || rc=$?\ncase $rc in\n  0) echo ok;;\n  *) exit $rc;;\nesac", "gate 2>&1 >log",
    "if gate; then echo ok; else echo bad; exit 1; fi", "out=$(gate)\necho \"$out\"", "bash -c 'gate'", "gate & p=$!\nwait $p",
    "set +e\ngate\nrc=$?\nset -e\nif [ $rc -eq 0 ]; then echo ok; else exit 1; fi", "echo 'gate || true'\ngate",
    "cat > x <<END\ngate || true\nEND\ngate", "(cd . && gate)", "trap 'other' EXIT\ngate", "gate; other", "{ gate; other; }",
    'echo "a ${x:-b} # c"\ngate # || true', "for i in 1 2; do gate; done", "test -f x && gate || exit 3", "x=1 gate", "eval gate", "timeout 9 sh -c 'other; gate'", "(gate; exit 0)",
]  # fmt: skip


def is_gate(words: Sequence[str]) -> bool:
    return words[0] == "gate"


def told(script: str, **shell: bool) -> bool:
    return loses(script, is_gate, **({"stops": True, "pipefail": False} | shell))


@pytest.mark.parametrize("script", LOSES)
def test_a_failure_is_lost(script: str) -> None:
    assert told(script)


@pytest.mark.parametrize("script", KEEPS)
def test_a_failure_is_kept(script: str) -> None:
    assert not told(script)


def test_how_the_shell_was_started() -> None:
    assert not told("gate | other", pipefail=True)
    assert told("gate\nother", stops=False)
    assert not told("other\ngate", stops=False)


@pytest.mark.parametrize(
    "script", ["other", "set", "trap", "export", "echo '", "if gate; then", "gate $(", "fi", "function"]
)
def test_nothing_is_said_of_what_is_not_understood(script: str) -> None:
    assert not told(script)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("script", [*LOSES, *KEEPS])
def test_bash_says_the_same(script: str, tmp_path: Path) -> None:
    """Every other command exits with 0 here, as the model takes it to."""
    (tmp_path / "other").write_text("#!/bin/sh\n:\n")
    (tmp_path / "gate").write_text("#!/bin/sh\nexit 1\n")
    for each in tmp_path.iterdir():
        each.chmod(0o755)
    (tmp_path / "x").touch()
    ended = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert (ended.returncode == 0) == (script in LOSES)
