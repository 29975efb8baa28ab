"""Scripts that keep the failure of a command, as bash would, scripts that lose it, and scripts that are too much."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate.commands.drill.shell import keeps

LOST = [
    "gate || true", "gate || /bin/true", "gate || :", "gate || exit 0", "gate || echo failed", "gate ||\n  true", "! gate",
    "gate \\\n  --json a \\\n  || true", "set +e\ngate\necho done", "cd .; set +e; gate; echo done", "gate || true # exit 1",
    "set +o errexit\ngate\necho done", "set -e\nset +e -u\ngate\nother", "for i in 1; do gate || true; done",
    "case x in\n  *) gate || true;;\nesac",
]  # fmt: skip
PIPED = [
    "gate | other",
    "gate 2>&1 | other",
    "gate |& other",
    "gate |\n  other",
    "gate \\\n  --x | other",
    "gate &>x | other",
]
KEPT = [
    "gate", "gate --json out\necho done", "rm x || true\ngate", "set +e\nother\nset -e\ngate", "gate || exit 1", "gate 2>&1 >log",
    "set -o pipefail\ngate | other", "set -euo pipefail\ngate |& other", "gate > log\nother log | head -3", "(cd .)\ngate",
    "gate --benchmark 'work|x*' || exit 1\necho", "# gate || true would be wrong\ngate", "gate \\\n  --json out", "gate || exit $?",
    "other | head -3\ngate", "gate\nrm -f x || true", "echo 'gate || true'\ngate", "cat > x <<END\ngate || true\nEND\ngate",
    "trap 'other' EXIT\ngate", "gate; other", 'echo "a ${x:-b} # c"\ngate # || true', "x=1 gate", "other && gate", "gate\nexit 0",
    "if test -f none; then other; fi\ngate", "case x in\n  y) other;;\nesac\ngate", "x=$(other)\ngate", "set +e\ngate", "gate; exit 3",
    "other | while read x; do other; done\ngate", "test -f x || if true; then other; fi\ngate", "gate\ncat x | { other; }",
    "rc=0\ngate || rc=$?\nexit $rc", "set +e\ngate\nrc=$?\nset -e\nexit $rc", "gate || rc=$?\necho rc=$rc > x\nexit \"${rc:-0}\"",
    "gate || rc=$?\ngate --other || rc=$?\nexit $rc", "rc=0\nfor i in 1 2; do gate || rc=$?; done\nexit $rc", "set +e\ngate\nexit $?",
    "set +e\ngate\nif [ $? -ne 0 ]; then\n  exit 1\nfi", "set +e\ngate\nrc=$?\nif [[ \"$rc\" != 0 ]]; then echo bad; exit $rc; fi\nother",
    "gate || { echo bad; exit 1; }", "gate || {\n  rc=$?\n  echo bad\n  exit $rc\n}\nother", "gate || { exit $?; }", "gate && other && other",
    "if ! gate; then echo bad; exit 1; fi\nother", "if ! gate\nthen\n  exit 1\nfi", "if gate; then echo ok; else echo bad; exit 1; fi",
    "if gate; then exit 0; fi\nexit 1", "if gate; then other; else exit $?; fi", "gate | other\nexit ${PIPESTATUS[0]}", "(cd . && gate)",
    "if test -f x; then gate --one; else gate; fi\nother", "{ gate; other; }", "for i in 1 2; do gate; done", "case x in x) gate;; esac",
    "if test -f x; then gate || { echo bad; exit 1; }; fi", "gate || { if test -f none; then exit 2; fi; exit 1; }",
]  # fmt: skip
NOT_UNDERSTOOD = [
    # each loses it
    "gate || { echo failed; }", "gate || (echo failed)", "gate || rc=$?\necho $rc", "gate || other", "gate &\nother", "gate & wait",
    "if gate; then echo ok; fi", "if gate; then echo ok; else echo bad; fi", "gate && echo ok\necho done", "echo $(gate now)",
    "export R=$(gate now)", 'echo "$(gate now)"', "echo `gate now`", "trap 'exit 0' EXIT\ngate", "trap 'exit 0' ERR\ngate",
    "while ! gate; do break; done", "until gate; do exit 0; done", "g() {\n  gate\n}\ng || true", "bash -c 'gate || true'",
    "(cd . && gate) || true", "other < <(gate)", "(gate; true) || true", "exit 0\ngate",
    "eval 'gate || true'", "timeout 9 sh -c 'gate; other'", "true || gate",
    "if true; then set +e; fi\ngate\nother", "gate && true || true", "gate ||", "gate || exit 1 | other",
    "set -o pipefail; gate | while read x; do other; done || true", "gate > >(other) || true", "if true; then exit 0; fi\ngate",
    "if ! gate; then exit $?; fi", "gate || { other; exit $?; }", "gate || rc=$?\nrc=0\nexit $rc", "gate || rc=$?\nunset rc\nexit $rc",
    "if ! gate; then other; else exit 1; fi", "if ! gate; then other; fi\nif true; then other; else exit 1; fi", "gate || exec true\nexit 1",
    "if gate; then other; elif true; then other; else exit 1; fi", "set +e\ngate | other\nrc=$?\nexit $rc", "gate && echo ok || echo bad",
    "if true; then gate; fi || true", "if true; then gate; fi | { other; }", "if true; then gate; fi & wait", "{ gate; } || { other; }",
    "set +e\n(gate || exit 1)\nother", "if ! gate; then if true; then exit 0; fi; exit 1; fi", "set +e\ngate\nif [ $? -ne 0 ]; then exit $?; fi",
    "g() { gate || exit 1; }\nother", "gate || { echo bad | other && exit 0; exit 1; }", "other || if true; then gate; fi",
    # these keep it, which takes more than is known here
    "gate & p=$!\nwait $p", "out=$(gate now)\nother", "g() {\n  gate\n}\ng", "for i in 1; do gate && break; done", "gate || { other; false; }",
    # and these are no scripts, or run no gate
    "other", "set", "trap", "exit", "echo '", "if gate; then", "gate $(", "fi", "function", "gate\n)", "",
]  # fmt: skip


def told(script: str, *, stops: bool = True, pipefail: bool = False) -> bool:
    def decides(words: Sequence[str]) -> bool:
        return "gate" in words and words[0] != "echo"

    return keeps(script, decides, stops=stops, pipefail=pipefail)


@pytest.mark.parametrize("script", [*LOST, *PIPED, *KEPT, *NOT_UNDERSTOOD])
def test_what_becomes_of_a_failure(script: str) -> None:
    assert told(script) == (script in KEPT)


def test_how_the_shell_was_started() -> None:
    assert all(told(script, pipefail=True) for script in PIPED)
    assert not told("set +o pipefail\ngate | other", pipefail=True)
    assert not told("gate\nother", stops=False)
    assert told("other\ngate\n", stops=False)
    # each of several counts
    assert not told("gate --one\ngate --other || true")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("script", [*LOST, *PIPED, *KEPT])
def test_bash_says_the_same(script: str, tmp_path: Path) -> None:
    """Every other command exits with 0 here, as it is taken to."""
    (tmp_path / "other").write_text("#!/bin/sh\n:\n")
    (tmp_path / "gate").write_text("#!/bin/sh\nexit 1\n")
    for each in tmp_path.iterdir():
        each.chmod(0o755)
    (tmp_path / "x").touch()
    ended = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert (ended.returncode == 0) == (script not in KEPT)
