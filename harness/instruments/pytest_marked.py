"""Loaded into pytest: a test that is only marked as a benchmark is measured as a whole, as pytest-codspeed does it."""

import inspect
import unittest
from importlib import import_module
from typing import Any

# of the project's environment: nothing that perfgate itself depends on
_TOOL = "pytest"
pytest: Any = import_module(_TOOL)
_MARKS = ("benchmark", "codspeed_benchmark")
_FIXTURE = "benchmark"


def _only_marked(item: Any) -> bool:
    if not isinstance(item, pytest.Function) or _FIXTURE in item.fixturenames:
        return False
    of_unittest = item.cls is not None and issubclass(item.cls, unittest.TestCase)
    return any(map(item.get_closest_marker, _MARKS)) and not of_unittest and not inspect.iscoroutinefunction(item.obj)


@pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator] # of a module without types
def pytest_collection_modifyitems(items: "list[Any]") -> None:
    """Have each of them get the fixture, without which pytest-benchmark skips it."""
    for item in filter(_only_marked, items):
        item.fixturenames.append(_FIXTURE)


@pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator] # the same
def pytest_pyfunc_call(pyfuncitem: Any) -> "bool | None":
    """Call by the fixture what does not ask for it."""
    wanted = pyfuncitem._fixtureinfo.argnames  # pytest tells them nowhere else
    given: dict[str, Any] = pyfuncitem.funcargs
    if _FIXTURE in wanted or _FIXTURE not in given or not any(map(pyfuncitem.get_closest_marker, _MARKS)):
        return None
    given[_FIXTURE](pyfuncitem.obj, **{name: given[name] for name in wanted})
    return True
