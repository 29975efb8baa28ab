"""The runner for the tests below: found or skipped, with stand-ins for the actions that cannot be fetched."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.act.consumer import Consumer
from tests.e2e.act.runner import HERE, ROOT, Act, export, find_act, pins
from tests.support.forge import FakeGitHub


@pytest.fixture(scope="session")
def program() -> Path:
    found = find_act()
    if found is None:
        pytest.skip("no act: `make tools` installs it, or PERFGATE_TEST_ACT names it")
    return found


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The actions that a workflow can use, by owner/name@ref."""
    action = export(tmp_path_factory.mktemp("action"))
    templates = sorted((ROOT / "templates" / "workflows").glob("*.yml"))
    pinned = {
        f"actions/{name}@{ref}": HERE / "actions" / name for name, ref in pins(ROOT / "action.yml", *templates).items()
    }
    return {"acme/perfgate@v1": action, "perfgate/perfgate@v1": action, **pinned}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    # a token of its own: another test's is in the environment of its own processes
    with FakeGitHub(token=f"ghs_{secrets.token_hex(16)}") as made:
        yield made


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the runner's user, one for all tests: what draws plots looks for fonts there, once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def act(program: Path, repositories: dict[str, Path], github: FakeGitHub, home: Path, tmp_path: Path) -> Act:
    return Act(program, github, tmp_path / "act", home, dict(repositories))


@pytest.fixture
def consumer(github: FakeGitHub, tmp_path: Path) -> Consumer:
    return Consumer(tmp_path / "widget", github)
