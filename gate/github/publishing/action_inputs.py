"""The inputs of the action, typed; what is wrong with each in one line, and what to write for one that left."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

import msgspec

from gate.cli.option_values import Shard
from gate.github.publishing.asked import Asked
from gate.github.publishing.request import OCCASIONS, Command, Inputs, Occasion, Result, fitted
from gate.units import Duration

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


def read_inputs(given: Mapping[str, str], matrix: str = "", event: str = "") -> tuple[Inputs, list[str]]:
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
    inputs = Inputs(
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
        asked=reader.parsed("request", Asked.parse, None),
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
