"""Scripts that are benchmarks by their names, of any language; a placeholder where there is nothing to measure."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.ask import Asked
from gate.commands.init.found import MOST, Amount, Found, Proposed, Rank, Row, fixed_plan, placeholder
from gate.commands.init.tree import Tree, told

_NAMED = re.compile(
    r"(run[-_])?(bench|benches|benchmarks?|benchsuite|perf)([-_]?(all|main|run|suite)|[-_].*)?|.*[-_](bench|benchmarks?)"
)
_FOLDERS = {"bench", "benches", "benchmark", "benchmarks", "benchsuite", "perf", "performance"}
_RUNNERS = {"run", "main", "__main__", "run_all", "runner", "run_benchmarks"}
_ASIDE = {
    *("vendor", "third_party", "node_modules", "docs", "doc", "src", "lib", "site-packages", ".github", "ci", "fuzz"),
    *("contrib", "tools", "scripts"),
}
_DEEPEST = 4
_WANTS_ARGUMENTS = re.compile(r"\$\{?1\b|process\.argv\[2|\bARGV\[0\]|\$argv\[1\]")
_INTERPRETERS = {".sh": "sh", ".js": "node", ".mjs": "node", ".rb": "ruby", ".php": "php"}
_ADAPTIVE = re.compile(r"""["'](tinybench|mitata|benny|bench-node|cronometro|benchmark)["']""")
"""Libraries that repeat until a fixed time has passed: the time of the whole run says nothing."""
_TOLD = re.compile(
    r"^[ \t]*(?:[-*>][ \t]+)?`?(?:\$[ \t]+)?(?:(?:ba)?sh[ \t]+)?(?:\./)?([\w./-]+)[ \t]+(bench(?:marks?)?|perf)`?[ \t]*"
    r"(?:#[^\n]*)?\r?$",
    re.MULTILINE,
)
"""A script that a README starts with a word for benchmarks."""
_PHPBENCH = re.compile(r"\bpublic\s+function\s+bench\w*\s*\(")
_IPS = (
    "Benchmark.singleton_class.prepend(Module.new{def ips(*a,&b);super(*a){|x|b.call(x);x.config(time:0.3,warmup:0.1)}"
    '.tap{|r|File.open(ENV["PERFGATE_OUTPUT"]||File::NULL,"a"){|f|r.entries.each{|e|n=(N[e.label]+=1);'
    'f.puts({metric:n>1?"#{e.label} (#{n})":e.label,value:1/e.ips,unit:"s"}.to_json)}}}end});'
    "N=Hash.new(0);$0=File.expand_path(ARGV.shift);load $0"
)
"""Has benchmark-ips of Ruby, which repeats for a set time, take 0.4 s a case, and report each by its own name."""
_PYTHON = "a script bench.py, or tests with pytest-benchmark (docs/start/python.md)"
_JAVA = "JMH benchmarks, or a program that times its own work (docs/start/java.md)"
_START = {
    **dict.fromkeys(("pyproject.toml", "setup.py"), _PYTHON),
    "package.json": "a script bench in package.json (docs/start/javascript.md)",
    **dict.fromkeys(("pom.xml", "build.gradle", "build.gradle.kts"), _JAVA),
}
"""What a project without benchmarks needs first, by the file that its build tool reads."""


def is_benchmark(path: str) -> bool:
    """Return whether a script's name says that it runs benchmarks.

    In a folder of benchmarks any script may be a helper, so its own name must say so as well, or that it runs them.
    """
    place = PurePosixPath(path)
    folders = place.parts[:-1]
    if len(place.parts) > _DEEPEST or _ASIDE & set(folders):
        return False
    name = place.stem.lower()
    return bool(_NAMED.fullmatch(name)) or (name in _RUNNERS and bool(folders) and folders[-1].lower() in _FOLDERS)


def in_benchmarks(path: str) -> bool:
    """Return whether a file lies in the project's own folder of benchmarks, or that of its tests."""
    folder, _, name = path.lower().rpartition("/")
    return re.sub(r"^(?:tests?|spec)/", "", folder) in _FOLDERS and not name.startswith("_")


def of_script(name: str, command: list[str] | str, text: str) -> tuple[Proposed, Amount | None]:
    """Return the benchmark that a script is, and its plan: its own times where it writes them, else its whole run."""
    if "PERFGATE_OUTPUT" in text:
        comment = ["It writes its own times to the file that PERFGATE_OUTPUT names (docs/values.md)."]
        return Proposed(name, command, comment, "values"), Amount(2, 10, int("PERFGATE_WARMUP" in text))
    comment = ["The whole run, start included; the script may write its own times instead (docs/values.md)."]
    return Proposed(name, command, comment, rank=Rank.BENCHMARK), None


def look(tree: Tree, ask: Asked) -> Found:
    """Find a script that runs by itself and is called a benchmark."""
    del ask
    able = [path for path in tree.files if path.count("/") + 1 <= _DEEPEST and _of_benchmarks(path)]
    able = [path for path in able if _interpreter(tree, path) and _runs_alone(tree, path)]
    # in a folder of benchmarks a script need not say so, where none does
    scripts = [*filter(is_benchmark, able)] or able
    if not scripts:
        if (started := _started(tree)) is not None:
            return started
        notes = [f"{name} has no benchmarks: write {first}" for name, first in _START.items() if name in tree.names][:1]
        return Found("generic", "no known build tool or benchmark", [placeholder()], notes=notes)
    # what names the project's own code says more than what measures the language
    own = {PurePosixPath(path).stem for path in tree.ending(".gemspec")}
    foreign = {path for path in scripts if own and not any(name in tree.text(path) for name in own)}

    def order(path: str) -> tuple[bool, bool, int, bool, str]:
        # beside those that it is compared with stands the one that is called as the project
        return path in foreign, PurePosixPath(path).stem not in own, path.count("/"), "run" not in path, path

    script = min(scripts, key=order)
    first, amount = _measured(tree, script)
    # those whose results are read are measured together
    others = [path for path in sorted(scripts) if path != script and path not in foreign]
    beside = {path: each for path in others for each, _ in [_measured(tree, path)] if each.instrument == "values"}
    alike = [*beside][: MOST - 1] if first.instrument == "values" else []
    locked = "package-lock.json" in tree.names and "node_modules/" not in tree.ignored
    setup = "npm ci --no-audit --no-fund" if first.command[0] == "node" and locked else None
    if script.endswith(".php") and "composer.json" in tree.names and "vendor/" not in tree.ignored:
        setup = "composer install --quiet --no-interaction"
    rows = [Row(f"script {p}", "left out: one script is measured") for p in scripts if p not in (script, *alike)]
    benchmarks = [first, *(beside[path] for path in alike)]
    return replace(Found("generic", f"script {script}", benchmarks, setup=setup, rows=rows), amount=amount)


def _started(tree: Tree) -> Found | None:
    """Find a script that a README starts with a word for benchmarks."""
    for path, match in told(tree, _TOLD):
        script, word = match.groups()
        if script in tree.names and (interpreter := _interpreter(tree, script)):
            itself = os.access(tree.directory / script, os.X_OK)
            command = [*([f"./{script}"] if itself else [interpreter, script]), word]
            measured, amount = of_script(word, command, tree.text(script))
            return replace(Found("generic", f"a line of {path}", [measured]), amount=amount)
    return None


def _measured(tree: Tree, script: str) -> tuple[Proposed, Amount | None]:
    """Return the benchmark that a script is, and its plan: what its library finds, what it tells, or its whole run."""
    text = tree.text(script)
    itself = os.access(tree.directory / script, os.X_OK) and text.startswith("#!")
    command = [f"./{script}"] if itself else [_interpreter(tree, script), script]
    measured, amount = of_script(PurePosixPath(script).stem, command, text)
    ips = script.endswith(".rb") and re.search(r"""["']benchmark/ips["']|\bBenchmark\.ips\b""", text)
    if ips and measured.instrument == "spawn":
        libraries = ["-Ilib"] if any(tree.ending(".rb", under="lib")) else []
        command = ["ruby", *libraries, "-rjson", "-rbenchmark/ips", "-e", _IPS, script]
        comment = ["The time of one call that benchmark-ips finds for each report, which -e has it tell."]
        measured = replace(measured, command=command, comment=comment, instrument="values", rank=Rank.RESULTS)
        amount = fixed_plan(len(re.findall(r"\.report\b", text)), 0.3, 0.4)
    return measured, amount


def _of_benchmarks(path: str) -> bool:
    # those of JavaScript are called by scripts of package.json
    return is_benchmark(path) or (in_benchmarks(path) and not path.endswith((".js", ".mjs")))


def _interpreter(tree: Tree, path: str) -> str:
    """Return what executes a script, by its first line or the end of its name; "": it is none."""
    suffix = PurePosixPath(path).suffix
    if suffix not in ("", ".sh"):
        return _INTERPRETERS.get(suffix, "")
    named = re.match(r"#!\s*\S*?(?:env\s+(?:-S\s+)?)?(bash|sh|node|ruby|php|python3?)\b", tree.text(path))
    return named[1] if named else _INTERPRETERS.get(suffix, "")


def _runs_alone(tree: Tree, path: str) -> bool:
    place = PurePosixPath(path)
    # what another loads is a part of that; Ruby and JavaScript have a `benchmark` of their own, projects their library
    loads = rf"""\b(?:require\w*|load|include|source|import)\b[^\n]*["'/ ]{re.escape(place.stem)}(?:\.\w+)?["')\s]"""
    others = [each for each in tree.ending(place.suffix, under=str(place.parent)) if each != path]
    library = place.stem == "benchmark" or f"lib/{place.name}" in tree.names
    if not library and any(re.search(loads, tree.text(each)) for each in others):
        return False
    # a class of phpbench does nothing by itself
    if place.suffix == ".php" and "phpbench" in tree.text("composer.json") and _PHPBENCH.search(tree.text(path)):
        return False
    # what it starts may be in a file beside it
    beside = tree.ending(place.suffix, under=str(place.parent)) if place.suffix in (".js", ".mjs") else ()
    return not _WANTS_ARGUMENTS.search(tree.text(path)) and not any(
        _ADAPTIVE.search(tree.text(file)) for file in beside
    )
