"""The schema of report.json, by a validator that knows nothing of our types."""

import functools
import json as plain
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema
import msgspec
import pytest

from gate.report import json
from scripts.report_schema import UNIONS, meanings, members
from tests.gate.report import examples
from tests.gate.report.test_golden import GOLDEN
from tests.support.seeds import some

SCHEMA: dict[str, Any] = plain.loads(json.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
# together they have most of what a report can hold
FULL = ("regression", "failures", "factors", "early", "some_identical")
Path = tuple[str | int, ...]


@functools.cache
def written(name: str) -> str:
    return json.render(examples.ALL[name]())


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:perfgate:report:2"


@pytest.mark.parametrize(
    "name", some(sorted(examples.ALL, key=lambda name: name == "many"), len(examples.ALL) - 1, pytest.mark.nightly)
)
def test_what_is_written_is_valid(name: str) -> None:
    assert not list(VALIDATOR.iter_errors(plain.loads(written(name))))


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_golden_reports_are_valid(file: Any) -> None:
    assert not list(VALIDATOR.iter_errors(plain.loads(file.read_text(encoding="utf-8"))))


# what follows a configuration or a system is free
FREE = {
    "host", "state", "settings", "gate", "override", "accept", "factors", "commands", "artifacts", "hash", "environment",
    "only", "most", "unproved", "setting", "against",
}  # fmt: skip


class Place(NamedTuple):
    """A key of an object that stands in a report."""

    name: str
    report: Any
    within: dict[str, Any]
    key: str


def places(value: Any, report: Any, where: str = "") -> Iterator[Place]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield Place(f"{where}.{key}", report, value, key)
            if key not in FREE:
                yield from places(inner, report, f"{where}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from places(inner, report, f"{where}[]")


def short(value: Any) -> Any:
    """Keep the first of each list: a report of one finding is validated faster."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    return [short(each) for each in value[:1]] if isinstance(value, list) else value


@functools.cache
def every_place() -> list[Place]:
    found: dict[str, Place] = {}
    for name in FULL:
        report = short(plain.loads(written(name)))
        for place in places(report, report):
            found.setdefault(place.name, place)
    return list(found.values())


def test_a_missing_key_is_refused() -> None:
    assert len(every_place()) > 200
    for place in every_place():
        kept = dict(place.within)
        del place.within[place.key]
        # of a build or failure they are left out where there are none
        free = place.name in (".failures[].factors", ".run.builds[].factors")
        assert VALIDATOR.is_valid(place.report) is free, place.name
        place.within.clear()
        place.within.update(kept)


@pytest.mark.nightly
def test_a_value_of_another_type_is_refused() -> None:
    for place in every_place():
        value = place.within[place.key]
        place.within[place.key] = {"0": value} if isinstance(value, list) else [value]
        # the setting of a factor is whatever the configuration has
        assert VALIDATOR.is_valid(place.report) is (place.key == "setting"), place.name
        place.within[place.key] = value


def changed(path: Path, value: Any) -> Any:
    report = plain.loads(written("regression"))
    *most, last = path
    functools.reduce(lambda within, key: within[key], most, report)[last] = value
    return report


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 3),
        (("schema",), 1),
        (("verdict",), "maybe"),
        (("exit_code",), 0),
        (("exit_code",), 2),
        (("stopped",), "boredom"),
        (("summary", "kind"), "unknown"),
        (("next", "kind"), "unknown"),
        (("findings", 0, "verdict"), "worse"),
        (("findings", 0, "better"), "more"),
        (("findings", 0, "reason", "kind"), "unknown"),
        (("findings", 0, "ratio", "kind"), "open"),
        (("findings", 0, "ratio", "estimate"), "1.05"),
        (("findings", 0, "base"), None),
        (("findings", 0, "identical"), {"differ": [], "differ_count": 0, "read_count": 0, "hash": {}}),
        (("run", "base", "dirty"), "no"),
        (("new",), [1]),
    ],
)
def test_what_is_no_report_is_refused(path: Path, value: Any) -> None:
    assert not VALIDATOR.is_valid(changed(path, value))


def test_new_keys_may_be_added() -> None:
    report = plain.loads(written("regression"))
    report["later"] = report["findings"][0]["later"] = report["findings"][0]["reason"]["later"] = 1
    assert VALIDATOR.is_valid(report)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_valid_as_null(bad: float) -> None:
    found = examples.finding(
        base=examples.side(bad), head=examples.side(1.0), ratio=examples.interval(bad), p=bad, floor=bad
    )
    assert VALIDATOR.is_valid(plain.loads(json.render(examples.report("pass", [found]))))


def described(schema: Any) -> Iterator[tuple[str, Any]]:
    for name, definition in {"Report": schema, **schema["$defs"]}.items():
        yield from ((f"{name}.{key}", value) for key, value in definition.get("properties", {}).items())


def test_every_key_has_a_meaning() -> None:
    lacking = [name for name, value in described(SCHEMA) if not value.get("description", "").endswith((".", ")"))]
    assert not lacking


class Undocumented(msgspec.Struct):
    benchmark: str
    something: int


def test_a_field_without_a_docstring_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"Undocumented: write a docstring below something"):
        meanings(Undocumented)


def test_every_kind_is_listed() -> None:
    for name, union in UNIONS.items():
        refs = {each["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"][name]["anyOf"]}
        kinds = {SCHEMA["$defs"][ref]["properties"]["kind"]["enum"][0] for ref in refs}
        assert kinds == {each.__struct_config__.tag for each in members(union)}
