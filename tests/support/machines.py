"""Machines as trees of files, from the texts in tests/data/hosts."""

import re
from collections.abc import Mapping
from pathlib import Path

from harness.host.fitness.counters import MachineFiles, Window, moment

HOSTS = Path(__file__).parent.parent / "data" / "hosts"
QUIET = {
    "proc/loadavg": "0.10 0.05 0.01 1/100 200",
    "proc/pressure/cpu": "some avg10=0.20 avg60=0.10 avg300=0.10 total=6480742789",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0",
    "proc/pressure/io": "some avg10=0.10 avg60=0.10 avg300=0.10 total=135261363",
}
"""What was busy when cloud-vm was captured."""


def write(root: Path, files: Mapping[str, str | None]) -> None:
    """Write files below a folder; None removes one."""
    for name, text in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        elif text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")


def machine(root: Path, name: str, **changes: Mapping[str, str | None]) -> MachineFiles:
    """Write out a machine; changes: files=, laid over its own."""
    text = (HOSTS / f"{name}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)[1:]
    write(root, dict(zip(parts[::2], (part.rstrip("\n") for part in parts[1::2]), strict=True)))
    for files in changes.values():
        write(root, files)
    return MachineFiles(root)


def ticks(*, busy: int = 0, idle: int = 0, steal: int = 0, own: int = 0, processors: int = 2) -> dict[str, str]:
    """Make proc/stat and the line of this process, 7, after so many ticks of each kind."""
    cpus = "".join(f"cpu{number} 0 0 0 0 0 0 0 0 0 0\n" for number in range(processors))
    own_line = process(7, own)
    return {
        "proc/stat": f"cpu  {1000 + busy} 0 0 {9000 + idle} 0 0 0 {1 + steal} 0 0\n{cpus}",
        "proc/self/stat": own_line,
        "proc/7/stat": own_line,
    }


def process(pid: int, taken: int, name: str = "python3", started: int = 500) -> str:
    """Make a line of /proc/PID/stat."""
    fields = ["S", *["0"] * 10, str(taken), "0", *["0"] * 6, str(started), *["0"] * 10]
    return f"{pid} ({name}) {' '.join(fields)}"


def window(tree: MachineFiles, **later: Mapping[str, str | None]) -> Window:
    """Watch a machine while files change."""
    begin = moment(tree)
    for files in later.values():
        write(tree.root, files)
    return begin, moment(tree)
