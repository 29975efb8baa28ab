"""The leg of a matrix that a job is, as a word for the names of its comment, status and artifacts."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import msgspec

from gate.github.publishing.request import LONGEST_ID, ROOT, digest_of

_PLAIN = re.compile(r"[A-Za-z0-9.-]+")
# what `plan` gives each job, beside its name
_OF_A_PLAN = {"shard", "session", "sessions"}


def leg_of(matrix: str, parts: Collection[str] = ()) -> str:
    """Name a leg by its values: "ubuntu-24.04_3.12"; "" where there is no matrix.

    A name that does not say the values exactly, or could be another leg's, ends in a hash of them.

    Args:
        matrix: the context `matrix` as JSON. GITHUB_JOB is the same for all legs.
        parts: the inputs that say which part of one gate is measured: values that say the same make no other gate.
    """
    try:
        values = msgspec.json.decode(matrix or "null")
    except (msgspec.MsgspecError, UnicodeError):
        return ""
    if not isinstance(values, dict):
        return ""
    planned = bool(parts) and values.keys() >= _OF_A_PLAN
    kept = {
        name: text
        for name, value in values.items()
        if (text := _text(value)) not in parts and not (planned and name == "name")
    }
    if not kept:
        return ""
    slug = "_".join(re.sub(r"[^A-Za-z0-9._-]", "-", text) for text in kept.values())
    exact = all(_PLAIN.fullmatch(text) for text in kept.values())
    if exact and len(slug) <= LONGEST_ID and slug != ROOT:
        return slug
    digest = digest_of(msgspec.json.encode(kept))
    return f"{slug[: LONGEST_ID - len(digest) - 1]}-{digest}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
