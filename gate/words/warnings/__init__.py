"""Warnings -> sentences, a file for each module of gate.model.warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model.warnings import OfRun
from gate.model.warnings.base import Said
from gate.words.warnings import checkout, estimates, hosts, measured, setup, study

SENTENCES: dict[type, Callable[[Any], str]] = {
    **estimates.SENTENCES,
    **hosts.SENTENCES,
    **measured.SENTENCES,
    **setup.SENTENCES,
    **checkout.SENTENCES,
    **study.SENTENCES,
    OfRun: lambda warning: f"{warning.run}'s run: {SENTENCES[type(warning.warning)](warning.warning)}",
    Said: lambda warning: warning.text,
}
"""The sentence of each type, without a full stop."""
