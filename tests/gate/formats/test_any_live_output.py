"""Whatever a program wrote: values, or an error of one short line; never another exception."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gate.formats import (
    benchmark_js,
    callgrind,
    catch2,
    criterion,
    divan,
    go_bench,
    google_benchmark,
    hyperfine,
    jmh,
    libtest,
    nanobench,
    perf_stat,
    printed,
    pyperf,
    pytest_benchmark,
    values,
    vitest,
)
from gate.formats.parts.live import suite
from gate.formats.parts.output import OutputError
from tests.gate.formats.test_counts import BENCHMARK_JS, CATCH2, DIVAN, LIBTEST, NANOBENCH, VITEST
from tests.gate.formats.test_csv_column import K6, OF_K6
from tests.gate.formats.test_csv_column import parse as csv_of
from tests.gate.formats.test_printed_times import TIMES
from tests.support.long_lines import at_once, stretched
from tests.support.mangled import mangled
from tests.support.seeds import some

DATA = Path(__file__).parents[2] / "data"


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def captured(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(DATA.glob(pattern)) if path.is_file()]


SAMPLES, NAMES = captured("criterion/*.sample.json"), captured("criterion/*.benchmark.json")
ADAPTERS: dict[str, tuple[Sequence[bytes], Callable[[bytes], object]]] = {
    "callgrind": (captured("callgrind/*.txt"), lambda data: callgrind.instructions([data])),
    "catch2": ([CATCH2.encode()], lambda data: catch2.LIVE(data, {})),
    "criterion sample": (SAMPLES, lambda data: criterion.suite({"a": criterion.Files(NAMES[0], data, False)})),
    "criterion benchmark": (NAMES, lambda data: criterion.suite({"a": criterion.Files(data, SAMPLES[0], False)})),
    "divan": ([DIVAN.encode()], lambda data: divan.LIVE(data, {})),
    "go": (captured("go/*.txt"), lambda data: go_bench.suite(data, several=False)),
    "google-benchmark": (captured("google-benchmark/*.json"), lambda data: suite(google_benchmark, data)),
    "hyperfine": (captured("hyperfine/*.json"), lambda data: hyperfine.runs(data, memory_by_run=True)),
    "hyperfine's complaint": (captured("hyperfine/*.txt"), lambda data: hyperfine.complaint(text(data))),
    "hyperfine's version": (captured("hyperfine/*version.txt"), lambda data: hyperfine.version(text(data))),
    "jmh": (captured("jmh/*.json"), lambda data: suite(jmh, data)),
    "jmh's text": (captured("jmh/*.txt"), lambda data: jmh.failed(text(data))),
    "k6": ([K6], lambda data: csv_of(data, units={"http_req_duration": "ms"}, **OF_K6)),
    "libtest": ([LIBTEST.encode()], lambda data: libtest.LIVE(data, {})),
    "nanobench": ([NANOBENCH.encode()], lambda data: nanobench.LIVE(data, {})),
    "perf": (captured("perf/[a-z]*.txt"), lambda data: perf_stat.parse(text(data))),
    "pyperf": (captured("pyperf/*.json"), lambda data: suite(pyperf, data)),
    "pytest-benchmark": (captured("pytest-benchmark/*.json"), lambda data: suite(pytest_benchmark, data)),
    "benchmark.js": ([BENCHMARK_JS.encode()], lambda data: benchmark_js.LIVE(data, {})),
    "printed": ([TIMES.encode()], lambda data: printed.LIVE(data, {})),
    "vitest": ([VITEST.encode()], lambda data: vitest.LIVE(data, {})),
    "values": ([b"0.1\n2e3\n", b'{"metric":"a","value":1,"unit":"ms"}\n'], lambda data: values.parse(data, {"a": "s"})),
}


def refused(parse: Callable[[bytes], object], data: bytes) -> str:
    """Return why an output is refused; "" where it is read."""
    try:
        parse(data)
    except OutputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("rounds", some([12, 400], 1, pytest.mark.nightly))
@pytest.mark.parametrize("name", ADAPTERS)
def test_any_change_of_a_good_output_is_read_or_refused_in_a_line(name: str, rounds: int) -> None:
    good, parse = ADAPTERS[name]
    assert good
    for number, each in enumerate(good):
        for data in mangled(each, max(2, rounds // len(good)), (name, number)):
            why = refused(parse, data)
            assert why.isprintable(), data
            assert len(why) <= 500, data


@pytest.mark.parametrize("name", ADAPTERS)
def test_what_is_packed_is_never_unpacked(name: str) -> None:
    good, parse = ADAPTERS[name]
    packed = gzip.compress(good[0])
    for data in (packed, packed[: len(packed) // 2], packed[:2]):
        assert refused(parse, data).isprintable()
    if name == "go":
        assert refused(parse, packed) == "the output is packed: write it as it is"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name == "google-benchmark")) for name in ADAPTERS]
)
def test_a_very_long_line_is_read_or_refused_at_once(name: str) -> None:
    good, parse = ADAPTERS[name]
    for data in good[:2]:
        for number, each in enumerate(stretched(data, 1, 10)):
            with at_once(f"stretch {number}"):
                assert refused(parse, each).isprintable()
