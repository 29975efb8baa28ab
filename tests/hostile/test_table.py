"""The table of docs/security.md names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_named_test_exists() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    files = set(re.findall(r"tests/[\w/]+\.py", page))
    assert files
    assert [each for each in files if not (ROOT / each).is_file()] == []
    every = "".join(each.read_text(encoding="utf-8") for each in (ROOT / "tests").rglob("test_*.py"))
    names = set(re.findall(r"`(test_\w+)`", page))
    assert [each for each in names if f"def {each}(" not in every] == []
