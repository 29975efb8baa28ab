"""What another gate's workflow, script or configuration measures, so that perfgate gates the same by the same limit."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from gate.checkout import text_of
from gate.commands.init.found import Found, Measured, Rank, names_of
from gate.model import UserError

_KINDS = {
    r"pytest|codspeed.*\bpytest\b|python_pytest": "pytest-benchmark",
    r"cargo|rust_\w+|criterion|iai": "cargo",
    r"go(_bench)?|benchstat": "go",
    r"googlecpp|catch2|cpp_\w+": "cmake",
    r"benchmarkjs|js_\w+|vitest": "npm",
    r"jmh|java_jmh": "jmh",
    r"asv|python_asv": "asv",
    r"pyperf": "pyperf",
}
"""What each tool of another gate is here."""
_TOOLS = {
    "github-action-benchmark": (r"benchmark-action/github-action-benchmark", r"^\s*tool:\s*['\"]?(\w+)"),
    "CodSpeed": (r"CodSpeedHQ/action|--codspeed|cargo codspeed|codspeed run", r"(pytest|cargo|vitest|go)\b[^\n]*"),
    "Bencher": (r"\bbencher run\b", r"--adapter[ =](\w+)"),
    "asv": (r"\basv (?:continuous|compare)\b|\"benchmark_dir\"", r"(asv|benchmark_dir)"),
    "pytest-benchmark": (r"--benchmark-compare", r"(pytest)"),
    "benchstat": (r"\bbenchstat\b", r"(benchstat)"),
    "Criterion": (r"--(?:save-)?baseline\b|critcmp", r"(baseline|critcmp)"),
    "hyperfine": (r"\bhyperfine\b", r"(hyperfine)"),
}
"""How a file of each gate is known, and where it names the tool of its benchmarks."""
_LIMITS: tuple[tuple[str, float, float], ...] = (
    # 150% of the former value is half as slow again
    (r"^\s*(?:fail|alert)-threshold:\s*['\"]?(\d+(?:\.\d+)?)%", 1, -100),
    (r"\basv (?:continuous|compare)\b[^\n]*(?:-f|--factor)[ =]?(\d+(?:\.\d+)?)", 100, -100),
    (r"--threshold-test[ =]percentage[\s\S]*?--threshold-upper-boundary[ =](\d*\.?\d+)", 100, 0),
    (r"--benchmark-compare-fail[ =]['\"]?\w+:(\d+(?:\.\d+)?)%", 1, 0),
    (r"--noise-threshold[ =](\d*\.\d+)", 100, 0),
)
"""The limits of other gates, and how each becomes percent slower: times the second, plus the third."""
_WITH_VALUE = {"-w", "--warmup", "-m", "-M", "-r", "--runs", "--min-runs", "--max-runs", "-p", "--prepare", "-s", "-n"}
_WITH_VALUE |= {"-L", "-P", "-c", "-S", "-u", "-i", "--export-json", "--export-markdown", "--setup", "--command-name"}


@dataclass(frozen=True, slots=True)
class Former:
    """Another gate. kind: of the project; None: as found. threshold: percent; None: none is named."""

    gate: str
    kind: str | None
    threshold: float | None
    text: str


def read_former(file: Path) -> Former:
    """Read a file of another gate.

    Raises:
        UserError: it cannot be read, or is of no gate that is known.
    """
    try:
        text = text_of(file).replace("\\\n", " ")
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", option="from") from None
    for gate, (known, named) in _TOOLS.items():
        if not re.search(known, text):
            continue
        tool = re.search(named, text, re.MULTILINE)
        kind = next((kind for words, kind in _KINDS.items() if tool and re.fullmatch(words, tool[1])), None)
        if gate == "Criterion":
            kind = "cargo"
        told = (
            (float(match[1]), by, more)
            for pattern, by, more in _LIMITS
            if (match := re.search(pattern, text, re.MULTILINE))
        )
        limit = next((round(value * by + more, 6) for value, by, more in told), None)
        return Former(gate, kind, limit if limit is not None and 0 < limit < 1000 else None, text)
    known = ", ".join(_TOOLS)
    raise UserError(f"{file} is no workflow, script or configuration of a gate that is known ({known})", option="from")


def same(found: Found, former: Former) -> Found:
    """Return what measures what another gate measured, by its limit."""
    if former.threshold is not None:
        found = replace(found, threshold=f"{former.threshold:g}%")
    if former.gate == "hyperfine" and (commands := [*_hyperfine(former.text)]):
        names = names_of([Path(shlex.split(each)[0]).name for each in commands], "command")
        measured = [Measured(n, each, rank=Rank.BENCHMARK) for n, each in zip(names, commands, strict=True)]
        return replace(found, benchmarks=measured, amount=None)
    chosen = re.search(r"\bgo test\b[^\n]*?-bench[ =](['\"]?)([^\s'\"]+)\1", former.text)
    if found.kind == "go" and chosen and chosen[2] != ".":
        option = shlex.quote(f"-test.bench={chosen[2]}")
        benchmarks = [replace(each, command=_with(each.command, "-test.bench=.", option)) for each in found.benchmarks]
        return replace(found, benchmarks=benchmarks)
    return found


def _with(command: list[str] | str, before: str, after: str) -> list[str] | str:
    if isinstance(command, str):
        return command.replace(before, after)
    return [shlex.split(after)[0] if word == before else word for word in command]


def _hyperfine(text: str) -> list[str]:
    """Return the commands that a script gives to hyperfine; one that a variable or parameter completes is left out."""
    found: list[str] = []
    for line in re.findall(r"\bhyperfine\b\s+([^\n|;&]*)", text):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        for before, word in zip(["", *words], words, strict=False):
            if not word.startswith("-") and before not in _WITH_VALUE and not re.search(r"[${}]", word):
                found.append(word)
    return list(dict.fromkeys(found))
