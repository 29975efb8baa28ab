"""Programs of CMake projects that are written for a benchmark library: Google Benchmark, Catch2 or nanobench."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace

from gate.commands.init.detect import test_cases
from gate.commands.init.detect.c_programs import refuses_to_start
from gate.commands.init.detect.cmake_files import FILE, Program, Project
from gate.commands.init.detect.repetitions import Suite, amount, fixed_amount, length_of_value
from gate.commands.init.detect.result import Amount, Found, Measured, left_out, names_of

_GOOGLE_TARGETS = {"benchmark", "benchmark_main", "benchmark::benchmark", "benchmark::benchmark_main"}
_GOOGLE = re.compile(r"^\s*#\s*include\s*[<\"]benchmark/benchmark\.h", re.MULTILINE)
_GOOGLE_CASE = re.compile(
    r"^\s*(?:BENCHMARK(?:_F|_CAPTURE|_TEMPLATE\w*|_REGISTER_F)?\(|benchmark::RegisterBenchmark\()", re.MULTILINE
)
_OVERHEAD = 0.4  # finding how many iterations a value takes
_CATCH2 = re.compile(r"^\s*#\s*include\s*[<\"](?:catch2/|catch\.hpp|catch_amalgamated\.hpp)", re.MULTILINE)
_CATCH2_CASE = re.compile(r"^\s*BENCHMARK(?:_ADVANCED)?\s*\(", re.MULTILINE)
_CATCH2_TESTS = re.compile(r"^\s*(?:TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE)\s*\(", re.MULTILINE)
_TAG = re.compile(r"\[[^\]\"]*(?:bench|perf)[^\]\"]*\]", re.IGNORECASE)
_NANOBENCH = re.compile(r"^\s*#\s*include\s*[<\"](?:[\w/]*/)?nanobench\.h", re.MULTILINE)
_NANOBENCH_CASE = re.compile(r"\.\s*run\s*\(")
_TESTS = re.compile(r"^\s*(?:TEST_CASE|TEST|TEST_F)\s*\(", re.MULTILINE)
_BENCH = re.compile(r"bench|perf", re.IGNORECASE)
_MORE = "Longer if arguments yield many benchmarks or a call is slow."
_MOST = 12

Texts = list[str]


def look(project: Project) -> Found | None:
    """Find the programs with benchmarks of a library, also those of options that are off; None without one."""
    for uses, found in ((_uses_google, _google), (_uses_catch2, _catch2), (_uses_nanobench, _nanobench)):
        using = [built for built in project.programs if uses(built, _texts(project, [built]))]
        every = [built for built in using if not any(map(refuses_to_start, _texts(project, [built])))]
        # unit tests may hold a benchmark as well
        named = [built for built in every if _BENCH.search(built.name)]
        if every:
            made = _found(project, named if uses is _uses_catch2 and named else every, found)
            wanting = [f"{built.name} needs arguments not known here" for built in using if built not in every]
            return replace(made, notes=[*made.notes, *wanting])
    return None


def build(project: Project, needs: tuple[str, ...], programs: list[Program]) -> str:
    """Return the command that compiles once a side, and links again in each build.

    Args:
        needs: options to be switched on.
        programs: those that are built; none for everything that is built by default.
    """
    binary = project.binary
    options = "".join(f" -D{name}=ON" for name in needs)
    steps = [f"cmake -S {project.source or '.'} -B {binary} -DCMAKE_BUILD_TYPE=Release{options}"]
    if programs:
        steps.append(f"rm -f {' '.join(built.path for built in programs)}")
    if project.shared or not programs:
        made = (
            r"\( -name '*.so' -o -name '*.so.[0-9]*' \)"
            if programs
            else "-name CMakeFiles -prune -o -type f -perm -u=x"
        )
        steps.append(f"find {binary} -path {binary}/_deps -prune -o {made} -exec rm {{}} +")
    targets = f" --target {' '.join(built.name for built in programs)}" if programs else ""
    return " && ".join([*steps, f"cmake --build {binary} --parallel 2{targets}"])


def build_comment(project: Project) -> list[str]:
    """Return what stands above that command."""
    fetched = " What the project fetches is downloaded once a side." if project.fetches else ""
    return [
        "Everything is compiled once a side. Each build links again, in another order of the objects",
        f"(docs/layout.md).{fetched}",
    ]


def _texts(project: Project, programs: list[Program]) -> Texts:
    return [project.tree.text(path) for built in programs for path in built.sources]


def _uses_google(built: Program, texts: Texts) -> bool:
    linked = bool(_GOOGLE_TARGETS & built.libraries) or any(_GOOGLE.search(text) for text in texts)
    return linked and "test" not in built.name.lower()


def _uses_catch2(_: Program, texts: Texts) -> bool:
    return any(_CATCH2.search(text) and _CATCH2_CASE.search(text) for text in texts)


def _uses_nanobench(_: Program, texts: Texts) -> bool:
    # other tests would print among its tables
    tested = any(map(_TESTS.search, texts))
    return any(map(_NANOBENCH.search, texts)) and (not tested or test_cases.cases(texts) is not None)


def _found(
    project: Project, every: list[Program], kind: Callable[[Project, list[Program]], tuple[str, list[Measured], Amount]]
) -> Found:
    programs, rest = every[:_MOST], every[_MOST:]
    library, measured, plan = kind(project, programs)
    names = names_of((built.name for built in programs), "bench")
    first, *more = [replace(each, name=name) for name, each in zip(names, measured, strict=True)]
    return Found(
        "cmake",
        f"{posixpath.join(project.source, FILE)}, {', '.join(built.name for built in programs)} with {library}",
        first,
        build(project, tuple(dict.fromkeys(need for built in programs for need in built.needs)), programs),
        build_comment(project),
        artifacts=[built.path for built in programs],
        notes=left_out([built.name for built in rest], "program with benchmarks", "programs with benchmarks"),
        more=more,
        amount=plan,
    )


def _google(project: Project, programs: list[Program]) -> tuple[str, list[Measured], Amount]:
    cases = max(len(programs), sum(len(_GOOGLE_CASE.findall(text)) for text in _texts(project, programs)))
    suite = Suite(cases, _OVERHEAD, 0, _MORE, warmup=0)
    length = length_of_value(suite)
    # without its unit, which versions before 1.8 do not take
    option = f"--benchmark_min_time={length:g}"
    comment = [
        f"A value is a mean over {1000 * length:.0f} ms (--benchmark_min_time): many short values, over executions and",
        "builds, show the noise that a long one hides. --benchmark_filter chooses benchmarks.",
    ]
    measured = [Measured("", [f"./{built.path}", option], [], instrument="google-benchmark") for built in programs]
    return "Google Benchmark", [replace(measured[0], comment=comment), *measured[1:]], amount(suite, length)


def _catch2(project: Project, programs: list[Program]) -> tuple[str, list[Measured], Amount]:
    texts = _texts(project, programs)
    tags = list(dict.fromkeys(tag for text in texts for tag in _tags(text)))
    comment = ["The mean that Catch2 finds for each BENCHMARK. --benchmark-samples sets how many samples it takes."]
    comment += (
        [] if tags else ["Name the test cases with benchmarks, or give them a tag, so that the others do not run."]
    )
    options = [*([",".join(tags)] if tags else []), "--reporter", "xml", "--out", "{output}"]
    measured = [_values([f"./{built.path}", *options], "catch2", comment) for built in programs]
    cases = sum(len(_CATCH2_CASE.findall(text)) for text in texts)
    return "Catch2", measured, fixed_amount("Catch2", cases, 0.1, 0.6)


def _tags(text: str) -> list[str]:
    """Return the tags about benchmarks of the test cases that hold one."""
    starts = [match.start() for match in _CATCH2_TESTS.finditer(text)]
    bodies = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=False)]
    return [tag for body in bodies if _CATCH2_CASE.search(body) for tag in _TAG.findall(body.split("{")[0])[:1]]


def _nanobench(project: Project, programs: list[Program]) -> tuple[str, list[Measured], Amount]:
    measured: list[Measured] = []
    count = 0
    for built in programs:
        comment = ["The median that nanobench prints for each benchmark, by its operations in a second."]
        texts = _texts(project, [built])
        cases = test_cases.cases(texts)
        count += cases.benchmarks if cases else max(1, sum(len(_NANOBENCH_CASE.findall(text)) for text in texts))
        if cases and cases.left_out:
            comment.append("Left out, as each benchmark needs a name of its own: " + ", ".join(cases.left_out))
        measured.append(_values([f"./{built.path}", *(cases.options if cases else [])], "nanobench", comment))
    return "nanobench", measured, fixed_amount("nanobench", count, 0.1, 0.2)


def _values(command: list[str], form: str, comment: list[str]) -> Measured:
    return Measured("", command, comment, instrument="values", form=form)
