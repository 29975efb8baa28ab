"""What another gate's workflow, script or configuration measures, so that perfgate gates the same by the same limit."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from gate.checkout import text_of
from gate.commands.init.found import Found, Proposed, Rank, Row, like, names_of
from gate.config.commands import as_text
from gate.model import UserError
from gate.writing.phrases import unread

_KINDS = {
    r"pytest|codspeed.*\bpytest\b|python_pytest": "pytest-benchmark",
    r"cargo|rust_\w+|criterion|iai": "cargo",
    r"go(_bench)?|benchstat": "go",
    r"googlecpp|catch2|cpp_\w+": "cmake",
    r"benchmarkjs|js_\w+|vitest|p?npm|yarn": "npm",
    r"jmh|java_jmh": "jmh",
    r"asv|python_asv|benchmark_dir": "asv",
    r"pyperf": "pyperf",
}
"""What each tool of another gate is here."""
_TOOLS = {
    "github-action-benchmark": (r"benchmark-action/github-action-benchmark", r"^\s*tool:\s*['\"]?(\w+)"),
    "CodSpeed": (
        r"CodSpeedHQ/action|--codspeed|cargo codspeed|codspeed run",
        r"\b(pytest|cargo(?= codspeed)|vitest|go(?= test)|(?:p?npm|yarn)(?= [\w: ]*bench))\b",
    ),
    "Bencher": (r"\bbencher run\b", r"--adapter[ =](\w+)"),
    "asv": (r"\basv (?:continuous|compare)\b|\"benchmark_dir\"", r"(asv|benchmark_dir)"),
    "pytest-benchmark": (r"--benchmark-compare", r"(pytest)"),
    "benchstat": (r"\bbenchstat\b", r"(benchstat)"),
    "Criterion": (r"--(?:save-)?baseline\b|critcmp|criterion-compare", r"(baseline|critcmp|criterion)"),
    "hyperfine": (r"\bhyperfine\b", r"(hyperfine)"),
}
"""How a file of each gate is known, and where it names the tool of its benchmarks."""
_LIMITS: tuple[tuple[str, float, float], ...] = (
    # 150% of the former value is half as slow again
    (r"^\s*fail-threshold:\s*['\"]?(\d+(?:\.\d+)?)%", 1, -100),
    (r"^\s*alert-threshold:\s*['\"]?(\d+(?:\.\d+)?)%", 1, -100),
    (r"\basv (?:continuous|compare)\b[^\n]*(?:-f|--factor)[ =]?(\d+(?:\.\d+)?)", 100, -100),
    (r"--threshold-test[ =]percentage[\s\S]*?--threshold-upper-boundary[ =](\d*\.?\d+)", 100, 0),
    (r"--benchmark-compare-fail[ =]['\"]?\w+:(\d+(?:\.\d+)?)%", 1, 0),
    (r"--noise-threshold[ =](\d*\.\d+)", 100, 0),
)
"""The limits of other gates, and how each becomes percent slower: times the second, plus the third."""
_NAMES = ("-n", "--command-name")
_FLAGS = {"-N", "-i", "--ignore-failure", "--show-output"}
_SEVERAL = {"-L": 2, "--parameter-list": 2, "-P": 3, "--parameter-scan": 3}
"""Options of hyperfine, and how many words behind each are no commands: one behind all others."""


@dataclass(frozen=True, slots=True)
class Former:
    """Another gate. kind: of the project; None: as found. threshold: percent; None: none is named."""

    gate: str
    kind: str | None
    threshold: float | None
    text: str


def read_former(file: Path) -> Former:
    """Read a file of another gate. Raises: UserError: it cannot be read, or is of no gate that is known."""
    try:
        text = text_of(file).replace("\\\n", " ")
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {unread(error)}", option="from") from None
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
    folder = re.search(r"^\s*working-directory:\s*([\w./-]*\w[\w./-]*)\s*$", former.text, re.MULTILINE)
    if folder:
        note = f"the other gate works in {folder[1]}: for that alone, `perfgate init --project {folder[1]} --from FILE`"
        found = replace(found, notes=[*found.notes, note])
    # what is remarked is not run
    text = re.sub(r"^\s*(#|//).*|^.*\binstall\b.*", "", former.text, flags=re.MULTILINE)
    if former.gate == "hyperfine":
        return _hyperfine(found, text)
    first = found.benchmark
    # up to a pipe or a file, but not one that is quoted
    calls = re.findall(r"""\b(?:go test|cargo|pytest|asv)\b(?:'[^'\n]*'|"[^"\n]*"|[^\n|>'"])*""", text)
    pattern = r"(?:-bench|--bench|-b)[ =](['\"]?)([^\s'\"$]+)\1"
    chosen = [match[2] for call in calls if (match := re.search(pattern, call))]
    if found.kind == "go":
        if chosen and chosen[0] != ".":
            option = f"-test.bench={chosen[0]}"
            texts = [as_text(each.command).replace("-test.bench=.", shlex.quote(option)) for each in found.benchmarks]
            own = [replace(b, command=like(b.command, text)) for b, text in zip(found.benchmarks, texts, strict=True)]
            found = replace(found, benchmarks=own)
        folders = re.findall(r"(?<=\s)\./([\w./-]*\w)/?(?=\s|$)", "\n".join(calls))
        return _only(found, {each.replace("/", "-") for each in folders})
    if found.kind == "cargo":
        return _only(found, {name for call in calls for name in re.findall(r"--bench[ =]([\w-]+)", call)})
    command = as_text(first.command)
    if found.kind == "asv" and chosen:
        command = f"{command} {shlex.quote(f'--bench={chosen[0]}')}"
        return replace(found, benchmarks=[replace(first, command=like(first.command, command))])
    if found.kind == "pytest-benchmark":
        places = re.findall(r"(?<=\s)(?:\./)?(\w[\w./-]*?)/?(?=\s|$)", "\n".join(calls))
        *before, last = command.rsplit("\n", 1)
        words = shlex.split(last)
        taken = [w for w in words if w.endswith(".py") and any(f"{w}/".startswith(f"{place}/") for place in places)]
        if taken:
            kept = [word for word in words if not word.endswith(".py") or word in taken]
            command = "\n".join([*before, shlex.join(kept)])
            return replace(found, benchmarks=[replace(first, command=like(first.command, command))])
    return found


