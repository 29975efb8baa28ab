import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from gate.model import Failure, Report
from gate.model.warnings.base import Said
from gate.report import junit
from tests.gate.report import examples

# Jenkins' junit-10.xsd as far as it is used: attributes (those required in the first set) and children of an element.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"assertions", "classname", "status", "time", "class", "file", "line", "log", "group", "url"},
        {"skipped", "error", "failure", "system-out", "system-err", "properties"},
    ),
    "skipped": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "failure": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")


def parsed(report: Report) -> ET.Element:
    return ET.fromstring(junit.render(report).encode())


def suite_of(report: Report) -> ET.Element:
    found = parsed(report).find("testsuite")
    assert found is not None
    return found


def outcomes(report: Report) -> dict[str, str]:
    """Name of each test case -> its outcome."""
    found = {}
    for case in suite_of(report).iter("testcase"):
        marks = [child.tag for child in case if child.tag != "system-out"]
        assert len(marks) <= 1
        of = (case.get("classname") or "").removeprefix("perfgate").removeprefix(".")
        found[": ".join(filter(None, [case.get("name"), of]))] = marks[0] if marks else "passed"
    return found


@pytest.mark.parametrize("name", examples.ALL)
def test_it_has_the_structure_that_jenkins_wants(name: str) -> None:
    for element in parsed(examples.ALL[name]()).iter():
        required, optional, children = SCHEMA[element.tag]
        assert required <= element.attrib.keys() <= required | optional
        assert {child.tag for child in element} <= children
        assert TIME.fullmatch(element.get("time", ""))
        assert not children or not (element.text or "").strip()


@pytest.mark.parametrize("name", examples.ALL)
def test_the_totals_are_those_of_the_test_cases(name: str) -> None:
    report = examples.ALL[name]()
    suite = suite_of(report)
    found = list(outcomes(report).values())
    assert len(found) == len(list(suite.iter("testcase"))), "names are unique"
    assert suite.get("tests") == str(len(found))
    for attribute, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(found.count(outcome))


def missing(**changes: Any) -> Failure:
    return Failure(**({"kind": "missing", "benchmark": "render", "side": "head"} | changes))


def lenient() -> Any:
    return examples.policy(gate={"missing": "pass", "confidence": 0.95})


