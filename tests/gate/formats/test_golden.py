"""What is read of each real file, and of each captured output, as it was last looked at.

PERFGATE_UPDATE_GOLDEN=1 writes it anew. Numbers have nine digits; what is empty, false or not there is left out.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from gate.formats.parts.output import OutputError, Series
from gate.formats.parts.reading import columns, read
from gate.formats.parts.source import Source
from gate.model.bounds import step_of
from tests.gate.formats.test_any_format import FILES
from tests.gate.formats.test_any_live_output import ADAPTERS

FOLDER = Path(__file__).parents[2] / "golden" / "formats"


def plain(value: object) -> object:
    """Write anything that a reader gives as JSON has it."""
    fields = getattr(value, "__struct_fields__", ()) or getattr(value, "__dataclass_fields__", ())
    if fields or isinstance(value, Mapping):
        known = dict(value) if isinstance(value, Mapping) else {name: getattr(value, name) for name in fields}
        if isinstance(value, Series):
            known["step"] = step_of(value.values) or value.step
        given = ((key, plain(each)) for key, each in known.items() if key != "format")
        return {key: each for key, each in given if each not in ("", [], {}, None) and each is not False}
    if isinstance(value, str) or value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else [plain(each) for each in value]  # type: ignore[attr-defined]


def lines(value: object, name: str = "") -> list[str]:
    """Give a line to each result, of what has a list or a table of them."""
    if isinstance(value, dict) and (not name or any(isinstance(each, dict) for each in value.values())):
        return [line for key, each in value.items() for line in lines(each, f"{name} {key}".strip() or "-")]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [f"{name}: {json.dumps(each, ensure_ascii=False)}" for each in value]
    return [f"{name}: {json.dumps(value, ensure_ascii=False)}"]


def of_file(file: Path) -> list[str]:
    source = Source("x", file) if file.is_dir() else Source("x", None, file.read_bytes())
    reading = read(source)
    found, labels = lines(plain(reading)), [label for label, _ in columns(reading)]
    # the order of Criterion's baselines is that of their times, which a checkout does not keep
    return (
        sorted(found) if file.parent.name == "criterion" else [*found, *([f"columns: {labels}"] if labels[0] else [])]
    )


def of_output(parse: Callable[[bytes], object], data: bytes) -> list[str]:
    try:
        found = parse(data)
    except OutputError as error:
        found = {"refused": str(error)}
    return lines(plain(found if isinstance(found, Mapping) else {"read": found}))


GOLDEN: dict[str, list[tuple[str, Callable[[], list[str]]]]] = {}
"""The parts of each golden file."""
for file in FILES:
    GOLDEN.setdefault(f"file {file.parent.name}", []).append((file.name, partial(of_file, file)))
for name, (outputs, parse) in ADAPTERS.items():
    GOLDEN[f"live {name}"] = [(str(number), partial(of_output, parse, data)) for number, data in enumerate(outputs)]


@pytest.mark.parametrize("name", GOLDEN)
def test_what_was_looked_at(name: str) -> None:
    got = "".join(f"{line}\n" for place, part in GOLDEN[name] for line in (f"== {place}", *part()))
    path = FOLDER / name
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(got, encoding="utf-8", newline="")
    assert got == path.read_bytes().decode("utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*GOLDEN}
