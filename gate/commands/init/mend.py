"""What a trial teaches: the cure that a failure itself names, and results that are left out."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from gate.commands.init.fit import LONGEST, judged
from gate.commands.init.found import Amount, Found, Proposed, Row, as_printed, like, within
from gate.commands.init.python import COMPILED, ENVIRONMENT, SITE, by_pip, environment_of
from gate.commands.init.requirements import groups, normal, pip_words
from gate.commands.init.tree import Tree, table_of
from gate.config.commands import as_text
from gate.writing.units import plural

_FAILING, _PART = 3, 0.1
"""Tests that fail of a suite that otherwise passes, at most so many or such a part: they are left out."""
_STANDARD = re.compile(r"(?:std|stdlib|builtin|native|regexp)\b|(?:hash|btree)(?:map|set)\b", re.IGNORECASE)
"""What stands for the language's own library in the name of a case."""
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
        told = _Told(tree, name, text, failed)
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
    failed: Collection[str]
    """All benchmarks that failed."""


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
    if "error[E0554]" in text and "cargo bench" in build:
        return replace(found, build=build.replace("cargo bench", "cargo +nightly bench")), "with a nightly Rust"
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
    prints = any(each.form == "benchmark_js" and each.name not in told.failed for each in found.benchmarks)
    if prints or not any(own):
        return None
    benchmarks = [as_printed(each) if its else each for each, its in zip(found.benchmarks, own, strict=True)]
    return replace(found, benchmarks=benchmarks, amount=Amount(1, 1), environment={}), "by the times that it prints"


def _longer(found: Found, told: _Told) -> _Cure:
    """Give what takes longer than a trial a budget that holds it, by one value an execution: builds matter most."""
    plan = found.plan
    if not told.text.startswith(_NO_VALUES) or plan.budget >= LONGEST:
        return None
    amount = replace(plan, executions=1, warmup=0 if found.timed else plan.warmup, budget=LONGEST)
    return replace(found, amount=amount), f"budget = {LONGEST}m, and fewest values in each build, as one takes long"


_CURES = (
    *(_missing_module, _as_it_says, _for_others, _uncompiled, _refused_option, _unbuilt, _isolated_build),
    *(_wrong_folder, _as_printed),
)


def comparable(found: Found, trial: Mapping[str, Any]) -> tuple[Found, list[str]]:
    """Leave out results of other packages, those that are zero, which have no ratio, and single ones that fail.

    Returns: what is written instead, and in words what is left out.
    """
    said, benchmarks = list[str](), list[Proposed]()
    labels = [label for each in found.benchmarks for label, _ in judged(each, trial)]
    # they are compared with the project where some of them name it
    compared = bool(found.name) and any(_plain(found.name) in _plain(label) for label in labels)
    # what stands in every label is the tool, or a folder
    named = [name for name in found.others if not name.endswith("/")]
    apart = [name for name in named if not all(_plain(name) in _plain(label) for label in labels)]
    beside = _beside(found, labels, "[/,_ ]") | _beside(found, labels, "(?<=[a-z0-9])(?=[A-Z])|[/,_ ]")
    for each in found.benchmarks:
        cases = judged(each, trial)
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


def _other(own: str, others: Sequence[str], label: str) -> str | None:
    """Return what names another package in the label of a case, if nothing else there names the project."""
    mine = _plain(own)
    for name in (each for each in map(_plain, others) if len(each) > 3):
        # a word of its own: rand is none of random
        named = re.finditer("[^a-z0-9]*".join(name), label, re.IGNORECASE)
        match = next((each for each in named if not label[each.end() :][:1].islower()), None)
        if match is None:
            continue
        # where it is a part of the project's name, as deep-equal is of fast-deep-equal, the whole label counts
        rest = [label] if name in mine else [label[: match.start()], label[match.end() :]]
        if not any(mine in _plain(each) for each in rest):
            return match[0]
    return None


def _beside(found: Found, labels: Sequence[str], between: str) -> dict[str, str]:
    """Return the labels that name another package, each with the part that names it.

    Labels that differ in one part alone compare packages: that part is the project's name in one, and in the other a
    package that the project needs or the language's own library, more than once; or it is the owner of another package
    in the other one alone.

    between: what stands between the parts of a label.
    """
    every = [[part.rpartition("=")[2] for part in re.split(between, each)] for each in labels]
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
