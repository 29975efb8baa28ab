"""The request: what the first step of the action settles for later ones, passed on as a step output."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec

from gate.cli.groups import RulesOptions
from gate.github.event import Event
from gate.github.notice import Notice, What
from gate.github.publishing.asked import Asked
from gate.model import UserError
from gate.model.records import How
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.base import Said
from gate.units import plural
from gate.writing.plain import clip, visible

ROOT = "perfgate"
"""The name of a gate at the top."""
LONGEST_ID = 60
"""Characters of a gate's id."""
_DIGITS = 8


def fitted(name: str, of: bytes, *, exact: bool) -> str:
    """Give a gate's name as it is where it says exactly what it is of, and fits; else it ends in a hash of that."""
    if exact and len(name) <= LONGEST_ID and name != ROOT:
        return name
    return f"{name[: LONGEST_ID - _DIGITS - 1]}-{hashlib.sha256(of).hexdigest()[:_DIGITS]}"


def slug_of(folder: PurePosixPath) -> str:
    """Name a gate by its project's folder, so that two never share a comment or an artifact."""
    path = folder.as_posix()
    slug = re.sub(r"[^A-Za-z0-9._-]", "-", path)
    return fitted(slug, os.fsencode(path), exact=slug == path)


def gate_name(gate: str) -> str:
    """Name a gate for people: "perfgate", "perfgate parser"."""
    return ROOT if gate == ROOT else f"{ROOT} {gate}"


Command = Literal["check", "measure", "publish", "plan", "ask", "creep"]
Result = Literal["success", "failure", "cancelled", "skipped"]
"""How a job ended, as `needs` has it."""
_USUAL = ("perfgate.toml", "pyproject.toml")
RUN = "run"
DATA = "data"
STATUS = "status.json"
TEXT = "text.txt"
"""What a command other than check says, as text."""
_MOST = 10
_INPUTS = ("base", "head", "config", "set", "benchmark", "shard")
_WIDTH = 500


Occasion = Literal["changed", "regression", "always", "never"]
"""When a comment is written: on anything but a plain pass, on regressions and errors, always, never."""
OCCASIONS: dict[str, Occasion] = {
    "changed": "changed", "regression": "regression", "always": "always", "true": "always", "false": "never",
}  # fmt: skip
"""By what the input `comment` says."""


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller of the action asks for; None: not said."""

    command: Command | None
    config: str | None
    base: str | None
    head: str | None
    """base and head: as for check."""
    sets: tuple[str, ...]
    budget: str | None
    benchmarks: tuple[str, ...]
    directory: str
    """Of the project; in a request absolute."""
    id: str
    leg: str
    """Of a matrix; "" where there is none."""
    forks: bool
    """Whether forks may be measured here."""
    shard: str | None
    session: int | None
    sessions: int | None
    asked: Asked | None
    """The request that a comment or a label made."""
    measuring: Result | None
    """Of the job that measured, where this one decides over its measurements."""
    comment: Occasion
    status: bool


class Request(Inputs, frozen=True, kw_only=True):
    """All that the steps after prepare go by, the inputs with what the event settles; no secret."""

    command: Command
    job: str
    """Of which workflow, job and leg of a matrix this is."""
    event: Event
    folder: str
    """Of everything this action writes."""
    place: str
    """Where the project is in the repository, with slashes."""
    how: How | None
    """Why this base; None where it was asked for."""
    remember: bool
    """Whether the history may be written."""
    measured: bool
    """Another job's measurements lie in the folder already."""
    foreign: bool
    """Publishes what a fork's run measured."""
    idle: str | None
    """Why there is nothing to do, which is no error."""
    notices: list[Notice]
    """Why nothing is measured."""
    warnings: list[AnyWarning | str]
    """For the reader of the report."""

    @property
    def run_folder(self) -> Path:
        """The folder of the run, with measurements.jsonl and the report."""
        return Path(self.folder, RUN)

    @property
    def measures(self) -> bool:
        """Whether the measuring step has something to do."""
        measuring = self.command in ("check", "measure", "creep")
        return measuring and not (self.notices or self.idle or self.measured)

    @property
    def artifact(self) -> str:
        """The name of the artifact of the data: each part of a matrix has its own."""
        if self.command != "measure":
            return f"perfgate-{self.id}-data"
        part, _, parts = (self.shard or "1/1").partition("/")
        return f"perfgate-{self.id}-data-shard{part}of{parts}-session{self.session or 0}"

    def refused(self, code: int, *why: str, what: What = "could-not-run") -> Request:
        """Return the request of which nothing is measured, and why."""
        notices = [*self.notices, *(Notice(code, each, what) for each in why)]
        return msgspec.structs.replace(self, notices=notices)

    @property
    def use(self) -> str:
        """What tells this use of the action from others of the same job."""
        return re.sub(r"[^A-Za-z0-9_-]", "", Path(self.folder).name)[-20:] or "-"


def id_of(given: str, directory: Path, top: Path, config: str | None = None, leg: str = "") -> str:
    """Name a gate: as given, else by the project's directory in the checkout and the file of its own that it goes by.

    "perfgate" for the top and its perfgate.toml. The leg of a matrix, if it is one, follows.

    Raises:
        UserError: what is given could not stand in the name of an artifact.
    """
    if given:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", given):
            raise UserError(
                f"input id: {given!r:.80} may hold letters, digits, dots, dashes and underscores, 60 at most"
            )
        return given
    inside = directory.relative_to(top) if directory.is_relative_to(top) else Path()
    # two gates of one folder have a file each
    own = [Path(config).stem] if config is not None and Path(config).name not in _USUAL else []
    parts = [*inside.parts, *own]
    name = slug_of(PurePosixPath(*parts)) if parts else ROOT
    if not leg:
        return name
    whole = f"{name}_{leg}" if parts else leg
    return fitted(whole, whole.encode(), exact=True)


def as_inputs(error: UserError) -> str:
    """Say what is wrong, with an input of the action where the command line has an option."""
    return "; ".join(
        f"input {each.option} {each.why}" if each.option in _INPUTS else str(each) for each in error.errors
    )


def folded(warnings: Iterable[AnyWarning | str]) -> list[AnyWarning]:
    """Cut warnings to what a reader takes in: ten, with 500 characters of a name, and how many more there are."""
    found = typed(warnings)
    shown = [msgspec.convert(_cut(msgspec.to_builtins(warning)), AnyWarning) for warning in found[:_MOST]]
    more = len(found) - _MOST
    return [*shown, *([Said(f"and {plural(more, 'more warning')}")] if more > 0 else [])]


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(item) for item in value]
    return clip(visible(value), _WIDTH)[:_WIDTH] if isinstance(value, str) else value


def request_of(environment: Mapping[str, str] | None = None) -> Request:
    """Read the request that prepare made. Raises UserError: there is none, or it is broken."""
    text = (environment if environment is not None else os.environ).get("INPUT_REQUEST", "")
    if not text:
        raise UserError("INPUT_REQUEST: is empty: this step runs after `perfgate action prepare`")
    try:
        return msgspec.json.decode(text, type=Request)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UserError(f"INPUT_REQUEST: {error}") from None


def rules_of(request: Request) -> RulesOptions:
    """Give whose rules a request names, and over which benchmarks."""
    budget = [f"plan.budget={request.budget}"] if request.budget else []
    config = Path(request.config) if request.config else None
    return RulesOptions(config, None, (*request.sets, *budget), request.benchmarks)
