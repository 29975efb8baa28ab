"""The tool Google Benchmark: a program that is linked with it."""

from collections.abc import Sequence

from gate.formats import google_benchmark
from gate.formats.parts.live import suite
from gate.formats.parts.output import EmptyError, OutputError, Suite
from harness.instruments.declaration import built_in
from harness.instruments.protocol import at_least
from harness.instruments.suite import Call, SuiteInstrument
from harness.instruments.values import read_values

_UNSAMPLED = "only aggregates were reported: take ReportAggregatesOnly out of its code"


class GoogleBenchmark(SuiteInstrument):
    """Runs the benchmarks of a program, one value a repetition."""

    def options(self, call: Call) -> tuple[str, ...]:
        """Return what makes the program repeat each benchmark as often as wanted and write every repetition."""
        return (
            f"--benchmark_out={call.output}",
            "--benchmark_out_format=json",
            f"--benchmark_repetitions={call.values}",
            "--benchmark_report_aggregates_only=false",
        )

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the filter for what globs name; none where the command has its own."""
        own = any(word.startswith("--benchmark_filter") for word in call.words)
        return () if own else (f"--benchmark_filter=^{at_least(globs)}($|/)",)

    def read(self, call: Call) -> Suite:
        """Read the file of --benchmark_out.

        Raises: OutputError: there is none, or it is not as expected; empty: the filter matches no benchmark.
        """
        data = read_values(call.output, call.limit)
        if data is None:
            raise OutputError(
                "Google Benchmark wrote nothing: main() does not call benchmark::Initialize(&argc, argv), or the "
                "options that are added at the end of the command do not reach it"
            )
        if not data:
            raise EmptyError("Google Benchmark ran nothing: --benchmark_filter matches no benchmark")
        return suite(google_benchmark, data, _UNSAMPLED)


INSTRUMENT = built_in(GoogleBenchmark())
