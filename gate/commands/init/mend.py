"""What a trial teaches: the cure that a failure itself names, and the cases of a large suite that fit a budget."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any, NamedTuple

from gate.commands.init.found import (
    MOST_EXECUTIONS,
    VALUES,
    Amount,
    Found,
    Proposed,
    Row,
    fixed_plan,
    like,
    of_parts,
    suite_plan,
    within,
)
from gate.commands.init.long import as_printed
from gate.commands.init.python import COMPILED, ENVIRONMENT, SITE, by_pip, environment_of
from gate.commands.init.requirements import groups, normal, pip_words
from gate.commands.init.tree import Tree, table_of
from gate.config.commands import as_text
from gate.config.rules import FIRST_STARTS, matches
from gate.units import plural

_MINUTES = 5
"""In which a verdict is wanted beside the first builds, whatever the budget: the counts are laid out for them."""
_ROUNDS, _BUILDS, _FEWEST = 12, 8, 5
"""Rounds that so many minutes hold where executions can be made fewer, should hold, and must hold for a regression."""
_SHARPER, _WORKING = 2.0, 0.9
"""How many times as noisy as CPU time a time is that gives way to it, and the share of it in which a command works."""
_WIDE = 0.1
"""A change that a plan should find: otherwise half of what is left of the minutes goes into more executions."""
_OFTEN = 5
"""Executions of a build from which few are enough for their spread."""
_BESIDE = 0.25
"""Of the time of builds: executions that take less are no reason for fewer of them."""
_MANY = 40
"""Findings beyond which a budget has too few builds for each."""
_CHOSEN = 16
_FEW = 8
"""Cases that are chosen of a suite that took too long, or a quarter of fewer: a start is to take seconds."""
_FAILING, _PART = 3, 0.1
"""Tests that fail of a suite that otherwise passes, at most so many or such a part: they are left out."""
_STANDARD = re.compile(r"(?:std|stdlib|builtin|native)\b|(?:hash|btree)(?:map|set)\b", re.IGNORECASE)
"""What stands for the language's own library in the name of a case."""
_FILTERS = ("go", "google-benchmark", "criterion", "asv", "pyperf", "divan", "libtest")
"""Instruments, and formats of values, that give `include` to the suite, so that one case takes the time of one."""
CHOOSES = "PERFGATE_INCLUDE"
"""In what is loaded into a program: it leaves out itself what `include` does not name."""
_START = {"values": 2.0, "pyperf": 5.0}
"""Seconds of a start of a suite that takes its own time, or processes, for each case: many turns are better."""
_LEAST = 4
"""Cases that are kept whatever they take, if a budget has room for them."""
_LENGTH = re.compile(r"(--benchmark[-_]min[-_]time=|--min-time=|--sample-time=|-test\.benchtime=)([\d.]+)(ms|)")
"""The length of a value, as init writes it."""
_ROOM = 0.85
"""Of a budget that rounds may be expected to take."""
BUILD_LIMIT = "30m"
"""Of a build in a trial, and of one that took long there."""
_SLOW_BUILD = 200.0
"""Seconds from which a third of them may be too few: a runner may be slower, or loaded."""
_LONGEST = 30
"""Minutes of the budget where a start takes long."""
_NO_VALUES = "no values within"
_ABSENT = re.compile(r"no such file|ENOENT|cannot (?:open|find)|could not (?:open|find)|not found", re.IGNORECASE)
_REFUSES = re.compile(
    r"(?:unexpected argument|unrecognized (?:command-line )?(?:option|flag|argument)s?|no such option|bad option|"
    r"unknown (?:option|flag|argument)|flag provided but not defined|invalid option|found argument)\b"
    r"[^-\n]{0,20}?(-{1,2}[A-Za-z][\w.-]*)",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_PYTHON = re.compile(r"(?<![\w/.-])(?:(?:\.venv|venv)/bin/)?python3?(?= )")


def lesson(trial: Mapping[str, Any], found: Found | None = None) -> dict[str, str]:
    """Return what each benchmark without values said, of a build that failed by "", as a trial's JSON has it.

    found: what is written, whose excluded cases may fail.
    """
    out = {f"{each.name}/{label}" for each in (found.benchmarks if found else ()) for label in each.exclude}
    if failure := trial.get("failure"):
        told = "\n".join(failure.get(key) or "" for key in ("status", "stderr", "hint"))
        return {"": _COLOUR.sub("", told)}
    failed = {}
    for each in trial["benchmarks"]:
        failures = [one for one in each.get("failures", ()) if one.get("benchmark") not in out]
        told = "\n".join(f"{one.get('status', '')}\n{one.get('stderr', '')}" for one in failures)
        if each.get("longer_than") is not None:
            told = f"{_NO_VALUES} {each['longer_than']:.0f} s"
        if not each.get("cases") or failures or each.get("longer_than") is not None:
            failed[each["benchmark"]] = _COLOUR.sub("", told) or "no values"
    return failed


def reason(text: str) -> str:
    """Return the line of a failure that says most."""
    # without the place where Ruby raised it
    lines = [re.sub(r"^\S+:\d+:in .*?': ", "", line.strip()) for line in text.splitlines() if line.strip()]
    # headings, and what a JVM says of itself
    lines = [line for line in lines if not line.startswith(("---", "Picked up "))]
    telling = re.compile(r"error|not found|no such|cannot|could not|missing|unrecognized|no module", re.IGNORECASE)
    named = [line for line in lines if telling.search(line)]
    # a heading says less than what stands below it
    return ([line for line in named if not line.endswith(":")] or named or lines or ["no values"])[0][:140]


def mended(found: Found, tree: Tree, failed: Mapping[str, str]) -> tuple[Found, str] | None:
    """Return what is written instead, and what was changed, in words; None where the failures name no cure."""
    given = found.without(failed)
    for name, text in failed.items():
        told = _Told(tree, name, text)
        # beside what gave values the slow are left out
        for cure in _CURES if given.benchmarks else (_longer, *_CURES):
            after = cure(found, told)
            if after is not None and after[0] != found:
                return after
    if "" not in failed and not given.benchmarks and found.instead:
        first, *rest = found.instead
        rows = [Row(name, f"left out: {reason(text)}") for name, text in failed.items()]
        rows += [row for row in found.rows if PurePosixPath(row.what).stem != first.name]
        return replace(found, benchmarks=[first], instead=tuple(rest), rows=rows), f"{first.name} instead"
    if "" in failed or not given.benchmarks:
        return None
    rows = [Row(name, f"left out: {reason(text)}") for name, text in failed.items()]
    return replace(given, rows=[*rows, *found.rows]), f"left out {', '.join(failed)}"


class _Told(NamedTuple):
    """What failed of a project: a benchmark by its name, or the build; and what it said."""

    tree: Tree
    name: str
    text: str


_Cure = tuple[Found, str] | None


def _reworded(found: Found, edit: Callable[[str], str], name: str | None = None) -> Found:
    """Edit the commands of all benchmarks, or of one."""
    own = [
        each
        if name not in (None, each.name)
        else replace(each, command=like(each.command, edit(as_text(each.command))))
        for each in found.benchmarks
    ]
    return replace(found, benchmarks=own)


def _refused_option(found: Found, told: _Told) -> _Cure:
    if re.search(r"invalid value|isn't a valid value|invalid digit", told.text, re.IGNORECASE):
        option = re.compile(r"(--(?:warm-up|measurement)-time=)[\d.]*\.\d+")
        after = _reworded(found, lambda own: option.sub(r"\g<1>1", own))
        if after != found:
            return after, "whole seconds, as this version takes no fractions"
    refused = _REFUSES.search(told.text)
    if refused is None:
        return None
    option = re.compile(rf"\s-?{re.escape(refused[1])}(?:=\S+)?(?=\s|$)")
    after = _reworded(found, lambda own: option.sub("", own), told.name)
    return after, f"without {refused[1]}, which this version refuses"


def _missing_module(found: Found, told: _Told) -> _Cure:
    tree = told.tree
    # pytest without its plugin knows none of its options
    absent = re.search(
        r"(?:No module named|No package metadata was found for) '?\"?([\w.]+)|unrecognized arguments: --(benchmark)-",
        told.text,
    )
    if absent is None:
        return None
    module = (absent[1] or absent[2]).split(".")[0]
    if any(path.removeprefix("src/").startswith((f"{module}/", f"{module}.py")) for path in tree.files):
        return _by_pip(found, tree), "the package is installed in the build"
    wanted = ["pytest-benchmark"]
    if module != "benchmark":
        # what the extra or group names that has the module
        name = normal(module)
        named = next((listed for listed in groups(tree).values() if name in map(normal, listed)), [])
        if not named and re.search(r"\b\d+ passed\b", told.text):
            return None  # some tests want what the project does not name: they are left out
        wanted = named or [module]
    words = shlex.join(pip_words(wanted) or [module])
    if found.setup and ENVIRONMENT in found.setup:
        more = "" if " install " in found.setup else f" && {ENVIRONMENT}/bin/pip install --quiet"
        return replace(found, setup=f"{found.setup}{more} {words}"), f"with {words}, as {module} was missing"
    return _own_environment(found, tree, wanted), f"with an environment of its own, as {module} was missing"


def _own_environment(found: Found, tree: Tree, wanted: Sequence[str] = ()) -> Found:
    every = {"pytest-benchmark": ["pytest", "pytest-benchmark"], "pyperf": ["pyperf"], "asv": ["asv_runner"]}
    tested = any(" -m pytest " in as_text(each.command) for each in found.benchmarks)
    tools = every.get(found.kind, ["pytest"] if tested else [])
    own = f"{ENVIRONMENT}/bin/python"
    return replace(
        _reworded(found, lambda text: _PYTHON.sub(own, text)),
        setup=environment_of(tree, "python3", tools, [*wanted, *tools]),
        build=found.build and _PYTHON.sub(own, found.build),
        share=[each for each in found.share if each != tree.environment],
    )


def _by_pip(found: Found, tree: Tree) -> Found:
    """Have pip compile the package: that of uv, or of an environment, as a system's own may refuse to be used."""
    other = re.search(r"\S+ -m pip --python \S+", found.setup or "")
    commands = " ".join([found.build or "", *(as_text(each.command) for each in found.benchmarks)])
    named = re.search(r"\S+/bin/python(?= )", commands)
    if other is None and named is None:
        found = _own_environment(found, tree)
    pip = other[0] if other else f"{named[0] if named else f'{ENVIRONMENT}/bin/python'} -m pip"
    environment = {**found.environment, "PYTHONPATH": SITE}
    # C that Cython makes first
    before = re.match(r"[^&]* -m cython [^&]*&& ", found.build or "")
    build = f"{before[0] if before else ''}{by_pip(pip)}"
    return replace(found, build=build, comment=COMPILED, environment=environment)


def _isolated_build(found: Found, told: _Told) -> _Cure:
    build = found.build or ""
    if told.name or "setup.py -q build_ext" not in build or "pyproject.toml" not in told.tree.names:
        return None
    return _by_pip(found, told.tree), "built by pip, with the tools that pyproject.toml asks for"


def _as_it_says(found: Found, told: _Told) -> _Cure:
    """Do what a failure names itself: of pytest, cargo, javac and this harness."""
    text, build, setup = told.text, found.build or "", found.setup or ""
    failing = re.findall(r"^(?:FAILED|ERROR) (\S+::\S+)", text, re.MULTILINE)
    passed = re.search(r"\b(\d+) passed\b", text)
    if passed and 0 < len(failing) <= max(_FAILING, _PART * int(passed[1])):
        out = "".join(f" {shlex.quote(f'--deselect={each}')}" for each in failing)
        after = _reworded(found, lambda own: f"{own}{out}" if " pytest " in own else own, told.name)
        return after, f"without {', '.join(failing)}, which fail{'s' if len(failing) == 1 else ''}"
    if "import file mismatch" in text:
        after = _reworded(found, lambda own: own.replace(" pytest ", " pytest --import-mode=importlib ", 1), told.name)
        return after, "with --import-mode=importlib, as two test files have one name"
    asked = re.search(r"requires the features: `([\w, -]+)`", text)
    if asked and build and "--features" not in build:
        features = asked[1].replace(" ", "")
        build = build.replace(" --target-dir target", f" --target-dir target --features {features}")
        return replace(found, build=build), f"with the features {features}, which it needs"
    asked = re.search(r"(?:[Ss]ource|[Tt]arget) option \d+ is no longer supported\. Use (\d+)", text)
    if asked and not told.name and setup and "maven.compiler" not in setup:
        level = f" --batch-mode -Dmaven.compiler.source={asked[1]} -Dmaven.compiler.target={asked[1]}"
        setup = setup.replace(" --batch-mode", level, 1)
        return replace(found, setup=setup), f"for Java {asked[1]}, as this compiler asks"
    if re.search(r"/src/test/\S+:\[\d", text) and " -DskipTests" in setup and "test-compile" not in setup:
        # no test of other modules is needed to run benchmarks
        return replace(found, setup=setup.replace(" -DskipTests", " -Dmaven.test.skip=true")), "without compiling tests"
    # as the harness has it to be pasted
    asked = re.search(r"changes = (\[[^\]]*\])", text)
    try:
        paths = {str(each) for each in json.loads(asked[1])} if asked else set[str]()
    except ValueError:
        return None
    what = f"with changes = {asked[1]}, tracked files that the build writes" if asked else ""
    return replace(found, changes=sorted({*found.changes, *paths})), what


def _for_others(found: Found, told: _Told) -> _Cure:
    """Switch off what CMake compiles for processors that can more than this one, where a program starts all of it."""
    processor = Path("/proc/cpuinfo")
    if "SIGILL" not in told.text or "=Release" not in (found.build or "") or not processor.exists():
        return None
    able = {each.replace("_", "") for each in re.findall(r"\w+", processor.read_text(encoding="utf-8"))}
    texts = "\n".join(told.tree.text(path) for path in told.tree.named("CMakeLists.txt"))
    sets = re.findall(r"option\s*\(\s*(\w+_((?:AVX|S?SSE)\w*))", texts)
    absent = [name for name, own in sets if not any(each.startswith(own.lower().replace("_", "")) for each in able)]
    off = "".join(f" -D{name}=OFF" for name in absent)
    build = str(found.build).replace("=Release", f"=Release{off}", 1)
    return replace(found, build=build), f"without {', '.join(absent)}, which this processor cannot run"


def _uncompiled(found: Found, told: _Told) -> _Cure:
    """Leave out the bench that cargo cannot compile, where others can be."""
    failed = re.search(r'could not compile `([\w-]+)` \(bench "([\w-]+)"\)', told.text)
    if told.name or failed is None:
        return None
    package, bench = failed.groups()
    named = [each for each in found.benchmarks if any(f"--bench {bench}" in text for text in each.built)]
    # of benches of one name in several packages, that of the package
    own = [each for each in named if each.name == f"{package}-{bench}"] or named
    if len(own) != 1 or len(found.benchmarks) == 1:
        return None
    (name,) = (each.name for each in own)
    rows = [Row(f"bench {name}", "left out: it does not compile"), *found.rows]
    return replace(found.without([name]), rows=rows), f"left out {name}, which does not compile"


def _wrong_folder(found: Found, told: _Told) -> _Cure:
    """Start a benchmark where the file lies that it does not find, if only one folder has it."""
    each = next((one for one in found.benchmarks if one.name == told.name), None)
    # what a shell would do with its words is not done with quoted ones: a command after && would never start
    if each is None or re.search(r"cd |[&|;<>\n]", each.command if isinstance(each.command, str) else ""):
        return None
    lines = [line for line in told.text.splitlines() if _ABSENT.search(line)]
    for path in re.findall(r"(?:^|[\"'`\s(])(?:\./)?([\w-][\w.-]*(?:/[\w.-]+)*)", "\n".join(lines)):
        holding = [file for file in told.tree.files if file.endswith(f"/{path}")]
        if len(holding) != 1 or "." not in path:
            continue
        folder = holding[0].removesuffix(f"/{path}")
        moved = replace(each, command=within(folder, shlex.split(as_text(each.command)), told.tree.names))
        benchmarks = [moved if one == each else one for one in found.benchmarks]
        return replace(found, benchmarks=benchmarks), f"in {folder}/, where {path} is"
    return None


def _unbuilt(found: Found, told: _Told) -> _Cure:
    """Build first what a script of JavaScript does not find."""
    absent = re.search(r"Cannot find module '[^']+'|ERR_MODULE_NOT_FOUND[^\n]*'[^']+'", told.text)
    if absent is None or not told.name or found.kind not in ("npm", "generic"):
        return None
    scripts = table_of(told.tree.json("package.json"), "scripts")
    build = next((each for each in ("build", "compile", "prepare", "prebuild", "dist") if each in scripts), None)
    if found.setup is None and "package.json" in told.tree.names:
        setup = "npm install --no-package-lock --no-audit --no-fund"
        return replace(found, setup=setup), "with the packages installed first"
    if build is None or found.build is not None:
        return None
    return replace(found, build=f"npm run --silent {build}"), f"built first by the script {build}"


def _as_printed(found: Found, told: _Told) -> _Cure:
    """Read any times that a script prints where its library printed none: beside others it need not use that."""
    own = [each.name == told.name and each.form == "benchmark_js" for each in found.benchmarks]
    if not any(own):
        return None
    benchmarks = [as_printed(each) if its else each for each, its in zip(found.benchmarks, own, strict=True)]
    return replace(found, benchmarks=benchmarks, amount=Amount(1, 1), environment={}), "by the times that it prints"


def _longer(found: Found, told: _Told) -> _Cure:
    """Give what takes longer than a trial a budget that holds it, by one value an execution: builds matter most."""
    plan = found.plan
    if not told.text.startswith(_NO_VALUES) or plan.budget >= _LONGEST:
        return None
    amount = replace(plan, executions=1, warmup=0 if found.timed else plan.warmup, budget=_LONGEST)
    return replace(found, amount=amount), f"budget = {_LONGEST}m, and fewest values in each build, as one takes long"


_CURES = (
    *(_missing_module, _as_it_says, _for_others, _uncompiled, _refused_option, _unbuilt, _isolated_build),
    *(_wrong_folder, _as_printed),
)


def _decided(measured: Proposed, trial: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the cases of a benchmark that a trial gave and the gate would judge, with their labels."""
    own = [one for each in trial["benchmarks"] if each["benchmark"] == measured.name for one in each["cases"]]
    cases = []
    for one in (each for each in own if each["decided"]):
        name = str(one["benchmark"])
        metric = str(one["metric"]).removesuffix(".median")
        cases.append((name.removeprefix(f"{measured.name}/") if name != measured.name else metric, one))
    return [each for each in cases if not any(matches(glob, each[0]) for glob in measured.exclude)]


def comparable(found: Found, trial: Mapping[str, Any]) -> tuple[Found, list[str]]:
    """Leave out results of other packages, those that are zero, which have no ratio, and single ones that fail.

    Returns: what is written instead, and in words what is left out.
    """
    said, benchmarks = list[str](), list[Proposed]()
    labels = [label for each in found.benchmarks for label, _ in _decided(each, trial)]
    # they are compared with the project where some of them name it
    compared = bool(found.name) and any(_plain(found.name) in _plain(label) for label in labels)
    # what stands in every label is the tool, or a folder
    named = [name for name in found.others if not name.endswith("/")]
    apart = [name for name in named if not all(_plain(name) in _plain(label) for label in labels)]
    beside = _beside(found, labels)
    for each in found.benchmarks:
        cases = _decided(each, trial)
        others = {label: text for label, _ in cases if compared and (text := _other(found.name, apart, label))}
        others |= {label: beside[label] for label, _ in cases if label in beside}
        zeros = [label for label, one in cases if not (one["mean"] or one.get("exact") or label in others)]
        wanted = [label for label, _ in cases if label not in others and label not in zeros]
        failures = [
            one for own in trial["benchmarks"] if own["benchmark"] == each.name for one in own.get("failures", ())
        ]
        fails = {str(one.get("benchmark")).removeprefix(f"{each.name}/"): reason(one["status"]) for one in failures}
        if each.name in fails or len(fails) > len(wanted):
            fails = {}  # it is the suite that fails
        globs = {f"*{text}*" if not any(text in label for label in wanted) else label for label, text in others.items()}
        if wanted and (others or zeros or fails):
            # of what is named one by one they are not named
            one_by_one = {*wanted} <= {*each.include}
            out = each.exclude if one_by_one else [*each.exclude, *sorted(globs), *zeros, *fails]
            benchmarks.append(replace(each, include=wanted if one_by_one else each.include, exclude=out))
            of_zero = "of 0, too little for what measures it"
            why_fails = f"that fail ({next(iter(fails.values()), '')})"
            for own, why in (([*others], "of other packages"), (zeros, of_zero), ([*fails], why_fails)):
                more = ", ..." if len(own) > 3 else ""
                said += [f"{plural(len(own), 'result')} {why}: {', '.join(own[:3])}{more}"] if own else []
        else:
            benchmarks.append(each)
    return replace(found, benchmarks=benchmarks), said


def by_cpu_time(found: Found, trial: Mapping[str, Any]) -> tuple[Found, list[str]]:
    """Let the CPU time of commands decide where their time varies more than twice as much here; name them.

    That is where several tasks do the work, or active time would decide. Who waits for a tenth of the time keeps it.
    """
    benchmarks, named = list[Proposed](), list[str]()
    for each in found.benchmarks:
        own = (one for tried in trial["benchmarks"] for one in tried["cases"] if one["benchmark"] == each.name)
        seen = {str(one["metric"]): one for one in own}
        quieter = each.instrument == "spawn" and {"time", "active", "user", "system"} <= {*seen}
        noise = {name: seen[name]["spread"] or 0.0 for name in ("time", "user")} if quieter else {}
        if (
            quieter
            and seen["time"]["decided"]
            and noise["time"] > _SHARPER * noise["user"]
            and seen["user"]["mean"] + seen["system"]["mean"] > _WORKING * seen["active"]["mean"]
        ):
            named.append(each.name)
        benchmarks.append(replace(each, metrics=["user"]) if each.name in named else each)
    return replace(found, benchmarks=benchmarks), named


def _other(own: str, others: Sequence[str], label: str) -> str | None:
    """Return what names another package in the label of a case, if nothing else there names the project."""
    mine = _plain(own)
    for name in (each for each in map(_plain, others) if len(each) > 3):
        match = re.search("[^a-z0-9]*".join(name), label, re.IGNORECASE)
        if match is None:
            continue
        # where it is a part of the project's name, as deep-equal is of fast-deep-equal, the whole label counts
        rest = [label] if name in mine else [label[: match.start()], label[match.end() :]]
        if not any(mine in _plain(each) for each in rest):
            return match[0]
    return None


def _beside(found: Found, labels: Sequence[str]) -> dict[str, str]:
    """Return the labels that name another package, each with the part that names it.

    Labels that differ in one part alone compare packages: that part is the project's name in one, and in the other a
    package that the project needs or the language's own library, more than once; or it is the owner of another package
    in the other one alone.
    """
    every = [[part.rpartition("=")[2] for part in re.split("[/,_ ]", each)] for each in labels]
    places: dict[tuple[object, ...], set[str]] = {}
    for parts in every:
        for at, part in enumerate(parts):
            places.setdefault((*parts[:at], None, *parts[at + 1 :]), set()).add(part)
    seen, own = dict[str, str](), _plain(found.name)
    needed = {_plain(each) for each in found.others if not each.endswith("/")}
    with_own = {place for place, names in places.items() if own and own in map(_plain, names)}
    compared = Counter(part for place in with_own for part in places[place])
    foreign = {each for each, count in compared.items() if count > 1 and own not in _plain(each)}
    foreign = {each for each in foreign if _plain(each) in needed or _STANDARD.match(each)}
    for label, parts in zip(labels, every, strict=True):
        for at, part in enumerate(parts):
            place = (*parts[:at], None, *parts[at + 1 :])
            of_owner = f"{part}/" in found.others and any(f"{each}/" not in found.others for each in places[place])
            if of_owner or (part in foreign and place in with_own):
                seen.setdefault(label, part)
    return seen


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def representatives(found: Found, trial: Mapping[str, Any]) -> tuple[Found, int, int] | None:
    """Choose of a suite with more cases than a budget has room for, by the suite's own filter; None: it has fewer.

    Without few of the slowest, where that is enough; else of each group of cases the fastest is taken.

    Returns:
        what is written instead, how many cases are chosen, and how many there are.
    """
    means = {each.name: {label: one["mean"] for label, one in _decided(each, trial)} for each in found.benchmarks}
    late = {each["benchmark"]: each for each in trial["benchmarks"] if each.get("longer_than") is not None}
    # by what it had printed until then
    short = _short(found, trial, means, late.values())
    # what took too long has a list, and no times
    listed = {name: each["names"] for name, each in late.items() if each.get("names")}
    means |= {name: dict.fromkeys(labels, 1.0) for name, labels in listed.items()}
    begun = {name for name in late if means[name]}
    total = sum(map(len, means.values()))
    few = min(_FEW, max(1, total // 4))
    many = few if listed else _MANY
    held = _held(found, trial)
    lengths = {each.name: _LENGTH.search(as_text(each.command)) for each in found.benchmarks}
    told = {name: float(each[2]) / (1000 if each[3] else 1) for name, each in lengths.items() if each}
    # few slow cases may take what would let the others be measured often
    often = _OFTEN if len(told) == len(means) and _finds_little(trial) else 1
    if not total or (total <= many and held >= _FEWEST * often and short >= total and not begun - {*listed}):
        return None
    lean = ((trial.get("plans") or {}).get("leaner") or {}).get("builds", 0) >= _BUILDS
    wanted, why = None, "left out: the slowest, which take most of the time"
    if total <= many and not begun and short >= total:
        if len(told) == len(means):
            room = _room(trial, _BUILDS)
            # executions differ more than values: where little is found, so many of each build are worth a few cases
            rooms = [(room / _OFTEN, 3), (room, 3 if lean else 2)][0 if _finds_little(trial) else 1 :]
            each = (_quick(found, trial, means, told, room, total * part / 4) for room, part in rooms)
            wanted = next(filter(None, each), None)
        if wanted is None and (lean or held >= _FEWEST or _enough(trial) <= 60 * _LONGEST):
            return None
    if wanted is None:
        why = "left out: its table names those that are measured"
        most = min(short, few if listed else _CHOSEN)
        most = max(1, int(min(most, total * (held if math.isinf(short) and not lean else math.inf) / _BUILDS)))
        counts = {b.name: {label: one.get("values", 1) for label, one in _decided(b, trial)} for b in found.benchmarks}
        shares = {name: max(1, round(most * len(own) / total)) for name, own in means.items()}
        wanted = {name: _spread(found, own, counts[name], shares[name]) for name, own in means.items()}
    # a benchmark whose suite has no filter stays whole
    filtered = {
        b.name: _chosen(b, wanted[b.name], chooses=_loaded(found))
        for b in found.benchmarks
        if b.name in begun or len(wanted[b.name]) < len(means[b.name])
    }
    chosen = sum(len((wanted if filtered.get(name) else means)[name]) for name in means)
    benchmarks = [filtered.get(each.name) or each for each in found.benchmarks]
    if benchmarks == found.benchmarks:
        return None
    # fewer cases leave room for more executions
    plan = least = found.plan
    if len(told) == len(means):
        least = suite_plan(chosen)[0]
    elif math.isfinite(short):
        least = fixed_plan(chosen, 0.1, 0.5)
    amount = replace(plan, executions=max(plan.executions, least.executions), budget=min(plan.budget, least.budget))
    rows = [Row(f"{total - chosen} of {total} cases", why), *found.rows]
    return replace(found, benchmarks=benchmarks, rows=rows, amount=amount), chosen, total


def _spread(found: Found, means: Mapping[str, float], counts: Mapping[str, int], count: int) -> list[str]:
    """Return so many cases at most: the fastest of each group, spread over the suite and not its first names.

    counts: of values that each has. What has many times as many as is usual takes as many times as long.
    """
    groups: dict[str, str] = {}
    usual = _OFTEN * median([counts.get(label, 1) for label in means] or [1])
    light = [label for label in means if counts.get(label, 1) <= usual]
    for label in sorted(light, key=means.__getitem__):
        # names of JavaScript are sentences
        parts = [label] if _loaded(found) else re.split(r"[/\[(<:]", re.sub(r"^\S+\.py::", "", label))
        groups.setdefault(parts[0], label)
    every = sorted(groups.values())
    step = max(1.0, len(every) / count)
    return [every[int(at * step)] for at in range(min(count, len(every)))]


def _loaded(found: Found) -> bool:
    """Return whether what is loaded into the programs leaves out what was not chosen."""
    return CHOOSES in found.environment.get("NODE_OPTIONS", "")


def _short(
    found: Found,
    trial: Mapping[str, Any],
    means: Mapping[str, Mapping[str, float]],
    late: Collection[Mapping[str, Any]],
) -> float:
    """Return how many cases a start may have where each takes the tool's own time; inf: they are as short as wanted.

    What is chosen stays: it is to suit a host that is not as loaded as this one may be now.

    late: benchmarks whose start was ended; means: the cases that they had printed until then, and those of the others.
    """
    cost, count = trial.get("cost"), sum(map(len, means.values()))
    longest = {_START.get(each.instrument, math.inf) for each in found.benchmarks}
    if not cost or max(longest) == math.inf:
        return math.inf
    start = sum(each["longer_than"] for each in late) or cost["executions"] / 2 / found.plan.executions
    each = max(start, 1e-3) / max(count, 1) / max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return max(1, int(min(longest) / each), min(_LEAST, int(_room(trial, _BUILDS) / 2 / each)))


def _quick(
    found: Found,
    trial: Mapping[str, Any],
    means: Mapping[str, Mapping[str, float]],
    told: Mapping[str, float],
    room: float,
    least: float,
) -> dict[str, list[str]] | None:
    """Return the cases without the slowest, if at least so many fit.

    told: seconds that a value is to last; room: those of one execution of both sides.
    """
    weights = {(name, label): max(mean, told[name]) for name, own in means.items() for label, mean in own.items()}
    share = trial["cost"]["executions"] / found.plan.executions / sum(weights.values())
    kept, spent = {name: list[str]() for name in means}, 0.0
    for name, label in sorted(weights, key=lambda each: weights[each]):
        spent += share * weights[name, label]
        kept[name] += [label] if spent <= room else []
    return kept if sum(map(len, kept.values())) >= least and all(kept.values()) else None


def _held(found: Found, trial: Mapping[str, Any]) -> float:
    """Return how many rounds of one execution the minutes hold in which a verdict is wanted; inf: that is not known."""
    cost = trial.get("cost")
    if cost is None or cost["least"]:
        return math.inf
    seconds = cost["builds"] + cost["executions"] / found.plan.executions
    return float(_ROOM * 60 * _MINUTES / max(seconds, 1e-3))


def _room(trial: Mapping[str, Any], rounds: int) -> float:
    """Return the seconds of executions in each of so many rounds within the minutes in which a verdict is wanted."""
    return float(_ROOM * 60 * _MINUTES / rounds - trial["cost"]["builds"])


def _enough(trial: Mapping[str, Any]) -> float:
    """Return the seconds of a budget that would find something; inf: none is known."""
    return float((trial.get("plans") or {}).get("enough") or math.inf)


def _finds_little(trial: Mapping[str, Any]) -> bool:
    """Return whether a plan as it is written finds large changes alone."""
    finds = ((trial.get("plans") or {}).get("fit") or {"finds": 0.0})["finds"]
    return finds is None or finds > _WIDE


def _chosen(measured: Proposed, labels: Sequence[str], *, chooses: bool) -> Proposed | None:
    """Return the benchmark with those cases alone, which its instrument makes the suite's filter; None: it has none.

    chooses: whether what is loaded into the program does.
    """
    if chooses or (measured.form or measured.instrument) in _FILTERS:
        return replace(measured, include=[*labels], exclude=[])
    # of what Catch2 prints a test case is the first part of the name
    parts = [next((own for own in measured.parts if f"{each}/".startswith(f"{own}/")), None) for each in labels]
    if parts and None not in parts:
        return of_parts(measured, [each for each in measured.parts if each in parts])
    text = as_text(measured.command)
    if measured.instrument == "jmh":
        # its own choice of methods stands last; behind a colon are parameters and the mode
        text = text[: text.rindex(" '")] if text.endswith("$'") else text
        methods = "|".join(dict.fromkeys(re.escape(label.split(":")[0]) for label in labels))
        # one value of a parameter where all that were chosen have it
        each = [re.findall(r"[{,](\w+)=([\w.-]+)(?=[,}])", label) for label in labels]
        values = [pair for pair in each[0] if all(pair in own for own in each)]
        words = [*(word for name, value in values for word in ("-p", f"{name}={value}")), f"^({methods})$"]
        return replace(measured, command=like(measured.command, f"{text} {shlex.join(words)}"))
    if measured.instrument == "pytest-benchmark":
        *words, last = text.rsplit("\n", 1)
        kept = [word for word in shlex.split(last) if not word.endswith(".py") or word.startswith("-")]
        return replace(measured, command=like(measured.command, "\n".join([*words, shlex.join([*kept, *labels])])))
    return None


def fitted(found: Found, trial: Mapping[str, Any]) -> Found:
    """Return the plan that gives a verdict in a few minutes here, as loaded as this host is, and limits that hold."""
    plans, built, cost = trial.get("plans") or {}, trial.get("built") or {}, trial.get("cost")
    if max(built.get("seconds") or 0.0, built.get("setup") or 0.0, built.get("compiled") or 0.0) > _SLOW_BUILD:
        found = replace(found, timeout=BUILD_LIMIT)
    plan, lean = found.plan, plans.get("leaner")
    if found.timed and cost and min(cost.get("starts", {}).values(), default=FIRST_STARTS) < FIRST_STARTS:
        # a start that takes so long needs none before it
        plan = replace(plan, warmup=0)
    elif not found.timed and lean:
        plan = replace(plan, executions=lean["executions"], iterations=lean["iterations"])
    if not found.timed and cost and not cost["least"]:
        each = cost["executions"] / found.plan.executions
        fit = max(_room(trial, _ROUNDS), _BESIDE * cost["builds"]) / max(each, 1e-3)
        # half of it is spare: a host may become twice as slow
        more = min(MOST_EXECUTIONS * VALUES // plan.iterations, int(fit / 2)) if _finds_little(trial) else 1
        plan = replace(plan, executions=max(1, min(plan.executions, int(fit)), more))
    if cost:
        # the first builds come beside the minutes of a verdict
        held = math.ceil((_ROOM * 60 * _MINUTES + cost["once"]) / 300)
        plan = replace(plan, budget=max(plan.budget, min(_LONGEST, 5 * held)))
    enough = _enough(trial)
    if plan == found.plan and not lean and 60 * plan.budget < enough <= 60 * _LONGEST:
        plan = replace(plan, budget=5 * math.ceil(enough / 300))
    return found if plan == found.plan else replace(found, amount=plan)
