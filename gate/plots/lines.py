"""A line chart as SVG: lines told apart by colour, dash and mark, with a title and a description for screen readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

import msgspec

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 44, 48
_LEGEND = 190
_TICKS = 6

# dark enough on white and, in the dark scheme, light enough on black; told apart by dash and mark too
_LIGHT = ("#0b5cad", "#b3400a", "#3b7a1e", "#7a3fa0", "#8a6100", "#b01657")
_DARK = ("#6cb2ff", "#ff9d66", "#8fd46b", "#cfa2f0", "#e3bd4f", "#ff8fb8")
_MARKS = 4
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 4")


class Line(msgspec.Struct, frozen=True):
    """One line: its name, and its points from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]


class Chart(msgspec.Struct, frozen=True):
    """What a chart shows."""

    title: str
    description: str
    """Its description, for screen readers."""
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    percent: bool = True
    """Whether y is a share."""
    log: bool = False
    """Whether x is spaced by its logarithm."""
    guide: float | None = None
    """A y value to draw a thin line at."""
    y_range: tuple[float, float] | None = None
    x_ticks: tuple[float, ...] | None = None
    """None for those of the points."""


class _Axis(msgspec.Struct, frozen=True):
    """A scale from data to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        span = high - low or 1.0
        return self.start + (value - low) / span * (self.end - self.start)


def line_chart(chart: Chart) -> str:
    """Draw a chart as a whole SVG document, ending in a newline."""
    points = [point for line in chart.lines for point in line.points]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = chart.y_range or (min(0.0, *ys), max(ys))
    y_ticks = _round_ticks(low, high)
    x = _Axis(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT - _LEGEND, chart.log)
    y = _Axis(y_ticks[0], y_ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        *_head(chart),
        *_grid(chart, x, y, chart.x_ticks or sorted(set(xs)), y_ticks),
        *(part for k, line in enumerate(chart.lines) for part in _line(line, k, x, y)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(chart: Chart) -> list[str]:
    colours = [(k, light, dark) for k, (light, dark) in enumerate(zip(_LIGHT, _DARK, strict=True))]
    light = "".join(f".l{k}{{stroke:{colour}}}.f{k}{{fill:{colour}}}" for k, colour, _ in colours)
    dark = "".join(f".l{k}{{stroke:{colour}}}.f{k}{{fill:{colour}}}" for k, _, colour in colours)
    return [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" role="img" aria-labelledby="title desc">'
        ),
        f'<title id="title">{escape(chart.title)}</title>',
        f'<desc id="desc">{escape(chart.description)}</desc>',
        "<style>",
        "text{font:13px system-ui,sans-serif;fill:#1f2328}.h{font-weight:600;font-size:15px}",
        ".b{fill:#fff}.g{stroke:#d1d9e0}.a{stroke:#59636e}.u{stroke:#59636e;stroke-dasharray:3 3}",
        ".l{fill:none;stroke-width:2}.m{stroke:none}",
        light,
        "@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.b{fill:#0d1117}.g{stroke:#3d444d}",
        f".a,.u{{stroke:#9198a1}}{dark}}}",
        "</style>",
        f'<rect class="b" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="h" x="{_LEFT}" y="24">{escape(chart.title)}</text>',
    ]


def _grid(chart: Chart, x: _Axis, y: _Axis, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> list[str]:
    parts = []
    for tick in y_ticks:
        at = _px(y.at(tick))
        parts.append(f'<line class="g" x1="{_px(x.start)}" x2="{_px(x.end)}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at}" dy="4" text-anchor="end">{_label(tick, chart.percent)}</text>')
    for tick in x_ticks:
        at = _px(x.at(tick))
        parts.append(f'<line class="a" x1="{at}" x2="{at}" y1="{_px(y.start)}" y2="{_px(y.start + 5)}"/>')
        parts.append(f'<text x="{at}" y="{_px(y.start + 19)}" text-anchor="middle">{tick:g}</text>')
    if chart.guide is not None:
        at = _px(y.at(chart.guide))
        parts.append(f'<line class="u" x1="{_px(x.start)}" x2="{_px(x.end)}" y1="{at}" y2="{at}"/>')
    middle_x, middle_y = _px((x.start + x.end) / 2), _px((y.start + y.end) / 2)
    parts += [
        f'<line class="a" x1="{_px(x.start)}" x2="{_px(x.end)}" y1="{_px(y.start)}" y2="{_px(y.start)}"/>',
        f'<text x="{middle_x}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(chart.x_label)}</text>',
        f'<text transform="translate(16 {middle_y}) rotate(-90)" text-anchor="middle">{escape(chart.y_label)}</text>',
    ]
    return parts


def _line(line: Line, k: int, x: _Axis, y: _Axis) -> list[str]:
    kind = k % len(_LIGHT)
    places = [(x.at(a), y.at(min(max(b, y.low), y.high))) for a, b in line.points]
    path = " ".join(f"{_px(a)},{_px(b)}" for a, b in places)
    dash = f' stroke-dasharray="{_DASHES[kind]}"' if _DASHES[kind] else ""
    legend_x, legend_y = _WIDTH - _RIGHT - _LEGEND + 20, _TOP + 8 + 22 * k
    return [
        f'<polyline class="l l{kind}"{dash} points="{path}"/>',
        *(_mark(kind, a, b) for a, b in places),
        f'<line class="l l{kind}"{dash} x1="{legend_x}" x2="{legend_x + 30}" y1="{legend_y}" y2="{legend_y}"/>',
        _mark(kind, legend_x + 15, legend_y),
        f'<text x="{legend_x + 38}" y="{legend_y}" dy="4">{escape(line.name)}</text>',
    ]


def _mark(kind: int, x: float, y: float) -> str:
    if kind % _MARKS == 0:
        return f'<circle class="m f{kind}" cx="{_px(x)}" cy="{_px(y)}" r="3.5"/>'
    if kind % _MARKS == 1:
        return f'<rect class="m f{kind}" x="{_px(x - 3.5)}" y="{_px(y - 3.5)}" width="7" height="7"/>'
    triangle, diamond = ((0, -4.5), (4.5, 3.5), (-4.5, 3.5)), ((0, -5), (5, 0), (0, 5), (-5, 0))
    corners = " ".join(f"{_px(x + a)},{_px(y + b)}" for a, b in (triangle if kind % _MARKS == 2 else diamond))
    return f'<polygon class="m f{kind}" points="{corners}"/>'


def _round_ticks(low: float, high: float) -> list[float]:
    """Choose about six round numbers that reach from low to high, ends included."""
    span = high - low or 1.0
    power = 10 ** math.floor(math.log10(span / (_TICKS - 1)))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if span / (m * power) <= _TICKS - 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, last + 1)]


def _label(tick: float, percent: bool) -> str:
    return f"{tick * 100:.6g}%" if percent else f"{tick:.6g}"


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
