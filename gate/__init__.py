"""Reads measurements and decides: the statistics, the verdict and the reports of perfgate."""

__version__ = "1.0.0"
