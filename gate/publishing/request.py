"""The inputs of the action, what is wrong with each in one line, and the request that the first step makes of them.

The request is what later steps go by, passed on as a step output.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar, get_args

import msgspec

from gate.cli.groups import RulesOptions
from gate.cli.option_values import Shard
from gate.github.event import Event
from gate.model import UserError
from gate.model.records import SideChoice
from gate.model.warnings import AnyWarning, typed
from gate.model.warnings.base import Said
from gate.publishing.asked import AskedPull
from gate.publishing.notice import Notice, What
from gate.writing.plain import clip, visible
from gate.writing.units import Duration, plural

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


class ActionInputs(msgspec.Struct, frozen=True, kw_only=True):
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
    asked: AskedPull | None
    """The request that a comment or a label made."""
    measuring: Result | None
    """Of the job that measured, where this one decides over its measurements."""
    comment: Occasion
    status: bool


class Request(ActionInputs, frozen=True, kw_only=True):
    """All that the steps after prepare go by, the inputs with what the event settles; no secret."""

    command: Command
    job: str
    """Of which workflow, job and leg of a matrix this is."""
    event: Event
    folder: str
    """Of everything this action writes."""
    place: str
    """Where the project is in the repository, with slashes."""
    how: SideChoice | None
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

    Raises: UserError: what is given could not stand in the name of an artifact.
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


# --- reading the inputs -----------------------------------------------------------------------------------------------

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Reader:
    given: Mapping[str, str]
    problems: list[str] = field(default_factory=list)

    def line(self, name: str) -> str | None:
        found = self.given.get(name, "").strip()
        if "\n" in found or "\0" in found:
            self.problems.append(f"input {name}: must be one line")
            return None
        return found or None

    def lines(self, name: str) -> tuple[str, ...]:
        return tuple(stripped for line in self.given.get(name, "").splitlines() if (stripped := line.strip()))

    def parsed(self, name: str, parse: Callable[[str], T], default: T) -> T:
        text = self.line(name)
        if text is None:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.problems.append(f"input {name}: {error}")
            return default


def read_inputs(given: Mapping[str, str], matrix: str = "", event: str = "") -> tuple[ActionInputs, list[str]]:
    """Read the inputs of the action, and what is wrong with them, a line each; a wrong one has its default.

    Args:
        given: by name, as the caller wrote them.
        matrix: the context `matrix` as JSON.
        event: its name.
    """
    reader = _Reader(given)
    command: Command | None = reader.parsed("command", _one_of(get_args(Command)), None)
    nothing: tuple[str | None, int | None, int | None] = (None, None, None)
    shard, session, sessions = reader.parsed("shard", _part, nothing)
    settings = reader.lines("set")
    odd = dict.fromkeys(pair for pair in settings if "=" not in pair or not pair.partition("=")[0].strip())
    reader.problems.extend(
        f"input set: {pair!r:.80} is not KEY=VALUE; one a line, such as gate.threshold=5%" for pair in odd
    )
    inputs = ActionInputs(
        command=command,
        config=reader.line("config"),
        base=reader.line("base"),
        head=reader.line("head"),
        sets=tuple(pair for pair in settings if pair not in odd),
        budget=reader.parsed("budget", _budget, None),
        benchmarks=reader.lines("benchmark"),
        directory=reader.line("working-directory") or ".",
        id=reader.line("id") or "",
        leg=leg_of(matrix, {reader.line("shard"), shard, str(session), str(sessions)} if shard else ()),
        forks=reader.parsed("forks", _one_of(("refuse", "measure")), "refuse") == "measure",
        shard=shard,
        session=session,
        sessions=sessions,
        asked=reader.parsed("request", AskedPull.parse, None),
        measuring=reader.parsed("measuring", _result, None),
        comment=reader.parsed("comment", occasion, "changed"),
        status=reader.parsed("status", _boolean, False),
    )
    # read by action.yml itself, so that nothing else would say that it is wrong
    reader.parsed("artifact", _boolean, True)
    used = command or "check"
    wrong = {
        "measuring": inputs.measuring is not None and command != "publish" and "goes with command publish",
        "request": inputs.asked is not None and command not in ("measure", "publish")
        and "goes with command measure or publish",
        # what a part leaves out would be missed by nobody
        "shard": shard is not None and command not in ("plan", "measure") and "goes with command plan or measure",
    }  # fmt: skip
    problems = [f"input {name}: {why}, not with {used}" for name, why in wrong.items() if why]
    if command == "publish" and event != "workflow_run" and inputs.measuring is None:
        need = "command publish decides over the measurements of another job of this run"
        give = 'give its result, such as "measuring: ${{ needs.measure.result }}"'
        problems.append(f"input measuring: is empty: {need}; {give}")
    if command == "creep" and inputs.base is not None:
        problems.append("input base: does not go with command creep, whose base is the pin: set creep.against=REF")
    return inputs, [*reader.problems, *problems]


def _one_of(known: tuple[Any, ...]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text not in known:
            raise ValueError(f"{text!r:.80} is not one of {', '.join(known)}")
        return text

    return read


def _result(text: str) -> Result:
    try:
        found: Result = _one_of(get_args(Result))(text)
    except ValueError as error:
        raise ValueError(f"{error}: write ${{{{ needs.JOB.result }}}}") from None
    return found


def _boolean(text: str) -> bool:
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    raise ValueError(f"{text!r:.80} is neither true nor false")


def occasion(text: str) -> Occasion:
    """Read when a comment is wanted. Raises ValueError: it says something else."""
    found = OCCASIONS.get(text.casefold())
    if found is None:
        raise ValueError(f"{text!r:.80} is not one of changed, regression, always, false")
    return found


def _budget(text: str) -> str:
    Duration.parse(text)
    return text


def _part(text: str) -> tuple[str | None, int | None, int | None]:
    """Read "1/2", "1/2@0/3", or for plan "2"; for plan it is a number of parts, which all of them have at their end."""
    shard, at, repetition = text.partition("@")
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", repetition, re.ASCII)
    if at and (found is None or int(found[1]) >= int(found[2])):
        raise ValueError(f"{text!r:.80}: write 1/2@0/3 for the first repetition of three of the first part of two")
    part = str(Shard.parse(f"{shard}/{shard}" if shard.isdecimal() else shard))
    return part, *((int(found[1]), int(found[2])) if found else (None, None))


# what `plan` gives each job: parts of one gate
_OF_A_PLAN = {"shard", "session", "sessions", "name"}


def leg_of(matrix: str, parts: Collection[str | None] = ()) -> str:
    """Name a leg by its values: "ubuntu-24.04_3.12"; "" where there is no matrix, or one of `plan`.

    A name that does not say the values exactly, or could be another leg's, ends in a hash of them.

    Args:
        matrix: the context `matrix` as JSON. GITHUB_JOB is the same for all legs.
        parts: what says which part of one gate is measured: values that say the same make no other gate.
    """
    try:
        values = msgspec.json.decode(matrix or "null")
    except (msgspec.MsgspecError, UnicodeError):
        return ""
    if not isinstance(values, dict):
        return ""
    if parts and values.keys() >= _OF_A_PLAN:
        values = {name: value for name, value in values.items() if name not in _OF_A_PLAN}
    texts = {k: v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in values.items()}
    kept = {name: text for name, text in texts.items() if text not in parts}
    slug = "_".join(re.sub(r"[^A-Za-z0-9._-]", "-", text) for text in kept.values())
    exact = all(re.fullmatch(r"[A-Za-z0-9.-]+", text) for text in kept.values())
    return fitted(slug, msgspec.json.encode(kept), exact=exact)
