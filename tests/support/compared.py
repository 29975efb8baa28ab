"""The CSV of a comparison, whose lines are one for each row and column, as one dict for each row."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gate.cli.main import main
from tests.support.screen import Terminal


def compare(*argv: str) -> tuple[int, str, str]:
    """Run `perfgate compare` in process; return the exit code, the output and the errors."""
    out, err = io.StringIO(), io.StringIO()
    return main(["compare", *argv], out, err), out.getvalue(), err.getvalue()


def shown(*argv: str) -> str:
    """Return the output of a comparison that succeeds and complains of nothing."""
    code, out, err = compare(*argv)
    assert (code, err) == (0, "")
    return out


def in_terminal(*argv: str, width: int = 100) -> str:
    """Return what a terminal of a width, without colour, shows of it."""
    out = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", str(width))
        assert main(["compare", *argv], out, io.StringIO()) == 0
    return out.getvalue()


def hyperfine(path: Path, values: Mapping[str, Sequence[float]]) -> str:
    """Write a result file of hyperfine."""
    results = [{"command": name, "mean": sum(own) / len(own), "times": own} for name, own in values.items()]
    path.write_text(json.dumps({"results": results}), encoding="utf-8")
    return str(path)


def rows(*argv: str) -> list[dict[str, str]]:
    """Return the lines of its CSV."""
    return list(csv.DictReader(io.StringIO(shown(*argv, "--format", "csv"), newline=""), strict=True))


def rows_of(text: str) -> list[dict[str, str]]:
    """Put the lines of a row together: the column "base" as base, base_low, ..., what differs from it as head."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for line in csv.DictReader(io.StringIO(text, newline=""), strict=True):
        key = tuple(line[name] for name in ("row", "benchmark", "metric", "unit", "better", "statistic", "factors"))
        row = found.setdefault(key, {name: line[name] for name in list(line)[:7]} | {"notes": "", "change": ""})
        side = line["column"]
        row |= {side: line["value"]} | {f"{side}_{name}": line[name] for name in ("low", "high", "sd", "builds")}
        if line["base"]:
            row |= {name: line[name] for name in ("ratio", "ratio_low", "ratio_high", "confidence", "change")}
        row["notes"] = "; ".join(filter(None, (row["notes"], line["notes"])))
    return list(found.values())
