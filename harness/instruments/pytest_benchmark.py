"""The tool pytest-benchmark: the tests of one pytest call that use its fixture, or have its mark."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from gate.formats import pytest_benchmark
from harness.instruments.declaration import built_in
from harness.instruments.suite import Call, SuiteInstrument, with_modules
from harness.process.execute import ProcessEnd

_MIN_TIME = "--benchmark-min-time"
# Seconds. By default a round takes 5 us and rounds fill a second: rounds that are counted must be longer themselves.
_ROUND = "0.01"
_PLUGIN, _MODULE = Path(__file__).parent / "pytest_marked.py", "perfgate_pytest"
_PACKAGE = {
    "METADATA": f"Metadata-Version: 2.1\nName: {_MODULE}\nVersion: 1\n",
    "entry_points.txt": f"[pytest11]\nperfgate = {_MODULE}\n",
}
_COUNTS = re.compile(r"\b(\d+) (failed|errors?)\b")


class PytestBenchmark(SuiteInstrument):
    """Runs the benchmarks of a pytest call, one value a round."""

    tool = pytest_benchmark
    nothing = (
        "pytest-benchmark wrote nothing: no test that ran uses its fixture, nor is a plain function with its mark, or "
        "the options that are added at the end of the command do not reach pytest"
    )

    def options(self, call: Call) -> tuple[str, ...]:
        """Return what makes pytest-benchmark do exactly the wanted rounds and write their times.

        Options of the project's pytest configuration that switch benchmarks off are overruled, and what it stores or
        compares goes to a directory of this execution.
        """
        own = any(word.split("=")[0] == _MIN_TIME for word in call.words)
        return (
            f"--benchmark-json={call.output}",
            "--benchmark-only",
            "--benchmark-enable",
            f"--benchmark-min-rounds={call.values}",
            # the most of: what fits into this time, and min-rounds
            "--benchmark-max-time=0",
            "--benchmark-warmup=off",
            # it is made in the directory of the project even if nothing is stored
            f"--benchmark-storage=file://{call.output.parent / 'storage'}",
            *(() if own else (f"{_MIN_TIME}={_ROUND}",)),
        )

    def environment(self, call: Call) -> dict[str, str]:
        """Have tests measured that are only marked; a failure is not cut, as pytest would at 80 columns.

        pytest loads what an installed package names, and misses nothing where a command has a PYTHONPATH of its own.
        """
        modules = with_modules(call.output.parent, call.variables, (_PLUGIN, _MODULE))
        package = Path(modules["PYTHONPATH"].split(os.pathsep)[0], f"{_MODULE}-1.dist-info")
        package.mkdir(exist_ok=True)
        package.chmod(0o755)
        for name, text in _PACKAGE.items():
            (package / name).write_text(text, encoding="utf-8")
            (package / name).chmod(0o644)
        return {"COLUMNS": "200", **modules}

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the expression for the functions that globs name; none where it cannot say that much."""
        names = [re.split(r"::|\[", glob.split("[")[0])[-1] for glob in globs]
        plain = all(re.fullmatch(r"test\w+", name) for name in names)
        return () if "-k" in call.words or not plain else ("-k", " or ".join(dict.fromkeys(names)))

    def found_none(self, outcome: ProcessEnd, said: str) -> bool:  # noqa: ARG002  # of the Protocol
        """Return whether pytest says that it collected no test."""
        return outcome.code == 5

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Say what pytest's exit code means (https://docs.pytest.org/en/stable/reference/exit-codes.html)."""
        if outcome.code == 5:
            return f"{outcome.status}: pytest collected no tests"
        if outcome.code == 4 and "unrecognized arguments: --benchmark-" in said:
            return (
                f"{outcome.status}: pytest does not know --benchmark-json; pytest-benchmark is not installed beside it"
            )
        if outcome.code == 4 and "--benchmark-only and --benchmark-disable" in said:
            return f"{outcome.status}: pytest-xdist, which switches benchmarks off, is on: add -n 0 to the command"
        if outcome.code in (1, 2):
            summaries = [found for line in said.splitlines() if (found := _COUNTS.findall(line))]
            counts = [f"{count} {what}" for count, what in summaries[-1]] if summaries else []
            return f"{outcome.status}: {' and '.join(counts)}" if counts else outcome.status
        return outcome.status


INSTRUMENT = built_in(PytestBenchmark())
