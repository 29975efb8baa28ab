"""hyperfine's CSV and JSON in both schemas, as a file and as one execution; its version, and what it complains of."""

import json
from pathlib import Path
from typing import Any

import pytest

from gate.formats.hyperfine import complaint, runs, version
from gate.model import UserError
from tests.support.foreign import DATA, of_text


def test_a_csv_that_is_cut_off() -> None:
    whole = (DATA / "hyperfine/sleep.csv").read_bytes()
    with pytest.raises(UserError, match=r"x: hyperfine: line 3: the mean is no number: is the file cut off\?"):
        of_text(whole[: whole.rindex(b"sleep 0.002") + 12])


# --- one execution ----------------------------------------------------------------------------------------------------


def captured(name: str) -> bytes:
    return (Path(__file__).parents[2] / "data/hyperfine" / name).read_bytes()


def test_the_memory_of_1_20_is_a_running_maximum_and_only_taken_on_demand() -> None:
    memory = runs(captured("1.20.0.json"), memory_by_run=True)["memory"]
    assert memory.unit == "B"
    # run 1 alone took 50 MB more: what follows is its shadow
    assert memory.values == sorted(memory.values)
    assert memory.values[3] == memory.values[1] > memory.values[0] + 40e6
    assert "memory" not in runs(captured("1.15.0.json"), memory_by_run=True)


def test_schema_2_gives_the_memory_of_each_run() -> None:
    series = runs(captured("2.0.0.json"), memory_by_run=False)
    first, second, third, _ = series["memory"].values
    assert second > first + 40e6 > third
    # one that some runs lack is left out
    export: dict[str, Any] = json.loads(captured("2.0.0.json"))
    del export["results"][0]["measurements"][1]["memory_peak_resident"]
    assert "memory" not in runs(json.dumps(export).encode(), memory_by_run=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hyperfine, a package for spectra 1.2.3",
        "error: unexpected argument '--frobnicate' found\n",
        "Error: something else\n",
    ],
)
def test_what_hyperfine_does_not_say(text: str) -> None:
    assert (version(text), complaint(text)) == (None, None)
