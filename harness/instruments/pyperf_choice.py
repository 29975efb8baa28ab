"""Leaves out the benchmarks of a pyperf.Runner that PERFGATE_INCLUDE does not name: the pyperf that a program imports.

A file of its own for the project's interpreter, standard library only, for Python 3.8 and later. It loads the pyperf
that the program would have had, and stands back for it. Workers leave out the same, so that their numbers agree.
"""

from __future__ import annotations

import os
import runpy
import sys
from fnmatch import fnmatchcase
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ASKED = ("bench_func", "bench_time_func", "bench_async_func", "bench_command", "timeit")


def chosen(given: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of Runner that does nothing for a name that is not chosen, as in the workers of others."""
    globs = os.environ["PERFGATE_INCLUDE"].split("\n")

    def asked(self: Any, name: str, *arguments: Any, **named: Any) -> Any:
        # as perfgate writes names
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
        wanted = any(glob == shown or fnmatchcase(shown, glob) for glob in globs)
        return given(self, name, *arguments, **named) if wanted else None

    return asked


def main() -> None:
    """Load pyperf itself, and have its Runner choose."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]  # noqa: PTH100
    spec = PathFinder.find_spec("pyperf", sys.path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("No module named 'pyperf'", name="pyperf")
    sys.modules["pyperf"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in _ASKED:
        if hasattr(module.Runner, name):
            setattr(module.Runner, name, chosen(getattr(module.Runner, name)))


main()
if __name__ == "__main__":
    # python -m pyperf
    runpy.run_module("pyperf", run_name="__main__", alter_sys=True)
