"""`make study`: measures and analyses the scheduler-latency example, and writes its report into docs/.

`--out DIR` writes it elsewhere. `--replicates N` and `--work SHARE` (of each background load) set how much it measures.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from make_repo import EXAMPLES, make_repository

DOCS = EXAMPLES.parent / "docs" / "scheduler-latency"
LOADS = ("900", "1200")
FIFO = 'fifo = { prefix = ["chrt", "--fifo", "10"] }'
BATCH = 'batch = { prefix = ["chrt", "--batch", "0"] }'


def main() -> int:
    """Return the exit code of the study."""
    parser = argparse.ArgumentParser(description="Measures and analyses the scheduler-latency example.")
    parser.add_argument("--out", type=Path, default=DOCS, help="default: docs/scheduler-latency")
    parser.add_argument("--replicates", type=int, default=30)
    parser.add_argument("--work", type=float, default=1.0)
    arguments = parser.parse_args()
    lacking = [tool for tool in ("make", os.environ.get("CC", "cc"), "chrt") if not shutil.which(tool)]
    if lacking:
        print(f"this example needs {' and '.join(lacking)}")
        return 2
    with tempfile.TemporaryDirectory(prefix="perfgate-study-") as scratch:
        repository = Path(scratch) / "scheduler-latency"
        make_repository("scheduler-latency", repository)
        permit(repository)
        shorten(repository, arguments.work)
        # named from the repository, so that no path of this machine is in the report
        out = repository / "out"
        command = ["study", "--out", out.name, "--set", f"study.replicates={arguments.replicates}"]
        code = subprocess.run([sys.executable, "-I", "-m", "gate", *command], cwd=repository, check=False).returncode
        arguments.out.mkdir(parents=True, exist_ok=True)
        if (out / "study.html").exists():
            shutil.copyfile(out / "study.html", arguments.out / "study.html")
    print(f"the report: {arguments.out / 'study.html'}")
    return code


def permit(repository: Path) -> None:
    """Compare the batch policy, which everybody may use, if real-time scheduling is not permitted."""
    if subprocess.run(["chrt", "--fifo", "10", "true"], check=False, capture_output=True).returncode:
        print("real-time scheduling is not permitted here: the policies are other and batch")
        file = repository / "perfgate.toml"
        file.write_text(file.read_text(encoding="utf-8").replace(FIFO, BATCH), encoding="utf-8")


def shorten(repository: Path, share: float) -> None:
    """Give the background loads a share of their work."""
    file = repository / "perfgate.toml"
    text = file.read_text(encoding="utf-8")
    for load in LOADS:
        text = text.replace(f'"{load}"', f'"{max(1, round(int(load) * share))}"')
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
