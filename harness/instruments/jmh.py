"""The tool JMH: the jar that holds its benchmarks, and org.openjdk.jmh.Main."""

import re
from collections.abc import Sequence

from gate.formats import jmh
from gate.formats.parts.live import suite
from gate.formats.parts.output import OutputError, Suite
from harness.instruments import active_clock
from harness.instruments.declaration import built_in
from harness.instruments.protocol import at_least
from harness.instruments.suite import Call, SuiteInstrument
from harness.instruments.values import read_values
from harness.process.execute import ProcessEnd

_NONE = re.compile(r"^No matching benchmarks\.", re.MULTILINE)


class Jmh(SuiteInstrument):
    """Runs every benchmark in one fork, with one iteration for each value that is wanted."""

    reason = re.compile(
        r"^(?:No matching benchmarks\.|ERROR: .*JMH lock|Error parsing command line:\s*\S|"
        r"Error: Unable to access jar).*",
        re.MULTILINE,
    )

    def options(self, call: Call) -> tuple[str, ...]:
        """Return format, file, one fork, the iterations, and that a failure ends it: JMH exits with 0 otherwise.

        JMH's own warm-up stays as the benchmarks have it (@Warmup, -wi). It throws those values away, but without it a
        warmup of 0, perfgate's default, would measure the interpreter. With -wi 0 perfgate's `warmup` does it all.
        """
        wanted = {"rf": "json", "rff": str(call.output), "f": "1", "i": str(call.values), "foe": "true"}
        missing = [(name, value) for name, value in wanted.items() if not _given(call, name)]
        return tuple(word for name, value in missing for word in (f"-{name}", value))

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Return what leaves out all that cannot be meant, also of what a pattern of the command's own chooses."""
        # parameters and the mode stand behind the name, and what is wild may mean these
        names = [re.split(r"([:*?[])", glob, maxsplit=1) for glob in globs]
        if not all(name[0] for name in names):
            return ()
        wanted = (name[0] + ("" if name[1:2] in ([], [":"]) else "*") for name in names)
        return ("-e", f"^(?!{at_least(wanted)}$)")

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002
        """Say whose waits the clock leaves out: a worker's, which times what it does itself."""
        return {active_clock.WORKER: "1"}

    def read(self, call: Call) -> Suite:
        """Read the file of -rff, if standard output does not report a failure.

        Raises: OutputError: there is none, it is not as expected, or a benchmark failed.
        """
        name = jmh.failed((read_values(call.stdout, call.limit) or b"").decode("utf-8", "replace"))
        if name is not None:
            raise OutputError(f"JMH reports a failure of {name or 'a benchmark'}")
        data = read_values(call.output, call.limit)
        if data:
            return suite(jmh, data)
        if _given(call, "rff"):
            raise OutputError("the command has its own -rff: write `-rf json -rff {output}`, or leave both out")
        raise OutputError("JMH wrote nothing: its options, added at the end of the command, did not reach it")

    def found_none(self, outcome: ProcessEnd, said: str) -> bool:  # noqa: ARG002  # of the Protocol
        """Return whether JMH says that no benchmark matches."""
        return _NONE.search(said) is not None

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Name the benchmark that failed, or why none ran."""
        name = jmh.failed(said)
        if name is not None:
            return f"{outcome.status}: {name or 'a benchmark'} failed"
        return super().explain(outcome, said)


def _given(call: Call, name: str) -> bool:
    # a number may stand directly behind a single letter, as in -i5
    return any(re.fullmatch(rf"--?{name}(?:=.*|\d+)?", word, re.DOTALL) for word in call.words)


INSTRUMENT = built_in(Jmh())
