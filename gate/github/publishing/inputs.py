"""The inputs of the action: environment variables INPUT_<NAME>, typed; what is wrong with each in one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from gate.cli.values import Shard
from gate.github.publishing.request import (
    COMMANDS,
    LONGEST_ID,
    OCCASIONS,
    RESULTS,
    ROOT,
    Command,
    Inputs,
    Occasion,
    Result,
    Wanted,
    digest_of,
)
from gate.units import Duration

T = TypeVar("T")

OWN_ARTIFACT = "a workflow_run workflow takes its artifact itself, since anybody may have made it: name no runs"


@dataclass(frozen=True, slots=True)
class ReadInputs:
    """The inputs, and what is wrong with them, a line each; a wrong one has its default."""

    inputs: Inputs
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reader:
    environment: Mapping[str, str]
    problems: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.environment.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()

    def line(self, name: str) -> str | None:
        found = self.text(name)
        if "\n" in found or "\0" in found:
            self.problems.append(f"input {name}: must be one line")
            return None
        return found or None

    def lines(self, name: str) -> tuple[str, ...]:
        return tuple(stripped for line in self.text(name).splitlines() if (stripped := line.strip()))

    def parsed(self, name: str, parse: Callable[[str], T], default: T) -> T:
        text = self.line(name)
        if text is None:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.problems.append(f"input {name}: {error}")
            return default


def read_inputs(environment: Mapping[str, str]) -> ReadInputs:
    """Read the inputs of the action; every one that is wrong is named."""
    reader = _Reader(environment)
    command = reader.parsed("command", _command, None)
    parts = {reader.text(name) for name in ("shard", "session", "sessions")} if command == "measure" else set()
    inputs = Inputs(
        command=command,
        config=reader.line("config"),
        base=reader.line("base"),
        head=reader.line("head"),
        rules=reader.line("rules"),
        sets=tuple(pair for pair in reader.lines("set") if _is_setting(reader, pair)),
        budget=reader.parsed("budget", _budget, None),
        wait=reader.parsed("wait", _wait, None),
        benchmarks=reader.lines("benchmark"),
        directory=reader.line("working-directory") or ".",
        history=reader.line("history"),
        id=reader.line("id") or "",
        leg=leg_of(environment.get("INPUT_MATRIX", ""), parts - {""}),
        forks=reader.parsed("forks", _forks, False),
        shard=reader.parsed("shard", _shard, None),
        session=reader.parsed("session", _whole(0), None),
        sessions=reader.parsed("sessions", _whole(1), None),
        runs=reader.lines("runs"),
        measuring=reader.parsed("measuring", _result, None),
        wanted=Wanted(
            comment=reader.parsed("comment", occasion, "changed"),
            summary=reader.parsed("summary", _boolean, True),
            annotations=reader.parsed("annotations", _boolean, True),
            status=reader.parsed("status", _boolean, False),
            check=reader.parsed("check", _boolean, False),
            issue=reader.parsed("issue", _boolean, False),
        ),
    )
    # read by the steps that ask GitHub
    reader.parsed("patience", Duration.parse, Duration(0))
    # read by the workflow file itself, so that nothing else would say that it is wrong
    reader.parsed("artifact", _boolean, True)
    if inputs.command == "publish":
        reader.problems.extend(_runs_problems(inputs, environment.get("GITHUB_EVENT_NAME")))
    elif inputs.measuring is not None:
        reader.problems.append(f"input measuring: goes with command publish, not with {inputs.command or 'check'}")
    reader.problems.extend(_parts_problems(inputs))
    reader.problems.extend(_creep_problems(inputs))
    return ReadInputs(inputs, tuple(reader.problems))


def _parts_problems(inputs: Inputs) -> list[str]:
    """Refuse a part of a gate where all of it is measured: what it leaves out would be missed by nobody."""
    where = {"shard": ("plan", "measure"), "session": ("measure",), "sessions": ("plan", "measure", "publish")}
    return [
        f"input {name}: goes with command {' or '.join(commands)}, not with {inputs.command or 'check'}"
        for name, commands in where.items()
        if getattr(inputs, name) is not None and inputs.command not in commands
    ]


def _creep_problems(inputs: Inputs) -> list[str]:
    """Refuse what a creep check chooses itself, and an issue of anything else."""
    found = []
    if inputs.wanted.issue and inputs.command != "creep":
        found.append(f"input issue: goes with command creep, not with {inputs.command or 'check'}")
    if inputs.command == "creep" and inputs.base is not None:
        found.append("input base: does not go with command creep, whose base is the pin: set creep.against=REF")
    if inputs.command == "creep" and inputs.rules in ("base", "head"):
        found.append("input rules: with command creep the rules are those of the default branch, or a file")
    return found


def _runs_problems(inputs: Inputs, event: str | None) -> list[str]:
    if event == "workflow_run":
        return [f"input runs: {OWN_ARTIFACT}"] if inputs.runs else []
    if inputs.runs or inputs.measuring is not None:
        return []
    need = "command publish decides over the measurements of another job of this run"
    return [f'input measuring: is empty: {need}; give its result, such as "measuring: ${{{{ needs.measure.result }}}}"']


def _result(text: str) -> Result:
    found = next((result for result in RESULTS if result == text), None)
    if found is None:
        raise ValueError(f"{text!r:.80} is not one of {', '.join(RESULTS)}: write ${{{{ needs.JOB.result }}}}")
    return found


def _command(text: str) -> Command:
    found = next((command for command in COMMANDS if command == text), None)
    if found is None:
        raise ValueError(f"{text!r:.80} is not one of {', '.join(COMMANDS)}")
    return found


def _boolean(text: str) -> bool:
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    raise ValueError(f"{text!r:.80} is neither true nor false")


def occasion(text: str) -> Occasion:
    """Read when a comment is wanted.

    Raises:
        ValueError: it says something else.
    """
    found = OCCASIONS.get(text.casefold())
    if found is None:
        raise ValueError(f"{text!r:.80} is not one of changed, regression, always, false")
    return found


def _forks(text: str) -> bool:
    if text in ("refuse", "measure"):
        return text == "measure"
    raise ValueError(f"{text!r:.80} is neither refuse nor measure")


def _budget(text: str) -> str:
    Duration.parse(text)
    return text


def _wait(text: str) -> str:
    if text != "0":
        Duration.parse(text)
    return text


def _shard(text: str) -> str:
    # for plan it is a number of parts, which all of them have at their end
    return str(Shard.parse(f"{text}/{text}" if text.isdecimal() else text))


def _whole(least: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        if not re.fullmatch(r"\d{1,4}", text) or int(text) < least:
            raise ValueError(f"{text!r:.80} is not a whole number from {least} to 9999")
        return int(text)

    return read


def _is_setting(reader: _Reader, pair: str) -> bool:
    key, equals, _ = pair.partition("=")
    if equals and key.strip():
        return True
    reader.problems.append(f"input set: {pair!r:.80} is not KEY=VALUE; one a line, such as gate.threshold=5%")
    return False


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
