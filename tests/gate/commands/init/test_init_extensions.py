"""perfgate init on a setup.py: whether it compiles extensions when no variable asks for them."""

import pytest

from gate.commands.init.detect.extensions import asked_for, by_default
from tests.support.initialized import Project, detected

SETUP = "import os\nfrom setuptools import Extension, setup\next_modules = []\nif {test}:\n    ext_modules = [Extension('a', ['a.c'])]\nsetup(ext_modules=ext_modules)\n"


@pytest.mark.parametrize(
    ("test", "variables"),
    [
        ('os.environ.get("TOMLI_USE_MYPYC") == "1"', ["TOMLI_USE_MYPYC"]),
        ('os.getenv("WITH_EXT")', ["WITH_EXT"]),
        ('os.getenv("WITH_EXT", "0") != "0"', ["WITH_EXT"]),
        ('"WITH_EXT" in os.environ', ["WITH_EXT"]),
        ('sys.platform == "linux" and os.environ.get("WITH_EXT")', ["WITH_EXT"]),
        # compiled unless a variable says otherwise, or by what is not known here
        ('not os.environ.get("NO_EXT")', []),
        ('os.getenv("EXT", "1") == "1"', []),
        ('"NO_EXT" not in os.environ', []),
        ("sys.implementation.name == 'cpython'", []),
        ('sys.argv[1] == "x" or os.environ.get("WITH_EXT")', []),
    ],
)
def test_extensions_that_a_variable_asks_for(test: str, variables: list[str]) -> None:
    text = SETUP.format(test=test)
    assert asked_for(text) == variables
    assert bool(by_default(text)) is not bool(variables)


def test_the_other_branch_may_be_the_one_that_compiles() -> None:
    text = "if os.environ.get('PURE'):\n    x = []\nelse:\n    x = cythonize('a.pyx')\nsetup(ext_modules=x)\n"
    assert asked_for(text) == []
    assert "cythonize" in by_default(text)


@pytest.mark.parametrize("text", ["", "setup(", "setup(ext_modules=make_them())\n", "\0"])
def test_what_is_not_understood_stays_as_it_is(text: str) -> None:
    assert by_default(text) == text
    assert asked_for(text) == []


def test_nothing_is_built_of_extensions_that_nobody_asked_for(project: Project) -> None:
    files = {"bench.py": "print(1)\n", "src/a/__init__.py": "", "a.c": ""}
    found = detected(project({**files, "setup.py": SETUP.format(test='os.environ.get("WITH_EXT") == "1"')}))
    assert found.build is None
    assert found.environment == {"PYTHONPATH": "src"}
    assert "setup.py compiles extensions only if WITH_EXT is set, so the Python code is measured" in found.notes[0]


def test_those_that_are_always_made_are_built(project: Project) -> None:
    files = {"bench.py": "print(1)\n", "src/a/__init__.py": "", "a.c": ""}
    found = detected(project({**files, "setup.py": SETUP.format(test="True")}))
    assert found.build is not None
    assert found.notes == []
