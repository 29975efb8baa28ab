"""Scripts that are benchmarks, by their names, and whether they write their own times."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gate.commands.init.detect.result import Amount, Measured

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
_OWN_TIMES = ["It writes its own times to the file that PERFGATE_OUTPUT names (docs/values.md)."]
_LINES = {
    "python": [
        '  if "PERFGATE_OUTPUT" in os.environ:',
        '      with open(os.environ["PERFGATE_OUTPUT"], "a") as file:',
        '          print(json.dumps({"metric": name, "value": seconds, "unit": "s"}), file=file)',
    ],
    "node": [
        "  if (process.env.PERFGATE_OUTPUT)",
        '    require("node:fs").appendFileSync(process.env.PERFGATE_OUTPUT,',
        '      JSON.stringify({ metric: name, value: seconds, unit: "s" }) + "\\n");',
    ],
    "sh": ["""  echo '{"metric": "NAME", "value": 1.5, "unit": "s"}' >>"${PERFGATE_OUTPUT:-/dev/null}\""""],
}
"""What a script of a language writes for each value."""


def whole(language: str, lead: str = "The whole run, start included.") -> list[str]:
    """Return what stands above a script that is timed as a whole."""
    return [
        f"{lead} If it takes longer than 5 s, choose a part of it by its arguments, or let it write",
        'its own times (docs/values.md), which says more, and write `instrument = "values"` in place of `warmup`:',
        *_LINES.get(language, _LINES["sh"]),
    ]


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


def writes_values(text: str) -> bool:
    """Return whether a script writes its own times for perfgate."""
    return "PERFGATE_OUTPUT" in text


def measured(name: str, command: list[str] | str, text: str, comment: list[str]) -> Measured:
    """Return the benchmark that a script is: its own times where it writes them, else the time of its whole run.

    Args:
        comment: what stands above one that is timed as a whole.
    """
    if writes_values(text):
        return Measured(name, command, _OWN_TIMES, instrument="values")
    return Measured(name, command, comment, slow=True)


def amount(text: str, warmup: int) -> Amount | None:
    """Return the counts for a script that writes its own times, None for another one.

    Args:
        warmup: the values to drop, if the script knows of warm-up.
    """
    if not writes_values(text):
        return None
    return Amount(2, 10, warmup if "PERFGATE_WARMUP" in text else 0)
