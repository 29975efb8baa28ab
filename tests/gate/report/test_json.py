import contextlib
import functools
import json as plain
import math
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from gate.report import json
from gate.report.json import ReportError
from tests.gate.report import examples
from tests.support.seeds import some

SCHEMA: dict[str, Any] = plain.loads(json.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def flat(value: Any) -> Any:
    """What a report says, with the details beside the kind that they are of."""
    if isinstance(value, list):
        return [flat(each) for each in value]
    if not isinstance(value, dict):
        return value
    table = {key: flat(each) for key, each in value.items()}
    return {**table.pop("details", {}), **table}


@pytest.mark.parametrize("name", examples.ALL)
def test_what_is_written_can_be_read_wherever_its_details_stand(name: str) -> None:
    report = examples.ALL[name]()
    text = json.render(report)
    assert json.read(text) == json.read(plain.dumps(flat(plain.loads(text)))) == report


def test_a_text_is_not_read() -> None:
    changed = json.render(examples.factors()).replace('"text": "', '"text": "not ')
    assert json.read(changed) == examples.factors()


def test_metrics_of_the_settings_may_have_the_names_of_keys() -> None:
    tables = plain.loads(json.render(examples.regression()))
    metrics = {"kind": {"unit": "B"}, "details": {"better": "higher"}, "text": {"unit": "s"}}
    tables["run"]["settings"] = {"metric": metrics}
    assert json.read(plain.dumps(tables)).run.settings == {"metric": metrics}


def test_what_is_no_number_is_null() -> None:
    for bad in (math.nan, math.inf, -math.inf):
        numbers: dict[str, Any] = {"ratio": examples.interval(bad), "p": bad, "floor": bad, "factors": {"size": bad}}
        found = examples.finding(base=examples.side(bad), head=examples.side(1.0), **numbers)
        report = examples.report("pass", [found], run=examples.run_facts(host={"load": [bad]}, seconds=bad))
        text = json.render(report)
        assert "NaN" not in text and "Infinity" not in text
        tables = plain.loads(text)
        assert VALIDATOR.is_valid(tables)
        found_again = tables["findings"][0]
        assert (found_again["p"], found_again["ratio"]["low"], found_again["base"]["value"]) == (None, None, None)
        assert tables["run"]["host"] == {"load": [None]}
        assert math.isnan(json.read(text).findings[0].base.value)


def test_a_name_that_is_not_utf8_is_written() -> None:
    report = examples.report("pass", [], new=["caf\udce9"])
    assert json.read(json.render(report)).new == ["caf\\udce9"]


def test_unknown_keys_are_ignored() -> None:
    tables = plain.loads(json.render(examples.regression()))
    tables["later"] = tables["findings"][0]["later"] = 1
    assert json.read(plain.dumps(tables)) == examples.regression()


def test_another_file_is_refused_in_one_line() -> None:
    def of(schema: str, verdict: str = '"pass"', findings: str = "[]") -> str:
        return f'{{"schema": {schema}, "verdict": {verdict}, "findings": {findings}}}'

    refused: dict[str | bytes, str] = {
        **dict.fromkeys(("", "{", "[" * 100_000), "not valid JSON"),
        **dict.fromkeys(("[1]", '{"name": "package"}', of("2", findings="[1]")), "not a report of perfgate"),
        b"\xff\xfe{}": "",
        of('"x"'): "its schema is 'x'",
        of("true"): "its schema is True",
        of("1"): "its schema is 1, and this perfgate reads schema 2",
        of("3"): "its schema is 3, and this perfgate reads schema 2",
        of("2", '"maybe"'): "Invalid enum value 'maybe'",
    }
    for text, message in refused.items():
        with pytest.raises(ReportError) as caught:
            json.read(text)
        assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_report_of_an_older_form_is_called_older() -> None:
    tables = plain.loads(json.render(examples.regression()))
    del tables["findings"][0]["variance"]
    with pytest.raises(ReportError, match=r"`variance`.*an older perfgate.*`perfgate decide`"):
        json.read(plain.dumps(tables))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("policy", "gate", "min_builds"), "x", 'its rules: gate.min_builds: expected a whole number, got "x"'),
        (("policy", "gate"), {}, ""),
        (("run", "settings"), {"plan": 5}, "its rules: plan: expected a table, got 5"),
        (("run", "settings"), {"plan": {"budget": 10**400}}, "run.settings.plan.budget is inf"),
        (("run", "seconds"), 1e308, "run.seconds is 1e+308, which no value of ours is"),
        (("run", "host"), {"a": [[]]}, ""),
    ],
)
def test_what_has_no_type_is_checked_where_it_is_read(place: tuple[str, ...], value: Any, message: str) -> None:
    tables: dict[str, Any] = plain.loads(json.render(examples.regression()))
    *above, last = place
    functools.reduce(dict.__getitem__, above, tables)[last] = value
    with pytest.raises(ReportError, match=re.escape(message)) if message else contextlib.nullcontext():
        json.read(plain.dumps(tables))


# --- the schema, by a validator that knows nothing of our types -------------------------------------------------------


# together they have all that the schema names
FULL = ("regression", "failures")
Path = tuple[str | int, ...]


@functools.cache
def written(name: str) -> str:
    return json.render(examples.ALL[name]())


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


def test_it_is_a_schema_in_which_every_key_is_required_and_has_a_meaning() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:perfgate:report:2"
    for each in (SCHEMA, *SCHEMA["$defs"].values()):
        assert each["required"] == list(each["properties"])
        assert [key for key, value in each["properties"].items() if not value["description"].endswith(".")] == []


def test_new_keys_may_be_added() -> None:
    report = plain.loads(written("regression"))
    report["later"] = report["findings"][0]["later"] = report["findings"][0]["reason"]["details"]["later"] = 1
    report["summary"]["kind"] = "of-a-later-version"
    assert VALIDATOR.is_valid(report)
