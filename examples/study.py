"""Measures and analyses an example, and writes its page into docs/: `python examples/study.py compressor`.

`make study` and `make latency` call it. For the compressor it also refreshes what docs/study.md shows of the study.

`--out DIR` writes into another folder, and leaves docs/study.md as it is. `--replicates N` and `--work SHARE` (of each
background load, or of each input to compress) set how much it measures.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from make_repo import EXAMPLES, make_repository

DOCS = EXAMPLES.parent / "docs"
WALK = DOCS / "study.md"
NEEDED = {
    "compressor": ("python3", "zstd"),
    "scheduler-latency": ("make", os.environ.get("CC", "cc"), "chrt"),
}
LOADS = ("900", "1200")
FIFO = 'fifo = { prefix = ["chrt", "--fifo", "10"] }'
BATCH = 'batch = { prefix = ["chrt", "--batch", "0"] }'


def main() -> int:
    """Return the exit code of the study."""
    parser = argparse.ArgumentParser(description="Measures and analyses an example of a study.")
    parser.add_argument("example", choices=sorted(NEEDED))
    parser.add_argument("--out", type=Path, help="default: the example's folder in docs/")
    parser.add_argument("--replicates", type=int)
    parser.add_argument("--work", type=float, default=1.0)
    arguments = parser.parse_args()
    lacking = [tool for tool in NEEDED[arguments.example] if not shutil.which(tool)]
    if lacking:
        print(f"this example needs {' and '.join(lacking)} on PATH: install it and run this again", file=sys.stderr)
        return 2
    target = arguments.out or DOCS / arguments.example
    with tempfile.TemporaryDirectory(prefix="perfgate-study-") as scratch:
        repository = Path(scratch) / arguments.example
        make_repository(arguments.example, repository)
        if arguments.example == "scheduler-latency":
            permit(repository)
            shorten(repository, arguments.work)
        elif arguments.work != 1:
            shrink(repository, arguments.work)
        counts = ["--set", f"study.replicates={arguments.replicates}"] if arguments.replicates else []
        # named from the repository, so that no path of this machine is in the report
        code = perfgate(repository, "--out", "out", "--quiet", *counts).returncode
        out = repository / "out"
        if (out / "study.html").exists():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out / "study.html", target / "study.html")
            print(f"the report: {target / 'study.html'}")
        if arguments.example == "compressor" and arguments.out is None and not code:
            told = perfgate(repository, "analyse", "out", "--quiet", capture=True).stdout
            times = told.split("\noutput: ", 1)[0]
            refresh(WALK, {"shows": fenced(times)})
    return code


def perfgate(repository: Path, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `perfgate study` of this checkout in a repository, as wide as the lines of a page."""
    return subprocess.run(
        [sys.executable, "-I", "-m", "gate", "study", *arguments],
        cwd=repository,
        env=os.environ | {"COLUMNS": "110", "NO_COLOR": "1"},
        check=False,
        text=True,
        stdout=subprocess.PIPE if capture else None,
    )


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


def shrink(repository: Path, share: float) -> None:
    """Give the inputs to compress a share of their sizes, which stay different."""
    sizes = (2, 8, 32)
    smaller = ", ".join(str(max(least, round(size * share))) for least, size in enumerate(sizes, 1))
    for name in ("perfgate.toml", "samples.py"):
        file = repository / name
        text = file.read_text(encoding="utf-8")
        whole = ", ".join(map(str, sizes))
        if whole not in text:
            raise ValueError(f"{name} has no sizes {whole}")
        file.write_text(text.replace(whole, smaller), encoding="utf-8")


def refresh(page: Path, blocks: dict[str, str]) -> None:
    """Write blocks between their marks on a page."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        marks = re.compile(rf"(<!-- from `make study`: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marks.subn(lambda match, block=block: f"{match[1]}{block}\n{match[2]}", text)
        if count != 1:
            raise ValueError(f"{page.name} has {count} blocks {name}")
    page.write_text(text, encoding="utf-8")


def fenced(text: str) -> str:
    """Return text as a block of a page."""
    return f"```text\n{text.strip()}\n```"


if __name__ == "__main__":
    sys.exit(main())
