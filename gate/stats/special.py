"""Functions of scipy.special without the 0.2 s that its package takes to start.

That package imports numpy's tests, f2py and wrappers for other array libraries. Its compiled functions are in one
extension module, which is imported here as scipy imports it: they are the same objects. What is not there, or where a
version of scipy has no such module, the package is imported as usual.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

_PACKAGE = "scipy.special"


@cache
def compiled() -> ModuleType:
    """Import the extension module without its package.

    Raises: ImportError: this version of scipy has none, or scipy is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or _PACKAGE in sys.modules:
        return import_module(_PACKAGE)
    # a package whose __init__ has not run stands there while the extension looks for its parent
    sys.modules[_PACKAGE] = module_from_spec(spec)
    try:
        return import_module(f"{_PACKAGE}._ufuncs")
    finally:
        del sys.modules[_PACKAGE]


def polygamma(order: int, x: Any) -> Any:
    """Return the derivative of psi of an order from 1 on, of any array of positive numbers.

    (-1)^(n+1) n! times Hurwitz' zeta(n + 1, x), as scipy's own function, whose package takes long to start.
    """
    zeta = getattr(compiled(), "_zeta", None)
    if zeta is None:
        return import_module(_PACKAGE).polygamma(order, x)
    return (-1.0) ** (order + 1) * math.factorial(order) * zeta(order + 1.0, x)


def trigamma_inverse(x: float) -> float:
    """Solve psi'(y) = x for y; x > 0.

    Newton's method on 1/psi', which is convex and nearly linear, so that it converges from below without a step too
    far (Smyth 2004, appendix; limma's trigammaInverse).
    """
    if x > 1e7:
        return 1 / math.sqrt(x)
    if x < 1e-6:
        return 1 / x
    y = 0.5 + 1 / x
    for _ in range(50):
        value = float(polygamma(1, y))
        step = value * (1 - value / x) / float(polygamma(2, y))
        y += step
        if -step < 1e-10 * y:
            break
    return y


if TYPE_CHECKING:
    from scipy.special import *  # type: ignore[assignment]  # noqa: F403  # polygamma is ours
else:

    @cache
    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return getattr(compiled(), name)
        except (ImportError, AttributeError):
            return getattr(import_module(_PACKAGE), name)
