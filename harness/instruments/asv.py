"""The tool asv: a suite's time_* benchmarks, by asv's own runner in one process, `python -m perfgate_asv FOLDER`."""

from collections.abc import Sequence
from pathlib import Path

from gate.config.instruments import Traits
from gate.formats import pytest_benchmark
from gate.formats.parts.output import Suite
from harness.instruments.declaration import Declared, FoundInstrument
from harness.instruments.protocol import at_least
from harness.instruments.suite import Call, SuiteInstrument, with_modules
from harness.process.execute import ProcessEnd

_RUNNER = Path(__file__).with_name("asv_suite.py")


class Asv(SuiteInstrument):
    """Gives the interpreter the module perfgate_asv, which writes samples as pytest-benchmark writes rounds."""

    tool = pytest_benchmark
    nothing = "perfgate_asv wrote nothing: the folder has no time_* benchmark, or --bench names none"

    def options(self, call: Call) -> tuple[str, ...]:
        """Return how many samples are wanted, and where they go."""
        return (f"--samples={call.values}", f"--output={call.output}")

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the pattern for what globs name; none where the command has its own."""
        return () if any(word.split("=")[0] == "--bench" for word in call.words) else (f"--bench=^{at_least(globs)}$",)

    def environment(self, call: Call) -> dict[str, str]:
        """Put the module where the interpreter finds it."""
        return with_modules(call.output.parent, call.variables, (_RUNNER, "perfgate_asv"))

    def rest(self, call: Call) -> Suite:
        """Read what did not fail: what failed has no samples, and standard error says why.

        Raises: OutputError: as of `read`.
        """
        return self.read(call)

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Say what the interpreter lacks."""
        lacking = "No module named 'asv_runner'" in said
        return f"{outcome.status}: asv_runner is not installed beside it" if lacking else outcome.status


INSTRUMENT = Declared(lambda _: FoundInstrument(Asv()), traits=Traits(suite=True, own_clock=True))
