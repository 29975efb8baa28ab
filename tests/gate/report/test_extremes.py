"""Ratios of any size are words in every format for people: nobody reads a number of 120 digits."""

import html as entities
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gate.model import Finding, QuantileCurve, QuantileEffect, Report
from gate.report import junit
from gate.report.markdown import comment, summary
from gate.report.measurements import Material
from gate.report.page import html
from gate.report.text import terminal
from gate.words import findings, numbers
from gate.writing import amounts
from tests.gate.report import examples

HUGE, TINY = 3e120, 3e-120
MORE, LESS = "more than 10^6 times", "less than a millionth"
FORMATS: dict[str, Callable[[Report], str]] = {
    "text": lambda report: terminal.render(report, width=200),
    "comment": comment.render,
    "summary": summary.render,
    "junit": junit.render,
    "page": lambda report: re.sub(r"<script.*?</script>", "", html.render(report, Material()), flags=re.DOTALL),
}


def extreme(name: str, verdict: str, ratio: float) -> Finding:
    limits = {"estimate": ratio, "low": ratio / 2, "high": ratio * 2}
    found = examples.finding(name, verdict, estimate=1.5, value=1.0)  # type: ignore[arg-type]  # of the parameters
    return replace(
        found,
        ratio=replace(found.ratio, **limits),
        decided_at=replace(found.decided_at, low=ratio / 3, high=ratio * 3),
        head=replace(found.head, value=ratio, low=ratio / 2, high=ratio * 2),
    )


def report() -> Report:
    found = [
        extreme("slow", "regression", HUGE),
        extreme("fast", "improvement", TINY),
        extreme("open", "inconclusive", HUGE),
        extreme("down", "inconclusive", TINY),
    ]
    effects = [QuantileEffect(tau=tau, ratio=HUGE, low=TINY, high=2 * HUGE) for tau in (0.1, 0.5, 0.9)]
    curve = QuantileCurve(benchmark="slow", metric="time", factors={}, effects=effects)
    return replace(examples.report("regression", found), curves=[curve])


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_has_an_endless_number(name: str) -> None:
    text = entities.unescape(FORMATS[name](report())).replace("\N{NO-BREAK SPACE}", " ").replace("\\^", "^")
    for run in re.findall(r"[\d,.]{16,}", text):
        assert set(run) & set(".") and len(run) < 20, run
    assert MORE in text
    assert LESS in text


def test_sentences() -> None:
    slow, fast, open_, down = report().findings
    assert findings.conclusion(slow).startswith("more than 10^6 times slower (at least 10^6 times), threshold 3%")
    assert findings.conclusion(fast).startswith("less than a millionth of base (at least 99.9999% faster), threshold")
    assert findings.conclusion(open_).startswith("more than 10^6 times slower (more than 10^6 times), threshold")
    assert findings.conclusion(down).startswith("less than a millionth of base (more than 99.9999%), threshold")


@pytest.mark.parametrize(
    ("ratio", "said", "drawn", "as_ratio"),
    [
        (HUGE, MORE, "> 10⁶ ×", "more than 10^6"),
        (1.1e6, MORE, "> 10⁶ ×", "more than 10^6"),
        (9e5, "900,000 times", "900,000 ×", "900000.0000"),
        (TINY, LESS, "< 10⁻⁶ ×", "less than 10^-6"),
        (2e-6, "-99.9998%", "-99.9998%", "0.0000"),
        (0.0, "-100%", "-100%", "0.0000"),
        (1.051, "+5.1%", "+5.1%", "1.0510"),
    ],
)
def test_a_change(ratio: float, said: str, drawn: str, as_ratio: str) -> None:
    assert numbers.effect(ratio) == said
    assert amounts.drawn(ratio) == drawn
    assert amounts.format_ratio(ratio) == as_ratio
