import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from gate.model import Failure, Report
from gate.model.warnings.base import Said
from gate.model.warnings.measured import MissingAllowed
from gate.report.formats import junit
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
    return ET.fromstring(junit.written(report).encode())


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
def test_it_has_the_structure_that_jenkins_wants_and_totals_of_its_test_cases(name: str) -> None:
    report = examples.ALL[name]()
    for element in parsed(report).iter():
        required, optional, children = SCHEMA[element.tag]
        assert required <= element.attrib.keys() <= required | optional
        assert {child.tag for child in element} <= children
        assert TIME.fullmatch(element.get("time", ""))
        assert not children or not (element.text or "").strip()
    suite = suite_of(report)
    found = list(outcomes(report).values())
    assert len(found) == len(list(suite.iter("testcase"))), "names are unique"
    assert suite.get("tests") == str(len(found))
    for attribute, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(found.count(outcome))


def missing(**changes: Any) -> Failure:
    return Failure(**({"kind": "missing", "benchmark": "render", "side": "head"} | changes))


def lenient() -> Any:
    return {
        "policy": examples.policy(gate={"missing": "pass", "confidence": 0.95}),
        "warnings": [MissingAllowed(("render",), None)],
    }


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
    "missing does not count": lambda: examples.report("pass", [UNCHANGED], failures=[missing()], **lenient()),
    "an override has it count": lambda: examples.report(
        "error", [UNCHANGED], failures=[missing()], policy=lenient()["policy"]
    ),
    "a shard is missing": lambda: examples.report("error", [UNCHANGED], failures=[missing(benchmark=None)], **lenient()),
    "all are missing and none counts": lambda: examples.report("error", [], failures=[missing()], **lenient()),
    "nothing was measured": examples.nothing,
    "only new ones": lambda: examples.report("error", [], new=["x"]),
}  # fmt: skip


def test_it_is_green_exactly_when_the_exit_code_is_0() -> None:
    for name, made in DECISIONS.items():
        found = outcomes(made())
        assert found, name
        assert (made().exit_code == 0) == (not {"failure", "error"} & set(found.values())), name


def test_what_each_verdict_becomes() -> None:
    def of(report: Report) -> list[str]:
        return [f"{name.removesuffix(': time mean')} {outcome}" for name, outcome in outcomes(report).items()]

    assert of(DECISIONS["inconclusive fails"]()) == ["b failure", "c skipped", "a passed"]
    assert of(DECISIONS["an override has it count"]()) == ["a passed", "render: missing on head error"]
    assert of(DECISIONS["missing does not count"]()) == ["a passed", "render: missing on head skipped"]
    assert of(examples.nothing()) == ["measured error"]
    # no sign of a change passes, and so does what cannot differ
    assert of(examples.report("pass", [examples.no_sign("a")])) == ["a passed"]
    assert of(examples.report("pass", [], identical=[examples.identical("a")])) == ["a passed"]
    assert {"encode [size=10, kind=a]: instructions mean", "load: latency p99"} <= outcomes(examples.metrics()).keys()


def test_failures_of_one_name_are_told_apart_show_their_output_and_are_shortened_name_by_name() -> None:
    failures = [examples.build_failure(), examples.build_failure(status="exit 3"), missing()]
    report = examples.report("error", [], failures=failures)
    assert list(outcomes(report)) == ["build of head", "build of head (2)", "render: missing on head"]
    error = suite_of(report).find(".//error")
    assert error is not None and "unknown type name 'size'" in (error.text or "")
    long = [examples.regressed("n" * 5000 + str(i), reason=examples.told("r" * 9000)) for i in range(20)]
    report = examples.report("regression", long, failures=[examples.build_failure(stderr="x" * 64_000)] * 20)
    assert len(junit.written(report)) < 200_000
    assert len(outcomes(report)) == 21


def test_names_that_xml_cannot_hold_are_written_as_escapes() -> None:
    evil = "\x00\x1b[31m\ufffe\ud800 ]]> <a b='c'> & \u2028 \U0001ffff"
    said = {"reason": examples.told(evil), "warnings": [Said(evil)]}
    first = examples.regressed(evil, metric=evil, statistic=evil, factors={evil: evil}, **said)
    failure = examples.build_failure(**dict.fromkeys(("benchmark", "status", "stderr", "hint", "command"), evil))
    run = examples.run_facts(created=evil)
    case = suite_of(examples.report("regression", [first], failures=[failure], run=run)).find("testcase")
    assert case is not None
    assert "\\x00\\x1b[31m\\ufffe\\ud800 ]]> <a b='c'> & \\u2028 \\U0001ffff" in (case.get("name") or "")
