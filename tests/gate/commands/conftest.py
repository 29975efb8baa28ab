"""What the tests of commands share."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.forge.clock import hurried
from tests.support.forge.server import FakeGitHub
from tests.support.lines import builds, text


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for GitHub."""
    hurried(monkeypatch)


@pytest.fixture(scope="session")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder."""
    return tmp_path_factory.mktemp("nowhere")


@pytest.fixture(autouse=True)
def away(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    """Run commands where there is no project: the rules of this one would be read, and decide, in each of them."""
    monkeypatch.chdir(nowhere)


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    """A forge, of which nothing is asked that the real one would refuse."""
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two benchmarks: encode regresses, parse does not."""
    rng = np.random.default_rng(1)
    lines = []
    for name, change in (("encode", 1.2), ("parse", 1.0)):
        for side, mean in (("base", 0.1), ("head", 0.1 * change)):
            values = mean * rng.normal(1, 0.01, (6, 2, 5))
            lines += builds(side, values.tolist(), benchmark=name, seconds=0.6)
    run_folder = tmp_path / "run"
    run_folder.mkdir()
    (run_folder / "measurements.jsonl").write_text(text(lines))
    return run_folder
