"""What is wrong with the checkout of a workflow."""

from __future__ import annotations

from gate.model.warnings.base import Base, First
from gate.writing.plain import visible

_NAME = 80


class NoCommonCommit(Base, frozen=True):
    says = "head and the pull request's base ({base:.12}) have no common commit"
    base: str


class TokenLeft(First, frozen=True):
    says = (
        "a token for the repository is in {place}, where the benchmarks can read it: "
        "add `persist-credentials: false` under `with:` of actions/checkout"
    )
    place: str


class CheckoutChanged(First, frozen=True):
    """The checkout has changes that are not in its commit, so they are not measured."""

    files: tuple[str, ...]
    more: int

    def _said(self) -> str:
        shown = ", ".join(visible(name)[:_NAME] for name in self.files) + (
            f" and {self.more} more" if self.more else ""
        )
        return (
            f"the checkout has changes that are not in its commit ({shown}), so they are not measured: "
            "make what benchmarks need in [build], or link it with `share`"
        )


class MoreWarnings(Base, frozen=True):
    says = "and {count:more warning}"
    count: int
