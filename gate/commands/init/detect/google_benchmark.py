"""Programs of CMake projects that are linked with Google Benchmark."""

from __future__ import annotations

import re
from dataclasses import replace

from gate.commands.init.detect.cmake_files import FILE, Program, Project
from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, names_of
from gate.commands.init.detect.tree import Tree
from gate.units import agree, plural

_HEADER = re.compile(r"^\s*#\s*include\s*[<\"]benchmark/benchmark\.h", re.MULTILINE)
_CASE = re.compile(
    r"^\s*(?:BENCHMARK(?:_F|_CAPTURE|_TEMPLATE\w*|_REGISTER_F)?\(|benchmark::RegisterBenchmark\()", re.MULTILINE
)
_OVERHEAD = 0.4  # finding how many iterations a value takes
_MOST = 12


def _is_suite(project: Project, built: Program) -> bool:
    own = any(_HEADER.search(project.tree.text(path)) for path in built.sources)
    return (built.name in project.linked or own) and "test" not in built.name.lower()


def look(tree: Tree, project: Project) -> Found | None:
    """Find the programs with benchmarks, also those of options that are off; None without one."""
    every = [built for built in project.programs if _is_suite(project, built)]
    return _found(tree, project, every) if every else None


def _found(tree: Tree, project: Project, every: list[Program]) -> Found:
    programs, rest = every[:_MOST], every[_MOST:]
    texts = [tree.text(path) for built in programs for path in built.sources]
    cases = max(len(programs), sum(len(_CASE.findall(text)) for text in texts))
    suite = Suite(cases, _OVERHEAD, 0, "Longer if arguments yield many or a call is slow.")
    length = length_of_value(suite)
    # without its unit, which versions before 1.8 do not take
    option = f"--benchmark_min_time={length:g}"
    comment = [
        f"A value is a mean over {1000 * length:.0f} ms (--benchmark_min_time): many short values, over executions and",
        "builds, show the noise that a long one hides. --benchmark_filter chooses benchmarks.",
    ]
    names = names_of((built.name for built in programs), "bench")
    first, *more = [
        Measured(name, [f"./{built.path}", option], [], instrument="google-benchmark")
        for name, built in zip(names, programs, strict=True)
    ]
    options = "".join(f" -D{name}=ON" for name in dict.fromkeys(need for built in programs for need in built.needs))
    left = ", ".join(built.name for built in rest[:_MOST])
    targets = " ".join(built.name for built in programs)
    binary = project.binary
    configure = f"cmake -S . -B {binary} -DCMAKE_BUILD_TYPE=Release{options}"
    return Found(
        "cmake",
        f"{FILE}, {', '.join(built.name for built in programs)} with Google Benchmark",
        replace(first, comment=comment),
        f"{configure} && {_cleaned(project)}cmake --build {binary} --parallel 2 --target {targets}",
        [
            "The project's own objects are made anew each time, so that the builds of a side differ as two builds do;",
            "what it fetches is downloaded and built once a side.",
        ],
        artifacts=[built.path for built in programs],
        notes=[
            (
                f"{plural(len(rest), 'more program')} with benchmarks {agree(len(rest), 'is', 'are')} left out "
                f"({left}): add what matters"
            )
        ]
        if rest
        else [],
        more=more,
        amount=amount(suite, length),
    )


def _cleaned(project: Project) -> str:
    # --clean-first would compile what is fetched anew, too, which can take longer than all else
    return f"find {project.binary} -path {project.binary}/_deps -prune -o -name '*.o' -exec rm {{}} + && "
