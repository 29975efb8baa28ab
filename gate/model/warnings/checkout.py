"""What is wrong with the checkout of a workflow."""

from __future__ import annotations

from gate.model.warnings.base import Base, First
from gate.writing.plain import visible

_OF_SUBMODULES = "add `submodules: recursive` and `fetch-depth: 0` under `with:` of actions/checkout"
_NAME = 80


class NoCommonCommit(Base, frozen=True):
    says = "head and the pull request's base ({base:.12}) have no common commit"
    base: str


class SubmoduleAbsent(Base, frozen=True):
    says = f"submodule {{path}} is not in the checkout, so perfgate fetches it: {_OF_SUBMODULES}"
    path: str


class SubmoduleLacksCommit(Base, frozen=True):
    says = f"submodule {{path}} lacks {{commit:.12}}, which cannot be fetched ({{problem}}): {_OF_SUBMODULES}"
    path: str
    commit: str
    problem: str


class _SomeFiles(First, frozen=True):
    files: tuple[str, ...]
    more: int

    def named(self, names: list[str]) -> str:
        return f"{', '.join(names)}{f' and {self.more} more' if self.more else ''}"


class PointersCheckedOut(_SomeFiles, frozen=True):
    """Files of git lfs are pointers."""

    def _said(self) -> str:
        verb = "are Git LFS pointers" if len(self.files) + self.more > 1 else "is a Git LFS pointer"
        where = "not the content, on both sides: add `lfs: true` under `with:` of actions/checkout"
        return f"{self.named([*self.files])} {verb}, {where}"


class LfsNotFetched(Base, frozen=True):
    says = "base's Git LFS files cannot be fetched ({problem})"
    problem: str


class TokenLeft(First, frozen=True):
    says = (
        "a token for the repository is in {place}, where the benchmarks can read it: "
        "add `persist-credentials: false` under `with:` of actions/checkout"
    )
    place: str


class CheckoutChanged(_SomeFiles, frozen=True):
    """The checkout has changes that are not in its commit, so they are not measured."""

    def _said(self) -> str:
        shown = self.named([visible(name)[:_NAME] for name in self.files])
        return (
            f"the checkout has changes that are not in its commit ({shown}), so they are not measured: "
            "make what benchmarks need in [build], or link it with `share`"
        )


class MoreWarnings(Base, frozen=True):
    says = "and {count:more warning}"
    count: int
