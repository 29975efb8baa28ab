"""The schema of report.json, by a validator that knows nothing of our types."""

import functools
import json as plain
import math
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from gate.report import json
from tests.gate.report import examples
from tests.support.seeds import some

SCHEMA: dict[str, Any] = plain.loads(json.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
# together they have all that the schema names
FULL = ("regression", "failures")
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


def objects(value: Any, of: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every object of a report that the schema has keys for, and what the schema says of it."""
    for each in (of, *of.get("anyOf", ())):
        known = SCHEMA["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        if isinstance(value, dict) and "properties" in known:
            yield value, known
            for key, inner in known["properties"].items():
                yield from objects(value[key], inner)
        elif isinstance(value, list) and "items" in known:
            for item in value[:1]:
                yield from objects(item, known["items"])


def test_a_missing_key_is_refused() -> None:
    refused = set()
    for name in FULL:
        report = plain.loads(written(name))
        report["findings"] = report["findings"][:1]
        for found, known in objects(report, SCHEMA):
            for key in known["required"]:
                value = found.pop(key)
                assert not VALIDATOR.is_valid(report), key
                found[key] = [value]
                assert not VALIDATOR.is_valid(report), key
                found[key] = value
                refused.add(key)
    assert refused == {key for each in (SCHEMA, *SCHEMA["$defs"].values()) for key in each["required"]}


def test_every_key_is_required_and_has_a_meaning() -> None:
    for each in (SCHEMA, *SCHEMA["$defs"].values()):
        assert each["required"] == list(each["properties"])
        assert [key for key, value in each["properties"].items() if not value["description"].endswith(".")] == []


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
        (("summary", "kind"), None),
        (("next", "details"), None),
        (("findings", 0, "verdict"), "worse"),
        (("findings", 0, "better"), "more"),
        (("findings", 0, "reason", "text"), None),
        (("findings", 0, "ratio", "kind"), "open"),
        (("findings", 0, "ratio", "estimate"), "1.05"),
        (("findings", 0, "base"), None),
        (("findings", 0, "verdict"), "identical"),
        (("run", "base", "dirty"), "no"),
        (("new",), [1]),
    ],
)
def test_what_is_no_report_is_refused(path: Path, value: Any) -> None:
    assert not VALIDATOR.is_valid(changed(path, value))


def test_new_keys_may_be_added() -> None:
    report = plain.loads(written("regression"))
    report["later"] = report["findings"][0]["later"] = report["findings"][0]["reason"]["details"]["later"] = 1
    report["summary"]["kind"] = "of-a-later-version"
    assert VALIDATOR.is_valid(report)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_valid_as_null(bad: float) -> None:
    found = examples.finding(
        base=examples.side(bad), head=examples.side(1.0), ratio=examples.interval(bad), p=bad, floor=bad
    )
    assert VALIDATOR.is_valid(plain.loads(json.render(examples.report("pass", [found]))))
