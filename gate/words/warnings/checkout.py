"""Sentences about the checkout of a workflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.model.warnings import checkout as kinds
from gate.words.numbers import plural
from gate.words.plain import visible

_OF_SUBMODULES = "add `submodules: recursive` and `fetch-depth: 0` under `with:` of actions/checkout"
_SHA = 12
_NAME = 80


def _submodule_lacks_commit(warning: kinds.SubmoduleLacksCommit) -> str:
    lacks = f"submodule {warning.path} lacks {warning.commit[:_SHA]}"
    return f"{lacks}, which cannot be fetched ({warning.problem}): {_OF_SUBMODULES}"


def _pointers_checked_out(warning: kinds.PointersCheckedOut) -> str:
    more = f" and {warning.more} more" if warning.more else ""
    verb = "are Git LFS pointers" if len(warning.files) + warning.more > 1 else "is a Git LFS pointer"
    return (
        f"{', '.join(warning.files)}{more} {verb}, not the content, on both sides: "
        "add `lfs: true` under `with:` of actions/checkout"
    )


def _checkout_changed(warning: kinds.CheckoutChanged) -> str:
    shown = ", ".join(visible(name)[:_NAME] for name in warning.files)
    more = f" and {warning.more} more" if warning.more else ""
    return (
        f"the checkout has changes that are not in its commit ({shown}{more}), so they are not measured: "
        "make what benchmarks need in [build], or link it with `share`"
    )


SENTENCES: dict[type, Callable[[Any], str]] = {
    kinds.NoCommonCommit: lambda warning: (
        f"head and the pull request's base ({warning.base[:_SHA]}) have no common commit"
    ),
    kinds.SubmoduleAbsent: lambda warning: (
        f"submodule {warning.path} is not in the checkout, so perfgate fetches it: {_OF_SUBMODULES}"
    ),
    kinds.SubmoduleLacksCommit: _submodule_lacks_commit,
    kinds.PointersCheckedOut: _pointers_checked_out,
    kinds.LfsNotFetched: lambda warning: f"base's Git LFS files cannot be fetched ({warning.problem})",
    kinds.TokenLeft: lambda warning: (
        f"a token for the repository is in {warning.place}, where the benchmarks can read it: "
        "add `persist-credentials: false` under `with:` of actions/checkout"
    ),
    kinds.CheckoutChanged: _checkout_changed,
    kinds.MoreWarnings: lambda warning: f"and {plural(warning.count, 'more warning')}",
}
"""The sentence of each type, without a full stop."""
