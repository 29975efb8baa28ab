"""Which file names say that a script is a benchmark."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NAMED = re.compile(
    r"(run[-_])?(bench|benches|benchmarks?|benchsuite|perf)([-_]?(all|main|run|suite)|[-_].*)?|.*[-_](bench|benchmarks?)"
)
_FOLDERS = {"bench", "benches", "benchmark", "benchmarks", "benchsuite", "perf", "performance"}
_RUNNERS = {"run", "main", "__main__", "run_all", "runner", "run_benchmarks"}
_ASIDE = {
    "vendor",
    "third_party",
    "node_modules",
    "docs",
    "doc",
    "src",
    "lib",
    "site-packages",
    ".github",
    "ci",
    "fuzz",
    "contrib",
    "tools",
    "scripts",
}
_DEEPEST = 4


def is_benchmark(path: str) -> bool:
    """Return whether a script's name says that it runs benchmarks.

    In a folder of benchmarks any script may be a helper, so its own name must say so as well, or that it runs them.
    """
    place = PurePosixPath(path)
    folders = place.parts[:-1]
    if len(place.parts) > _DEEPEST or _ASIDE & set(folders):
        return False
    name = place.stem.lower()
    return bool(_NAMED.fullmatch(name)) or (name in _RUNNERS and bool(folders) and folders[-1].lower() in _FOLDERS)
