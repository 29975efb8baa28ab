"""No condition reads a sentence: with every sentence replaced by nonsense what has a structure shows the same decisions.

What is said is found by looking, so that a sentence that is added is replaced as well: what the types of gate.model say, and
each function of gate.words that returns a text (but for those that write numbers and names), wherever it was imported.
"""

import functools
import hashlib
import importlib
import inspect
import io
import json as plain
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import gate.model
import gate.words
from gate.cli.main import main
from gate.model import Report
from gate.report import json
from gate.report.formats import junit
from gate.report.page import html
from gate.words import verdict_line
from gate.writing.sentences import Sentence
from tests.gate.report import examples
from tests.support.lines import builds
from tests.support.lines import text as lines_of

NO_SENTENCES = {"gate.words.numbers", "gate.document.terminal", "gate.words.streams", "gate.words.bars"}
"""The modules that write numbers, lay out lines, and mark verdicts."""


def nonsense(said: str) -> str:
    """Give letters without a meaning, other ones for another text; nothing stays nothing."""
    return " ".join(re.findall("[a-z]+", hashlib.sha256(said.encode()).hexdigest())) if said else said


def _spoilt(function: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(function)
    def spoilt(*args: Any, **kwargs: Any) -> str:
        return nonsense(function(*args, **kwargs))

    return spoilt


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(gate.words.__path__, "gate.words."):
        if found.name not in NO_SENTENCES:
            yield importlib.import_module(found.name)


def _functions(module: Any) -> Iterator[Callable[..., str]]:
    """The functions of a module that return a text."""
    for function in vars(module).values():
        ours = inspect.isfunction(function) and function.__module__ == module.__name__
        if ours and inspect.signature(function).return_annotation == "str":
            yield function


def _types() -> Iterator[type]:
    """The types that say something of themselves."""
    for found in pkgutil.walk_packages(gate.model.__path__, "gate.model."):
        yield from (
            each
            for each in vars(importlib.import_module(found.name)).values()
            if inspect.isclass(each) and each.__module__ == found.name
        )


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Replace every sentence; return how many functions and methods say one."""
    return functools.partial(_spoil, monkeypatch)


def _spoil(monkeypatch: pytest.MonkeyPatch) -> int:
    spoilt = {id(function): _spoilt(function) for module in _modules() for function in _functions(module)}
    # also where a renderer has imported one by its name
    for module in [module for name, module in sys.modules.items() if name.startswith("gate.")]:
        for name, value in list(vars(module).items()):
            if inspect.isfunction(value) and id(value) in spoilt:
                monkeypatch.setattr(module, name, spoilt[id(value)])
    said = {
        (kind, name)
        for kind in (*_types(), Sentence)
        for name in ("sentence", "ending", "__str__")
        if name in vars(kind)
    }
    for kind, name in said:
        monkeypatch.setattr(kind, name, _spoilt(vars(kind)[name]))
    return len(spoilt) + len(said)


# --- what of a format is no sentence ----------------------------------------------------------------------------------

KINDS = r"regression|inconclusive|accepted|improvement|no-sign|unchanged"


def of_junit(report: Report) -> list[Any]:
    root = ET.fromstring(junit.written(report))
    return [
        [root.attrib, *(suite.attrib for suite in root)],
        [(case.get("classname"), [(e.tag, e.get("type")) for e in case]) for case in root.iter("testcase")],
    ]


def of_json(report: Report) -> Any:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key != "text"}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(plain.loads(json.render(report)))


def of_page(report: Report) -> list[Any]:
    page = html.render(report)
    return [
        re.findall(r'<(\w+)[^>]* id="([^"]+)"', page),
        re.findall(rf'(?:class="badge |data-verdict=")({KINDS})', page),
        re.findall(r"<h2[^>]*>([^<]*)</h2>", page),
        page.count("<li"),
    ]


FORMATS: dict[str, Callable[[Report], Any]] = {"junit": of_junit, "json": of_json, "html": of_page}


@pytest.mark.nightly
def test_nonsense_decides_nothing(spoil: Callable[[], int]) -> None:
    reports = {name: made() for name, made in examples.ALL.items() if name != "many"}

    def all_shown() -> dict[str, Any]:
        return {f"{name} as {form}": shown(reports[name]) for name in reports for form, shown in FORMATS.items()}

    before, sense = all_shown(), {name: verdict_line.text(report) for name, report in reports.items()}
    assert spoil() > 100
    assert all_shown() == before
    assert [name for name, report in reports.items() if verdict_line.text(report) == sense[name]] == []


@pytest.mark.parametrize("ratio", [1.0, 1.04, 1.5])
def test_a_gate_ends_as_it_would(ratio: float, tmp_path: Path, spoil: Callable[[], int]) -> None:
    values = (0.1, 0.101, 0.0995, 0.1005, 0.102)
    lines = [*builds("base", [[[v]] for v in values]), *builds("head", [[[v * ratio]] for v in values[::-1]])]
    (tmp_path / "m.jsonl").write_text(lines_of(lines))

    def ended() -> list[Any]:
        paths = [str(tmp_path / "m.jsonl"), "--json", str(tmp_path / "r.json")]
        code = main(["decide", *paths, "--set", "gate.inconclusive=fail"], io.StringIO(), io.StringIO())
        found = plain.loads((tmp_path / "r.json").read_text())
        return [code, found["verdict"], [f["verdict"] for f in found["findings"]], found["exit_code"]]

    before, reason = ended(), examples.regressed().reason
    sense = reason.sentence()
    spoil()
    assert ended() == before
    assert sense not in reason.sentence() and not re.search(r"threshold|\d", reason.sentence())
