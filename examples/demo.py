"""`make demo`: gates a regression and a harmless change of an example, and prints each step."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from make_repo import EXAMPLES, make_repository

REPORTS = EXAMPLES.parent / ".demo"
# Verdict and exit code. On a busy machine a harmless change may be inconclusive; it still passes.
EXPECTED = {
    "regression": {("regression", 1)},
    "no-change": {("pass", 0), ("inconclusive", 0)},
}


def pick_example() -> str:
    """Choose the C project if it can be built, otherwise the Python one."""
    compiler = os.environ.get("CC", "").split() or ["cc"]
    missing = [tool for tool in ("make", compiler[0]) if not shutil.which(tool)]
    why = f"{' and '.join(missing)} not found on PATH" if missing else None
    if why is None and not links(compiler):
        why = f"{compiler[0]} cannot build a C program (Debian, Ubuntu: apt-get install gcc libc6-dev)"
    if why is not None:
        print(f"{why}: taking the Python example instead of the one in C.")
    return "tokenizer" if why is None else "textstats"


def links(compiler: list[str]) -> bool:
    """Return whether a compiler makes a program, for which it needs the headers of the C library and a linker."""
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "program.c"
        program.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n', encoding="utf-8")
        command = [*compiler, "-o", str(program.with_suffix("")), str(program)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def gate(repository: Path, head: str) -> bool:
    """Check one branch against base, and return whether verdict and exit code are the expected ones."""
    command = ["perfgate", "check", "--head", head]
    reports = REPORTS / head
    print(f"\n$ {' '.join(command)}", flush=True)
    start = time.monotonic()
    # Use this environment's python3: a launcher that comes first on PATH may take longer than the benchmark.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    code = subprocess.run(
        [sys.executable, "-I", "-m", "gate", *command[1:], "--out", str(reports)],
        cwd=repository,
        env=os.environ | {"PATH": path},
        check=False,
    ).returncode
    seconds = time.monotonic() - start
    try:
        verdict = json.loads((reports / "report.json").read_text(encoding="utf-8"))["verdict"]
    except FileNotFoundError:
        verdict = "no report"
    right = (verdict, code) in EXPECTED[head]
    print(f"\n{head}: {verdict} (exit {code}), {'as' if right else 'not as'} expected, after {seconds:.0f} s")
    if right and verdict == "inconclusive":
        print("That is fine: inconclusive passes by default. More builds would help on this noisy host.")
    print(f"reports: {reports.relative_to(EXAMPLES.parent)}/ (open report.html)")
    return right


def main() -> int:
    """Set up, gate both branches, and return the exit code: 0 when both verdicts are right."""
    example = pick_example()
    shutil.rmtree(REPORTS, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="perfgate-demo-") as scratch:
        repository = Path(scratch) / example
        print(f"Making a git repository of examples/{example}, with a regression and a harmless change as branches.")
        make_repository(example, repository)
        right = [gate(repository, head) for head in EXPECTED]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
