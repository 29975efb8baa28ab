"""Reads the log of a step as GitHub's runner does (Runner.Common/ActionCommand.cs, Worker/ActionCommandManager.cs)."""

import re
from dataclasses import dataclass, field

_REGISTERED = {
    "add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "notice", "remove-matcher",
    "save-state", "set-env", "set-output", "warning",
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A command that the runner carries out."""

    name: str
    properties: dict[str, str]
    data: str


@dataclass
class Runner:
    """Takes lines, carries commands out or not; lines: those that are log only."""

    commands: list[Command] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    token: str | None = None

    def read(self, log: str) -> None:
        """Take the whole log of a step."""
        # .NET's ReadLine ends lines at these and nothing else
        for line in re.split(r"\r\n|\r|\n", log):
            self._line(line)

    def _line(self, line: str) -> None:
        known = _REGISTERED | {"stop-commands"} | ({self.token} if self.token else set())
        command = _second(line, known) or _first(line, known)
        if command is None:
            self.lines.append(line)
        elif self.token is not None:
            if command.name.lower() == self.token.lower():
                self.token = None
            else:
                self.lines.append(line)
        elif command.name.lower() == "stop-commands":
            self.token = command.data
        else:
            self.commands.append(command)


def commands(log: str) -> list[Command]:
    """Return what the runner carries out of a log; the fence must be closed at its end."""
    runner = Runner()
    runner.read(log)
    assert runner.token is None, "the runner would take no commands any more"
    return runner.commands


def outputs(text: str) -> dict[str, str]:
    """Read a GITHUB_OUTPUT file as the runner does; the last value of a name counts.

    Raises:
        ValueError: a file that the runner refuses.
    """
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            name, _, value = line.partition("=")
        elif heredoc >= 0:
            name, _, delimiter = line.partition("<<")
            taken: list[str] = []
            for inner in lines:
                if inner == delimiter:
                    break
                taken.append(inner)
            else:
                raise ValueError(f"no end of {name}")
            value = "\n".join(taken)
        else:
            raise ValueError(f"invalid format {line!r}")
        found[name] = value
    return found


def _second(line: str, known: set[str]) -> Command | None:
    text = line.lstrip()
    end = text.find("::", 2)
    if not text.startswith("::") or end < 0:
        return None
    name, _, rest = text[2:end].partition(" ")
    if name.lower() not in known:
        return None
    pairs = (each.partition("=") for each in rest.strip().split(",") if each)
    return Command(name, {key: _plain(value, ":,") for key, _, value in pairs if value}, _plain(text[end + 2 :], ""))


def _first(line: str, known: set[str]) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, _ = line[start + 3 : end].partition(" ")
    return Command(name, {}, line[end + 1 :]) if name.lower() in known else None


def _plain(text: str, more: str) -> str:
    for character in "\r\n" + more + "%":
        text = text.replace(f"%{ord(character):02X}", character)
    return text
