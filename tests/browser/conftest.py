"""One Chromium for all tests of this folder, and the pages that it opens, each written once."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from gate.model import Case, Finding, Report, Sample, SideSummary
from gate.report.formats import html
from gate.report.material import Material
from tests.browser import situations
from tests.gate.report import examples
from tests.support import browser as support

Written = Callable[[str], Path]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with support.started() as started:
        yield started


@pytest.fixture(scope="package")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Write the page of an example, with values beside it."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def write(name: str) -> Path:
        report = (examples.ALL | situations.ALL)[name]()
        file = folder / f"{name}.html"
        file.write_text(html.written(report, material(report)), encoding="utf-8")
        return file

    return write


def material(report: Report) -> Material:
    """Make up the values of every finding, and the name of their file."""
    hostile = examples.HOSTILE[0]
    return Material(
        cases=[case(finding, seed) for seed, finding in enumerate(report.findings)],
        files=[f"{hostile}.jsonl".replace("/", "")],
    )


def case(finding: Finding, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    return Case(
        benchmark=finding.benchmark, metric=finding.metric, factors=finding.factors, unit=finding.unit,
        better=finding.better, exact=finding.ratio.method == "exact", decided=True, warnings=[],
        base=sample(finding.base, rng, 0), head=sample(finding.head, rng, 1),
    )  # fmt: skip


def sample(side: SideSummary, rng: np.random.Generator, first: int) -> Sample:
    builds, executions, iterations = side.counts.build, side.counts.execution, side.counts.iteration
    counts = (
        np.full(executions, iterations // executions),
        np.array([len(part) for part in np.array_split(np.arange(executions), builds)]),
        np.array([builds]),
    )
    mean = side.value if math.isfinite(side.value) else 1.0
    values = mean * (0.98 + rng.gamma(2, 0.01, int(counts[0].sum())))
    return Sample(values, counts, tuple((0, b) for b in range(builds)), np.arange(executions) * 2 + first)
