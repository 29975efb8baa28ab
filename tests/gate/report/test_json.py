import json as plain
import math
from typing import Any

import pytest

from gate.report import json
from gate.report.json import ReportError
from tests.gate.report import examples


@pytest.mark.parametrize("name", examples.ALL)
def test_what_is_written_can_be_read(name: str) -> None:
    report = examples.ALL[name]()
    assert json.read(json.render(report)) == report


def test_keys_are_those_of_the_contract() -> None:
    text = json.render(examples.regression())
    tables = plain.loads(text)
    assert list(tables) == [
        "schema", "verdict", "exit_code", "summary", "stopped", "run", "policy", "family", "findings", "recorded",
        "failures", "overall", "curves", "new", "warnings", "explanations", "unprofiled", "creep", "controls", "next",
    ]  # fmt: skip
    assert list(tables["findings"][0])[:6] == ["benchmark", "metric", "unit", "better", "statistic", "factors"]
    assert text.endswith("}\n")
    assert "type" not in plain.loads(json.render(examples.only_failures()))["failures"][0]


def test_what_has_a_sentence_has_it_as_its_text() -> None:
    tables = plain.loads(json.render(examples.factors()))
    found = tables["findings"][0]
    assert tables["summary"]["kind"] == "regressed"
    assert tables["summary"]["text"] == "1 of 4 results regressed: request time load=busy"
    assert (found["reason"]["kind"], found["reason"]["details"]["comparisons"], found["shown"]) == (
        "exceeds",
        12,
        "decided_at",
    )
    assert found["reason"]["text"].startswith("beyond the threshold of 3% with 99.58% confidence")
    memory = plain.loads(json.render(examples.early()))["findings"][0]["memory"]
    assert (memory["kind"], memory["text"].partition(":")[0]) == ("moderated", "moderated by remembered variance")


def test_what_follows_is_written() -> None:
    tables = plain.loads(json.render(examples.regression()))
    assert tables["findings"][0]["text"].endswith("threshold 3%: same")
    assert (tables["next"]["kind"], tables["next"]["text"][:18]) == ("fix-regression", "Fix the regression")
    assert plain.loads(json.render(examples.report("pass", [])))["next"] is None


def test_a_text_is_not_read() -> None:
    changed = json.render(examples.factors()).replace('"text": "', '"text": "not ')
    assert json.read(changed) == examples.factors()


@pytest.mark.parametrize("name", examples.ALL)
def test_details_that_stand_beside_the_kind_are_read(name: str) -> None:
    def flat(value: Any) -> Any:
        if isinstance(value, list):
            return [flat(each) for each in value]
        if not isinstance(value, dict):
            return value
        table = {key: flat(each) for key, each in value.items()}
        return {**table.pop("details", {}), **table}

    report = examples.ALL[name]()
    assert json.read(plain.dumps(flat(plain.loads(json.render(report))))) == report


def test_metrics_of_the_settings_may_have_the_names_of_keys() -> None:
    tables = plain.loads(json.render(examples.regression()))
    metrics = {"kind": {"unit": "B"}, "details": {"better": "higher"}, "text": {"unit": "s"}}
    tables["run"]["settings"] = {"metric": metrics}
    assert json.read(plain.dumps(tables)).run.settings == {"metric": metrics}


def refuse(token: str) -> Any:
    raise AssertionError(token)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null(bad: float) -> None:
    found = examples.finding(
        base=examples.side(bad), head=examples.side(1.0), ratio=examples.interval(bad), p=bad, floor=bad,
        factors={"size": bad},
    )  # fmt: skip
    report = examples.report("pass", [found], run=examples.run_facts(host={"load": [bad]}, seconds=bad))
    tables = plain.loads(json.render(report), parse_constant=refuse)
    assert tables["findings"][0]["p"] is None
    assert tables["findings"][0]["ratio"]["low"] is None
    assert tables["findings"][0]["base"]["value"] is None
    assert tables["run"]["host"] == {"load": [None]}
    again = json.read(json.render(report))
    assert math.isnan(again.findings[0].base.value)


def test_a_name_that_is_not_utf8_is_written() -> None:
    report = examples.report("pass", [], new=["caf\udce9"])
    assert json.read(json.render(report)).new == ["caf\\udce9"]


def test_unknown_keys_are_ignored() -> None:
    tables = plain.loads(json.render(examples.regression()))
    tables["later"] = tables["findings"][0]["later"] = 1
    assert json.read(plain.dumps(tables)) == examples.regression()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[1]", "not a report of perfgate"),
        ('{"name": "package"}', "not a report of perfgate"),
        ('{"schema": "x", "verdict": "pass", "findings": []}', "its schema is 'x'"),
        ('{"schema": true, "verdict": "pass", "findings": []}', "its schema is True"),
        ('{"schema": 1, "verdict": "pass", "findings": []}', "its schema is 1, and this perfgate reads schema 2"),
        ('{"schema": 3, "verdict": "pass", "findings": []}', "its schema is 3, and this perfgate reads schema 2"),
        ('{"schema": 2, "verdict": "maybe", "findings": []}', "Invalid enum value 'maybe'"),
        ('{"schema": 2, "verdict": "pass", "findings": [1]}', "not a report of perfgate"),
    ],
)
def test_another_file_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        json.read(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ReportError):
        json.read(b"\xff\xfe{}")


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
def test_what_it_holds_without_a_type_is_checked_where_it_is_read(
    place: tuple[str, ...], value: Any, message: str
) -> None:
    tables: dict[str, Any] = plain.loads(json.render(examples.regression()))
    inside = tables
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    try:
        json.read(plain.dumps(tables))
        why = ""
    except ReportError as error:
        why = str(error)
    assert message in why
    assert bool(message) == bool(why)
