"""Every command and setting that a text of ours names between backticks is one that there is."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.cli.command import command_names
from gate.cli.main import _EndError, _invocation, _parsed, _parser
from gate.cli.options import options_of
from gate.config.resolve import tables_of

ROOT = Path(__file__).parents[3]
SPAN = re.compile(r"`((?:perfgate |--set )[^`]*)`")
HOLE = "{}"
"""What a text has from elsewhere: a name, or options."""


def texts() -> Iterator[str]:
    """The strings of the source, with a hole for each part that is put in."""
    for file in [*ROOT.glob("gate/**/*.py"), *ROOT.glob("harness/**/*.py")]:
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "`perfgate " in source or "`--set " in source else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else HOLE for each in node.values)


@pytest.fixture(scope="module")
def spans() -> list[str]:
    return sorted({" ".join(span.split()) for text in texts() for span in SPAN.findall(text)} - {f"perfgate {HOLE}"})


def is_one(words: list[str]) -> bool:
    """Whether a command line can be parsed, asks for help, or names a command and no more."""
    if len(words) == 1 and words[0] in command_names():
        return True
    try:
        named = _invocation(words)
        options_of(named.command.options, _parsed(_parser(named), named))
    except _EndError:
        return "--help" in words
    return True


def test_commands_that_are_named_are_some(spans: list[str]) -> None:
    named = [span for span in spans if span.startswith("perfgate ")]
    assert named
    for span in named:
        tried = [shlex.split(span.replace(HOLE, hole).replace("...", ""))[1:] for hole in ("X", "")]
        assert any(map(is_one, tried)), span


def test_settings_that_are_named_are_some(spans: list[str]) -> None:
    named = [span for span in spans if span.startswith("--set ") and HOLE not in span]
    assert named
    for span in named:
        words = [word for word in shlex.split(span) if word != "--set"]
        tables_of([word.replace("=N", "=3") for word in words])