def _only(found: Found, names: set[str]) -> Found:
    """Leave out what has none of the names, where one of the benchmarks has."""
    gone = [b.name for b in found.benchmarks if not any(f"-{b.name}".endswith(f"-{name}") for name in names)]
    if len(gone) == len(found.benchmarks):
        return found
    rows = [Row(name, "left out: the other gate does not name it") for name in gone]
    return replace(found.without(gone), rows=[*found.rows, *rows])


def _hyperfine(found: Found, text: str) -> Found:
    """Measure the commands that a script gives to hyperfine, but none that a variable or parameter completes."""
    named: dict[str, str] = {}
    warmups: dict[str, int] = {}
    for line in re.findall(r"\bhyperfine\b(?=\s)([^\n]*)", text):
        reader = shlex.shlex(line, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        commands, called, before, left = list[str](), list[str](), "", 0
        try:
            for word in reader:
                if re.fullmatch(r"[|;&<>()]+", word):
                    if word[0] == ">" and before.isdigit() and commands[-1:] == [before]:
                        commands.pop()  # of "2>&1"
                    break
                if left:
                    left -= 1
                    called += [word] if before in _NAMES else []
                elif word.startswith("-"):
                    alone = word in _FLAGS or "=" in word or (len(word) > 2 and word[1] != "-")
                    left = 0 if alone else _SEVERAL.get(word, 1)
                else:
                    commands.append(word)
                before = word
        except ValueError:
            continue
        named |= {each: called[at] if at < len(called) else "" for at, each in enumerate(commands)}
        if asked := re.search(r"(?<!\S)(?:--warmup[ =]|-w[ =]?)(\d{1,3})(?!\S)", line):
            warmups |= dict.fromkeys(commands, int(asked[1]))
    usable = [each for each in named if not re.search(r"[${}]", each)]
    rows = [Row(each, "left out: a variable completes it") for each in named if each not in usable]
    found = replace(found, rows=[*rows, *found.rows])
    if not usable:
        return found
    names = names_of([named[e] or PurePosixPath((e.split() or ["command"])[0]).name for e in usable], "command")
    measured = [Proposed(n, each, rank=Rank.BENCHMARK) for n, each in zip(names, usable, strict=True)]
    # what shortens a library's own benchmarks is not for a whole run
    environment = {name: value for name, value in found.environment.items() if name != "NODE_OPTIONS"}
    found = replace(found, benchmarks=measured, amount=None, environment=environment)
    # one number for all: more of it than a command was given harms nothing
    warmup = max((warmups[each] for each in usable if each in warmups), default=None)
    return found if warmup is None else replace(found, amount=replace(found.plan, warmup=warmup))
