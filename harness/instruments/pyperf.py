"""The tool pyperf: a script with a pyperf.Runner, or `python -m pyperf timeit`."""

from pathlib import Path

from gate.formats import pyperf
from gate.formats.parts.live import suite
from gate.formats.parts.output import EmptyError, OutputError, Suite
from harness.instruments.declaration import built_in
from harness.instruments.suite import Call, SuiteInstrument, with_modules
from harness.instruments.values import read_values
from harness.process.execute import ProcessEnd

_COMMAND = "after `pyperf command` options belong before the program: write them there, with --output {output}"
_CHOICE = Path(__file__).with_name("pyperf_choice.py")


class Pyperf(SuiteInstrument):
    """Runs the benchmarks of a pyperf program, each in one worker process, one value for each of its values."""

    def options(self, call: Call) -> tuple[str, ...]:
        """Return what makes each benchmark one worker with the wanted values.

        Without --loops pyperf starts one more worker before it, to find how many loops a value takes. Warm-up is left
        to perfgate, which records it. --copy-env: workers get no variable but PATH, HOME and the locale otherwise, and
        so neither PERFGATE_SEED nor what perturbs the layout.
        """
        return ("--processes=1", f"--values={call.values}", "--warmups=0", "--copy-env", f"--output={call.output}")

    def environment(self, call: Call) -> dict[str, str]:
        """Put in front of pyperf, which has no filter, what leaves out the names that are not wanted."""
        if "*" in call.include:
            return {}
        wanted = {"PERFGATE_INCLUDE": "\n".join(call.include)}
        return wanted | with_modules(call.output.parent, call.variables, (_CHOICE, "pyperf"))

    def read(self, call: Call) -> Suite:
        """Read the file of --output. Raises: OutputError: there is none, or it is not as expected."""
        data = read_values(call.output, call.limit)
        if data:
            return suite(pyperf, data)
        if "command" in call.words and any("pyperf" in word for word in call.words):
            raise OutputError(f"pyperf wrote nothing: {_COMMAND}")
        raise EmptyError(
            "pyperf wrote nothing: the program runs no benchmark, or the options that are added at the end of the "
            "command do not reach its Runner"
        )

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Say why options were refused."""
        if outcome.code == 2 and "unrecognized arguments: --" in said:
            return f"{outcome.status}: the program does not take pyperf's options, as one with a pyperf.Runner does"
        if "Command failed with exit code" in said:
            return f"{outcome.status}: the benchmarked command failed; {_COMMAND}"
        return outcome.status


INSTRUMENT = built_in(Pyperf())