UNCHANGED = examples.finding("a")
OPEN = examples.finding("b", "inconclusive")
NOT_WORSE = examples.finding("c", "inconclusive", not_worse=True)
DECISIONS: dict[str, Callable[[], Report]] = {
    "a regression": lambda: examples.report("regression", [examples.regressed(), OPEN]),
    "a pass": lambda: examples.report("pass", [UNCHANGED, examples.improved(), examples.accepted()]),
    "inconclusive passes": lambda: examples.report("inconclusive", [OPEN, NOT_WORSE]),
    "inconclusive fails": lambda: examples.report("inconclusive", [OPEN, NOT_WORSE, UNCHANGED], exit_code=3),
    "not worse": lambda: examples.report("inconclusive", [NOT_WORSE]),
    "a failure beside findings": lambda: examples.report("error", [UNCHANGED], failures=[examples.build_failure()]),
    "missing counts": lambda: examples.report("error", [UNCHANGED], failures=[missing()]),
    "missing does not count": lambda: examples.report("pass", [UNCHANGED], failures=[missing()], policy=lenient()),
    "a shard is missing": lambda: examples.report("error", [UNCHANGED], failures=[missing(benchmark=None)], policy=lenient()),
    "all are missing and none counts": lambda: examples.report("error", [], failures=[missing()], policy=lenient()),
    "nothing was measured": examples.nothing,
    "only new ones": lambda: examples.report("error", [], new=["x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DECISIONS)
def test_it_is_green_exactly_when_the_exit_code_is_0(name: str) -> None:
    report = DECISIONS[name]()
    found = outcomes(report)
    assert found
    assert (report.exit_code == 0) == (not {"failure", "error"} & set(found.values()))


def test_what_each_verdict_becomes() -> None:
    assert outcomes(examples.regression()) == {
        "lex: time mean": "passed",
        "tokenize: time mean": "passed",
        "render: time mean": "passed",
        "parse-large: time mean": "failure",
        "startup: time mean": "skipped",
        "scan: time mean": "skipped",
        "walk: time mean": "skipped",
        "encode: time mean": "passed",
    }
    assert outcomes(DECISIONS["inconclusive fails"]()) == {
        "b: time mean": "failure",
        "c: time mean": "skipped",
        "a: time mean": "passed",
    }
    assert outcomes(examples.only_failures()) == {
        "build of head": "error",
        "parse-large: execution on head": "error",
        "render: missing on head": "error",
    }
    assert outcomes(DECISIONS["missing does not count"]()) == {
        "a: time mean": "passed",
        "render: missing on head": "skipped",
    }
    assert outcomes(examples.nothing()) == {"measured": "error"}
    # no sign of a change passes, and so does what cannot differ
    assert outcomes(examples.report("pass", [examples.no_sign("a")])) == {"a: time mean": "passed"}
    assert outcomes(examples.report("pass", [], identical=[examples.identical("a")])) == {"a: time mean": "passed"}


def test_names_hold_metric_statistic_and_factors() -> None:
    assert {"encode [size=10, kind=a]: instructions mean", "load: latency p99"} <= outcomes(examples.metrics()).keys()


def test_messages_say_what_happened() -> None:
    suite = suite_of(examples.regression())
    failure = suite.find(".//failure")
    assert failure is not None and failure.get("type") == "regression"
    assert (failure.get("message") or "").startswith("8.3% slower (at least 4.9%), threshold 3%: regression")
    skipped = [element.get("message") or "" for element in suite.iter("skipped")]
    assert skipped and all(": undecided, " in message or ": too noisy, " in message for message in skipped)
    passed = {case.get("name"): case.findtext("system-out") or "" for case in suite.iter("testcase")}
    assert "accepted up to 8% until 2026-12-31: new checksum, see #123" in passed["encode"]
    assert "12.8% faster" in passed["render"]
    assert "new in head, not compared: decode" in (suite.findtext("system-out") or "")
    open_one = parsed(DECISIONS["inconclusive fails"]()).find(".//failure")
    assert open_one is not None and open_one.get("type") == "inconclusive"


def test_the_suite_says_what_was_compared_and_when() -> None:
    suite = suite_of(examples.regression())
    assert (suite.get("time"), suite.get("timestamp")) == ("203.400", "2026-11-20T09:00:00")
    assert "hostname" not in suite.attrib
    assert {each.get("name"): each.get("value") for each in suite.iter("property")} == {
        "base": "main 1a2b3c4d5e",
        "head": "HEAD 9f8e7d6c5b with uncommitted changes",
        "verdict": "regression",
        "exit_code": "1",
        "confidence": "95%",
        "rules": "base (perfgate.toml of main)",
    }


def test_failures_of_one_name_are_told_apart_and_show_their_output() -> None:
    failures = [examples.build_failure(), examples.build_failure(status="exit 3"), missing()]
    report = examples.report("error", [], failures=failures)
    assert list(outcomes(report)) == [
        "build of head",
        "build of head (2)",
        "render: missing on head",
    ]
    error = suite_of(report).find(".//error")
    assert error is not None and "unknown type name 'size'" in (error.text or "")


def test_names_that_xml_cannot_hold_are_written_as_escapes() -> None:
    evil = "\x00\x1b[31m\ufffe\ud800 ]]> <a b='c'> & \u2028 \U0001ffff"
    report = examples.hostile()
    first = examples.regressed(
        evil, metric=evil, statistic=evil, factors={evil: evil}, reason=examples.told(evil), warnings=[Said(evil)]
    )
    report = msgspec.structs.replace(
        report,
        findings=[first, *report.findings],
        failures=[examples.build_failure(benchmark=evil, status=evil, stderr=evil, hint=evil, command=evil)],
        run=msgspec.structs.replace(report.run, created=evil),
    )
    case = suite_of(report).find("testcase")
    assert case is not None
    assert "\\x00\\x1b[31m\\ufffe\\ud800 ]]> <a b='c'> & \\u2028 \\U0001ffff" in (case.get("name") or "")


def test_a_long_report_is_shortened_name_by_name() -> None:
    report = examples.report(
        "regression", [examples.regressed("n" * 5000 + str(i), reason=examples.told("r" * 9000)) for i in range(20)],
        failures=[examples.build_failure(stderr="x" * 64_000)] * 20,
    )  # fmt: skip
    assert len(junit.render(report)) < 200_000
    assert len(outcomes(report)) == 21
