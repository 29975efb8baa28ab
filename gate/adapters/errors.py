"""The error of all adapters."""

from __future__ import annotations


class OutputError(ValueError):
    """A tool's output that gives no usable values; its text is one line."""
