"""The functions of scipy.special come without its package, and are the same."""

import subprocess
import sys
from types import ModuleType

import pytest
import scipy.special

from gate.stats import special

NAMES = [
    "betainc", "betaincinv", "chdtrc", "chdtri", "fdtr", "fdtrc", "fdtri", "gammainc", "gammaincinv", "gammaln",
    "log_ndtr", "nctdtr", "ndtr", "ndtri", "ndtri_exp", "psi", "stdtr", "stdtrit",
]  # fmt: skip


@pytest.mark.endtoend
def test_the_package_is_not_imported_for_any_of_them_and_later_is_whole_with_the_same_functions() -> None:
    script = (
        f"import sys; from gate.stats import special; ours = [getattr(special, name) for name in {NAMES}]; "
        "print('scipy.special' in sys.modules); import scipy.stats; from scipy import special as whole; "
        f"print(all(a is getattr(whole, n) for a, n in zip(ours, {NAMES}, strict=True)), "
        "whole.polygamma(1, 1.0), scipy.stats.t.ppf(0.975, 5))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, same, trigamma, quantile = done.stdout.split()
    assert (before, same) == ("False", "True")
    assert float(trigamma) == pytest.approx(1.6449340668482264)  # pi^2 / 6
    assert float(quantile) == pytest.approx(2.570581835636314)  # a table of t


def test_a_scipy_that_keeps_them_elsewhere_is_imported_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> ModuleType:
        raise ImportError

    monkeypatch.setattr(special, "compiled", none)
    special.__getattr__.cache_clear()  # type: ignore[attr-defined] # typed as the names it gives
    assert special.stdtr is scipy.special.stdtr
