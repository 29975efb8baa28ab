"""cargo-criterion's messages."""

import shutil
from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.reading import read, recognised
from gate.results.source import Source
from tests.support.mangled import mangled

FILE = Path(__file__).parents[3] / "data/results/cargo_criterion/messages.jsonl"


def test_samples_are_iterations() -> None:
    found = read(Source("x", FILE))
    plain, bytewise = found.measured
    assert (plain.benchmark, list(plain.metrics)) == ("sum", ["time"])
    assert plain.metrics["time"].unit == "s"
    assert len(plain.metrics["time"].values) == 10
    assert plain.metrics["time"].values[0] == pytest.approx(171875 / 5930 * 1e-9, rel=1e-12)
    assert bytewise.metrics["time"].values[0] == pytest.approx(178555 / 47107 * 1e-9, rel=1e-12)
    rate, *others = found.aggregates
    assert (rate.benchmark, rate.metric, rate.unit, rate.better) == ("new/new/10", "throughput", "B/s", "higher")
    # of the mean that the file gives
    assert rate.value == pytest.approx(10 / 6.465353200464596e-9, rel=1e-9)
    assert not others


def test_other_lines_are_passed_over_and_a_bad_message_is_named() -> None:
    first = FILE.read_text().splitlines()[0]
    assert len(read(Source("x", None, f"   Compiling x\n{first}\n".encode())).measured) == 1
    source = Source("x", None, f"{first}\n{first[:300]}\n".encode())
    assert recognised(source) == "cargo_criterion"
    with pytest.raises(UserError, match=r"^x: cargo-criterion: line 2: "):
        read(source)


def test_values_without_iterations_fail() -> None:
    message = '{"reason":"benchmark-complete","id":"%s","iteration_count":%s,"measured_values":%s,"unit":"cycles"}\n'
    text = message % ("a", "[1]", "[1.0,2.0]") + message % ("b", "[0]", "[1.0]") + message % ("c", "[2]", "[6.0]")
    found = read(Source("x", None, text.encode()))
    assert [each.benchmark for each in found.failed] == ["a", "b"]
    assert found.measured[0].metrics["cycles"].values == [3]


def test_the_folder_has_what_the_messages_had() -> None:
    source = Source("x", FILE.parent / "kept")
    assert recognised(source) == "cargo_criterion"
    found, said = read(source), read(Source("x", FILE))
    assert {each.benchmark for each in found.measured} == {"sum", "new/new/10"}
    kept = {each.benchmark: list(each.metrics["time"].values) for each in found.measured}
    for each in said.measured:
        assert kept[each.benchmark] == pytest.approx(list(each.metrics["time"].values), rel=1e-9)
    assert [each.value for each in found.aggregates] == pytest.approx([each.value for each in said.aggregates])


def test_a_folder_whose_files_are_cut_off_or_garbled(tmp_path: Path) -> None:
    shutil.copytree(FILE.parent / "kept", tmp_path / "target/criterion")
    place = tmp_path / "target/criterion/data/main/sum"
    files = [place / "benchmark.cbor", next(place.glob("measurement_*"))]
    for file in files:
        data = file.read_bytes()
        for each in mangled(data, 5):
            file.write_bytes(each)
            found = read(Source("x", tmp_path))
            assert "new/new/10" in {each.benchmark for each in found.measured}
        file.write_bytes(data)
    files[1].unlink()
    assert [each.benchmark for each in read(Source("x", tmp_path)).failed] == ["sum"]
