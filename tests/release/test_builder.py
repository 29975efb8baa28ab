"""A release is built by the locked hatchling, with all that it needs."""

from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.release.packages import LOCK, locked

ROOT = Path(__file__).parents[2]


def test_nothing_that_it_needs_is_missing() -> None:
    found = locked("hatchling", (ROOT / LOCK).read_text(encoding="utf-8"))
    for name in found:
        needed = [Requirement(text) for text in requires(name) or []]
        # without what an extra needs, and what only another Python does
        names = {
            canonicalize_name(each.name) for each in needed if not each.marker or each.marker.evaluate({"extra": ""})
        }
        assert names <= found.keys(), name
    assert 1 < len(found) < 10 and all("--hash=sha256:" in entry for entry in found.values())
