"""A repository with submodules."""

from pathlib import Path

import pytest

from tests.harness.conftest import Checkout


@pytest.fixture
def nested(checkout: Checkout, tmp_path: Path) -> Checkout:
    """A checkout with a submodule that has a submodule, both with two commits, base and head at one each."""
    inner, middle = Checkout(tmp_path / "inner repo"), Checkout(tmp_path / "middle")
    for each in (inner, middle):
        each.path.mkdir()
        each.git("init", "-q", "-b", "main")
    inner.commit(deep="1")
    middle.git("submodule", "--quiet", "add", str(inner.path), "nested dir")
    middle.commit(file="1")
    checkout.git("submodule", "--quiet", "add", "../middle", "libs/middle")
    checkout.git("submodule", "--quiet", "update", "--init", "--recursive")
    checkout.commit(a="1")
    inner.commit(deep="2")
    middle.git("-C", "nested dir", "pull", "-q", "origin", "main")
    middle.git("add", "nested dir")
    middle.git("commit", "-q", "-m", "new", "--", "nested dir")
    checkout.git("-C", "libs/middle", "pull", "-q", "origin", "main")
    checkout.git("-C", "libs/middle", "submodule", "--quiet", "update", "--init", "--recursive")
    checkout.commit(a="2")
    return checkout
