"""Loaded into pytest: a test that is only marked as a benchmark is measured as a whole, as pytest-codspeed does it.

That is a function of a file in which no test asks for the fixture: where one does, the mark gives it options.
"""

import inspect
import unittest
from importlib import import_module
from typing import Any

# of the project's environment: nothing that perfgate itself depends on
_TOOL = "pytest"
pytest: Any = import_module(_TOOL)
_MARKS = ("benchmark", "codspeed_benchmark")
_FIXTURE = "benchmark"
_OWN = "_perfgate_marked"


def _file(item: Any) -> str:
    return str(item.nodeid).partition("::")[0]


def _is_marked(item: Any) -> bool:
    of_unittest = getattr(item, "cls", None) is not None and issubclass(item.cls, unittest.TestCase)
    plain = isinstance(item, pytest.Function) and not of_unittest and not inspect.iscoroutinefunction(item.obj)
    return plain and any(map(item.get_closest_marker, _MARKS))


class _Marked:
    """Gives them the fixture, without which pytest-benchmark skips them."""

    def pytest_collection_modifyitems(self, items: "list[Any]") -> None:
        asking = {_file(item) for item in items if _FIXTURE in getattr(item, "fixturenames", ())}
        for item in items:
            if _file(item) in asking or not _is_marked(item):
                continue
            setattr(item, _OWN, True)
            for mark in item.iter_markers(_FIXTURE):
                # of pytest-codspeed alone
                mark.kwargs.pop("max_rounds", None)
            # cases of one function share the list of their fixtures
            item.fixturenames = [*item.fixturenames, _FIXTURE]


@pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator] # of a module without types
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Come after every conftest, which may mark tests, and before pytest-benchmark."""
    early_config.pluginmanager.register(_Marked())


@pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator] # the same
def pytest_pyfunc_call(pyfuncitem: Any) -> "bool | None":
    """Call them by the fixture."""
    if not hasattr(pyfuncitem, _OWN):
        return None
    given: dict[str, Any] = pyfuncitem.funcargs
    wanted = pyfuncitem._fixtureinfo.argnames  # pytest tells them nowhere else
    given[_FIXTURE](pyfuncitem.obj, **{name: given[name] for name in wanted})
    return True
