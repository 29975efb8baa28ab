"""Cases and findings to draw, and what must hold of every picture."""

import math
import re
from xml.etree import ElementTree

import numpy as np
from msgspec.structs import replace

from gate.model import Case, Finding, LevelCounts, Sample, SideSummary
from gate.plots.picture import Picture
from gate.stats.rounding import Array
from tests.gate.report import examples

SVG = "{http://www.w3.org/2000/svg}"
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")


def sample(values: Array, builds: int, executions: int, orders: list[int] | None = None, sessions: int = 1) -> Sample:
    """Nest values evenly: as many iterations as there are."""
    iterations = values.size // (builds * executions)
    return Sample(
        values,
        (np.full(builds * executions, iterations), np.full(builds, executions), np.full(sessions, builds // sessions)),
        tuple((k // (builds // sessions), k % (builds // sessions)) for k in range(builds)),
        None if orders is None else np.array(orders),
    )


def case(base: Sample, head: Sample, unit: str = "s", metric: str = "time", benchmark: str = "parse-large") -> Case:
    """Both sides of a case; without orders of their own they took turns."""
    base, head = (
        side if side.orders is not None else replace(side, orders=2 * np.arange(side.counts[0].size) + k)
        for k, side in enumerate((base, head))
    )
    return Case(
        benchmark=benchmark, metric=metric, factors={}, unit=unit, better="lower", exact=False, decided=True,
        base=base, head=head, warnings=[],
    )  # fmt: skip


def finding(of: Case, half: float | None = 0.01, builds: int | None = None) -> Finding:
    """A finding over all builds, or over so many of them."""
    base, head = (_summary(side, half, builds or len(side.builds)) for side in (of.base, of.head))
    return examples.finding(of.benchmark, metric=of.metric, unit=of.unit, base=base, head=head)


def _summary(of: Sample, half: float | None, builds: int) -> SideSummary:
    value = float(np.mean(of.values / of.values.size) * of.values.size)
    return replace(
        examples.side(value),
        counts=LevelCounts(session=1, build=builds, execution=of.counts[0].size, iteration=of.values.size),
        low=None if half is None else value - half * abs(value),
        high=None if half is None else value + half * abs(value),
    )


def texts(picture: Picture) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")]


def paths(picture: Picture, name: str) -> list[str]:
    """The paths of a class."""
    found = ElementTree.fromstring(picture.svg).iter(f"{SVG}path")
    return [path.get("d", "") for path in found if f"p-{name}" in path.get("class", "").split()]


def marks(picture: Picture, name: str) -> int:
    """How many separate shapes there are of a class."""
    return sum(path.count("m") for path in paths(picture, name))


def assert_sound(picture: Picture, prefix: str) -> None:
    """A picture is one well-formed element that needs nothing from outside, and all that it draws lies on the sheet."""
    root = ElementTree.fromstring(picture.svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    ids = [identity for element in root.iter() if (identity := element.get("id"))]
    assert len(set(ids)) == len(ids)
    assert all(identity.startswith(prefix) for identity in ids)
    assert set((root.get("aria-labelledby") or "").split()) <= set(ids)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "path", "text",
    }  # fmt: skip
    without = picture.svg.replace("http://www.w3.org/2000/svg", "")
    for foreign in ("http", "url(", "href", "<?", "<!", "metadata", "style="):
        assert foreign not in re.sub(r"<(text|title|desc)[^>]*>[^<]*", "", without), foreign
    assert not re.search(r"#[0-9a-f]{3,6}[;}\"]", "".join(root.itertext())), "a colour that the page does not choose"
    width, height = map(float, (root.get("viewBox") or "").split()[2:])
    for path in root.iter(f"{SVG}path"):
        for x, y in corners(path.get("d", "")):
            assert -8 <= x <= width + 8
            assert -8 <= y <= height + 8
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x", "nan")) <= width
        assert 0 <= float(text.get("y", "nan")) <= height
    assert "nan" not in picture.caption.split()


def corners(path: str) -> list[tuple[float, float]]:
    """The points of a path of relative lines."""
    x = y = 0.0
    begin = (x, y)
    found = []
    for command, numbers in re.findall(r"([mlhvz])([^mlhvz]*)", path):
        steps = [float(number) for number in _NUMBER.findall(numbers)]
        if command == "z":
            x, y = begin
            continue
        dx, dy = {"h": (steps[0], 0.0), "v": (0.0, steps[0])}.get(command) or (steps[0], steps[1])
        x, y = x + dx, y + dy
        if command == "m":
            begin = (x, y)
        assert math.isfinite(x)
        assert math.isfinite(y)
        found.append((x, y))
    return found
