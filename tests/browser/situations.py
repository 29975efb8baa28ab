"""Reports whose numbers and names are hard to draw."""

from msgspec.structs import replace

from gate.model import Finding, Report, Verdict
from tests.gate.report import examples


def _named(count: int) -> list[Finding]:
    names = [f"service/very-long-name-of-a-suite/of/benchmarks/{'x' * (k % 50)}/case-{k:02}" for k in range(count)]
    verdicts: tuple[Verdict, ...] = ("regression", "inconclusive", "accepted", "improvement", "unchanged", "no-sign")
    return [
        examples.finding(name, verdicts[k % len(verdicts)], estimate=1 + (k - 30) / 200, half=0.01)
        for k, name in enumerate(names)
    ]


def sixty() -> Report:
    """Give sixty findings of all verdicts with very long names."""
    return examples.report("regression", _named(60))


def changes() -> Report:
    """Give one finding a size of change, from a thousandth of a percent to tens of thousands of times."""
    estimates = (81_908.9, 2e6, 12.0, 1.00001, 0.99999, 1 / 82_000)
    found = [
        examples.regressed(f"times {estimate:g}", estimate=estimate, half=estimate / 10)
        if estimate > 1.01
        else examples.finding(f"times {estimate:g}", estimate=estimate, half=estimate / 1e5)
        for estimate in estimates
    ]
    return examples.report("regression", found)


def changed_little() -> Report:
    """Give changes of a thousandth of a percent alone."""
    found = [examples.finding(f"calm-{k}", estimate=1 + k * 1e-5, half=2e-5, threshold=0.0005) for k in range(4)]
    return examples.report("pass", found)


def negative() -> Report:
    """Give values below zero, of which there is no ratio."""
    of = examples.withheld()
    sides = {"base": examples.side(-12.5, 0.01), "head": examples.side(-123_456.7, 0.01)}
    ratio = replace(of.ratio, estimate=None, low=None, high=None, kind="withheld")
    return examples.report("inconclusive", [replace(of, unit="", ratio=ratio, **sides)])


ALL = {"sixty": sixty, "changes": changes, "changed_little": changed_little, "negative": negative}

MOST_KINDS = ("regression", "failures", "explained", "hostile", "views")
"""Examples that hold every element of the page between them."""
