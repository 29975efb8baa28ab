"""JavaScript: the benchmark script of package.json, or files of a benchmark library.

These libraries repeat until a fixed time has passed, so the time of a run says nothing. Their results are read instead:
vitest's own JSON, and the lines that benchmark.js has its users print.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote

from gate.commands.init.ask import Asked, has
from gate.commands.init.found import MOST, Amount, Found, Proposed, Row, fixed_plan, names_of, placeholder
from gate.commands.init.scripts import of_script
from gate.commands.init.tree import Tree, folder_of, table_of
from gate.config.commands import as_text
from harness.source.git import git_of

_SCRIPTS = ("bench", "benchmark", "benchmarks", "perf", "bench:run", "benchmark:run")
_PART = re.compile(
    r"bench(?:mark)?s?[:-](?!browser|build|ci$|clean|compare|dev|install|lint|prepare|report|serve|setup|test|update|watch).*"
)
"""A script of some of the benchmarks, or for them."""
_RUNTIME = re.compile(r"(?:^|&&\s*)(?:npx\s+)?(bun|deno)\b")
"""What executes a script that no other runtime may understand, and that no dependency brings."""
_PASSES_ON = re.compile(
    r"\b(?:lerna|nx|turbo|wsrun)\s|"
    r"\b(?:npm|pnpm|yarn)\b[^&|;]*\s(?:-r|--recursive|-ws?|--workspaces?|-F|--filter|workspaces?|-C|--cwd|--dir|--prefix)\b"
)
"""A script that starts those of other packages: each of them tells its own results."""
_FOREIGN = re.compile(r"\b(cargo|go|pytest|make|hyperfine)\b")
_SAFE = re.compile(r"[\w@./-]+")
_DIRECT = re.compile(r"node(?:\s+[\w@./=:-]+)+")
"""A script that needs neither a shell nor what is installed in node_modules/.bin."""
_FOLDERS = ("bench", "benches", "benchmark", "benchmarks", "perf")
_ENTRIES = ("index", "bench", "benchmark", "benchmarks", "run", "main")
_BENCH = re.compile(r"^bench(?:mark)?s?[-_.]|[-_.]bench(?:mark)?s?\.\w+$")
_JAVASCRIPT = (".js", ".mjs", ".cjs")
_VITEST_FILE = re.compile(r"\.bench(?:mark)?\.[cm]?[jt]sx?$")
"""What vitest looks for by itself."""
_CHOICE = (
    "const v=process.env,L=k=>(v[k]||'').split('\\n').filter(Boolean),I=L('PERFGATE_INCLUDE'),E=L('PERFGATE_EXCLUDE'),"
    "w=N=>{const n=N.trim();return(!I[0]||I.some(g=>{const h=g.replace(/ \\(\\d+\\)$/,'').trim();"
    "return g==N||h==n||h.endsWith('/'+n)||/[*?[]/.test(g)}))"
    "&&!E.some(g=>g==N||/^\\*[^*?[]+\\*$/.test(g)&&n.includes(g.slice(1,-1)))},"
    "U={},q=(s,k)=>s.name?`${s.name}: ${k.trim()}`:k,"
    "u=(s,k)=>{const f=q(s,k),o=U[f]=U[f]||[];o.includes(s)||o.push(s);"
    "const i=o.indexOf(s);return i?`${f} (${i+1})`:f};"
)
"""Tells of a name whether it is to be measured, at least: a heading may stand before it, and a number behind it.

Names are told with their suite's, and with a number where several suites have one: each case is one of its own.
"""
_LIMITS = "p.time=Math.min(p.time||100,100);p.warmupTime=Math.min(p.warmupTime||50,50);"
_REPORTS = (
    'import{appendFileSync as a}from"node:fs";const d=EventTarget.prototype.dispatchEvent;'
    "EventTarget.prototype.dispatchEvent=function(e){const o=v.PERFGATE_OUTPUT,t=e.task;if(o&&this.tasks){"
    f"if(/start|warmup/.test(e.type)){{const p=this.opts||this;{_LIMITS}"
    "for(const t of[...this.tasks])w(q(this,t.name))||this.remove(t.name)}"
    'if(e.type=="cycle"&&t){const r=t.result,m=r&&(r.latency||r).mean;if(m)'
    'a(o,JSON.stringify({metric:u(this,t.name),value:m,unit:"ms"})+"\\n")}}return d.call(this,e)}'
)
"""Has a Bench of tinybench take 0.1 s a task, and report the mean of each when it has run; in workers too."""
_OF_VITEST = (
    "const d=EventTarget.prototype.dispatchEvent;EventTarget.prototype.dispatchEvent=function(e){const p=this.bench;"
    f"if(p&&e.type=='warmup'){{{_LIMITS}}}return d.call(this,e)}}"
)
"""Has the Bench that vitest makes for each case take as little; vitest reports by itself."""
_SHORT = (
    'import m from"node:module";import{appendFileSync as a}from"node:fs";const l=m._load;m._load=function(n){'
    "const b=l.apply(this,arguments);if(/\\bbenchmark(\\.js)?$/.test(n)&&b.Suite&&!b.own){b.own=b.options.maxTime=0.1;"
    "b.options.minTime=0.02;const S=b.Suite.prototype,A=S.add,R=S.run;S.add=function(n){const k=n&&n.name||n;"
    "if(typeof k!='string')return A.apply(this,arguments);if(!w(NAME))return this;"
    "const r=A.apply(this,arguments),e=this[this.length-1];if(e)e.told=u(this,k);return r};"
    "S.run=function(){for(let i=0;i<this.length;i++){const o=this[i].options||{};"
    "o.maxTime=Math.min(o.maxTime,.1);o.minSamples=Math.min(o.minSamples,5)}"
    "if(this.length||!I[0]&&!E[0])return R.apply(this,arguments);this.emit('start');this.emit('complete');"
    "return this};TELL}return b}"
)
"""Has benchmark.js take some 0.2 s a case instead of 5.5 or what a script asks; a suite without cases still ends."""
_TELLS = (
    "const p=b.prototype,t=p.emit;p.emit=function(e){const o=v.PERFGATE_OUTPUT,s=this.stats;"
    "if(o&&(e.type||e)==`complete`&&!this._original&&s&&s.mean)a(o,JSON.stringify({metric:this.told||this.name||`${this.id}`,"
    "value:s.mean,unit:`s`})+'\\n');return t.apply(this,arguments)}"
)
"""Has it report each mean, too, for users who do not print the lines that are read."""
_HOOKS = {
    tool: "--import=data:text/javascript," + quote(text, safe="!$&'()*+,-./:;<=>@[]^_`{|}~")
    for tool, text in {
        "tinybench": _CHOICE + _REPORTS, "benchmark.js": _CHOICE + _SHORT.replace("NAME", "k").replace("TELL", ""),
        "benchmark": _CHOICE + _SHORT.replace("NAME", "q(this,k)").replace("TELL", _TELLS), "vitest": _OF_VITEST,
    }.items()
}  # fmt: skip
_LIBRARIES = ("tinybench", "mitata", "benny", "bench-node", "cronometro", "hotbench", "jest-bench", "iso-bench")
_READ = {
    "vitest": ("vitest", 2.0, 0.3), "benchmark.js": ("benchmark_js", 0.5, 0.3), "benchmark": (None, 0.5, 0.2),
    "tinybench": (None, 0.5, 0.2), **dict.fromkeys(("mitata", "bench-node", "cronometro"), ("printed", 0.5, 1.0)),
}  # fmt: skip
"""By the tool: the format of its results, seconds of a start, and of each case."""
_PRODUCT = re.compile(r"""["'/](?:dist|build|out|target|wasm)["'/]|child_process""")
"""A path of what builds make, or what starts it."""
_IMPORT = r"""(?:from\s*|require\(\s*|import\s*(?:\(\s*)?)["']{}["']"""
MANAGERS = {
    "pnpm-lock.yaml": ("pnpm", "pnpm install --frozen-lockfile --silent", "pnpm --silent run", "pnpm exec"),
    "yarn.lock": ("yarn", "yarn install --frozen-lockfile --silent", "yarn --silent run", "yarn --silent exec --"),
    "bun.lock": ("bun", "bun install --frozen-lockfile --silent", "bun run --silent", "bun x"),
    "bun.lockb": ("bun", "bun install --frozen-lockfile --silent", "bun run --silent", "bun x"),
    "package-lock.json": ("npm", "npm ci --no-audit --no-fund", "npm run --silent", "npx --no-install"),
    "npm-shrinkwrap.json": ("npm", "npm ci --no-audit --no-fund", "npm run --silent", "npx --no-install"),
}
"""By the lock file: the name, and how it installs, runs and executes."""
UNLOCKED = ("npm", "npm install --no-package-lock --no-audit --no-fund", "npm run --silent", "npx --no-install")
_BERRY = ("yarn", "yarn install --immutable", "yarn run", "yarn exec")
_BY_NPM = {"pnpm": "pnpm@{} --config.manage-package-manager-versions=false", "yarn": "yarn@1", "bun": "bun"}
"""What npm can start of a manager that is not installed; of pnpm the one that reads the lock file."""


class _Script(NamedTuple):
    directory: str
    """Of its package.json, "" for the project's own."""
    name: str
    text: str
    package: dict[str, Any]
    file: str | None = None
    """The file that is run where package.json has no script for it."""


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a script of package.json, of a workspace's or of a package of benchmarks; None without one."""
    root = tree.json("package.json")
    every = sorted([*_scripts(tree, root, ask), *_entries(tree, root)], key=lambda e: (_lacking(e), _passes_on(e)))
    if not every:
        return None
    script = every[0]
    manager = _manager(tree, root)
    _, install, run, execute = manager
    # a workspace is installed with the project
    own = script.directory if not _has_workspaces(tree, root) else ""
    of_project = _dependencies(root) if own else _dependencies(root) | _dependencies(script.package)
    script, inner, folder = _split(script)
    installs = [install] if of_project or manager != UNLOCKED else []
    if own and _dependencies(script.package):
        installs.append(f"cd {shlex.quote(own)} && {_manager(tree, script.package, own)[1]}")
    installs += [f"({each})" for each in inner]
    inside = tree.json(posixpath.normpath(posixpath.join(folder, "package.json")))
    # a folder of benchmarks may have packages of its own, which are installed with the project's workspaces, or there
    nearest = {_package_of(tree, path) for path in _files(tree, script)} - {"", script.directory, folder}
    with_own = [each for each in sorted(nearest) if _dependencies(tree.json(f"{each}/package.json"))]
    if not _has_workspaces(tree, root):
        installs += [f"(cd {shlex.quote(each)} && {_manager(tree, {}, each)[1]})" for each in with_own]
    needed = _dependencies(root) | _dependencies(script.package) | _dependencies(inside)
    needed = needed.union(*(_dependencies(tree.json(f"{each}/package.json")) for each in with_own))
    how = (run.split(), execute, needed)
    tool, first, amount, notes = _measured(tree, script, *how)
    # what one library measures in several files is measured together, whether package.json has a script for each
    together = [each for each in every[1:] if _beside(tree, script, each)]
    made = [(each, _measured(tree, each, *how)) for each in together]
    beside = [(each, one) for each, (its, one, *_) in made if its == tool]
    alike = [script, *(each for each, _ in beside)][:MOST]
    benchmarks = [first, *(one for _, one in beside)][:MOST]
    if len(alike) > 1:
        names = names_of((PurePosixPath(each.file or each.name).stem for each in alike), script.name)
        benchmarks = [replace(each, name=name) for each, name in zip(benchmarks, names, strict=True)]
    rows = [
        Row(
            each.file or f"script {each.name} of {each.directory or '.'}",
            f"left out: {_lacking(each)} is not installed" if _lacking(each) else "left out: one script is measured",
        )
        for each in every[1:]
        if each not in alike and (each.file is None or script.file is not None)
    ]
    texts = [tree.text(path) for each in alike for path in _files(tree, each)]
    # imported, or named in a table of what is loaded later
    others = tuple(d for d in needed if any(re.search(rf"""["']{re.escape(d)}(?:/[^"']*)?["']""", t) for t in texts))
    if manager == UNLOCKED and of_project:
        notes.append("there is no lock file, so each side gets the newest dependencies: better commit one")
    before = f"pre{script.name}"
    if before in table_of(script.package, "scripts") or re.search(r"\bbuild\b|\btsc\b", script.text):
        notes.append(f"script {script.name} builds each time, which is measured with it: better move that into [build]")
    return Found(
        "npm", script.file or f"script {script.name} of {PurePosixPath(script.directory, 'package.json')}", benchmarks,
        f"{run} build" if "build" in table_of(root, "scripts") and not _of_sources(tree, root, alike) else None,
        setup=" && ".join(installs) or None,
        # an install would write through the link of `share`
        products=[p.rstrip("/") for p in tree.ignored if PurePosixPath(p).name == "node_modules"] if installs else [],
        environment={"NODE_OPTIONS": _HOOKS[tool]} if tool in _HOOKS and first.command else {},
        notes=notes, rows=rows, amount=amount, name=str(root.get("name", "")).rpartition("/")[2], others=others,
    )  # fmt: skip


def _package_of(tree: Tree, path: str) -> str:
    """Return the folder of the package.json that a file's packages are looked up by; "" for the project's own."""
    above = (str(each) for each in PurePosixPath(path).parents)
    return next((each for each in above if f"{each}/package.json" in tree.names), "")


def _lacking(script: _Script) -> str:
    """Return the runtime that a script is for, where it is not installed; else ""."""
    named = _RUNTIME.search(script.text)
    return named[1] if named and not has(named[1]) else ""


def _passes_on(script: _Script) -> bool:
    return bool(_PASSES_ON.search(script.text))


def _beside(tree: Tree, script: _Script, other: _Script) -> bool:
    """Return whether two scripts start different files, and nothing else, in one folder."""
    if script.directory != other.directory or _lacking(other) or (script.file is None) != (other.file is None):
        return False
    if script.file is not None:
        return True
    first, second = ({*_named(tree, each)} for each in (script, other))
    return bool(first and second and not first & second) and not re.search(r"[&|;<>]", f"{script.text}{other.text}")


def _named(tree: Tree, script: _Script) -> list[str]:
    """Return the files of the project that a script names as node finds them, in a folder of benchmarks or not."""
    words = (word.strip("\"'") for word in script.text.split()[1:])
    return [path for word in words if (path := _resolved(tree, script.directory, word))]


def _resolved(tree: Tree, folder: str, name: str) -> str | None:
    """Return the file of the project that a relative name means to node, or to what runs TypeScript."""
    place = posixpath.join(folder, name)
    ends = ("", ".js", ".json", ".ts", ".tsx", "/index.js", "/index.ts", "/package.json")
    named = [f"{place}{end}" for end in ends] + [re.sub(r"\.([cm]?)js$", r".\1ts", place)]
    return next((path for path in map(posixpath.normpath, named) if path in tree.names), None)


def _of_sources(tree: Tree, root: dict[str, Any], scripts: list[_Script]) -> bool:
    """Return whether all that scripts load are sources, so that no build makes anything of what is measured."""
    built = ("lib",) if any(tree.ending("", under="src")) else ()
    folders = {"", "lib", "src", "source", "test", "tests", *_FOLDERS}.difference(built)
    begun = {path for each in scripts for path in ([each.file] if each.file else _named(tree, each))}
    left, seen = [*begun], set[str]()
    while left:
        text = tree.text(path := left.pop())
        named = re.findall(_IMPORT.format(r"""([^"'\n]+)"""), text)
        inner = {_resolved(tree, folder_of(path), name) for name in named if name.startswith(".")}
        own = any(f"{name}/".startswith(f"{root.get('name')}/") for name in named)
        if folder_of(path).split("/")[0] not in folders or own or None in inner or _PRODUCT.search(text):
            return False
        seen.add(path)
        left += {each for each in inner if each} - seen
    # what loads none of the project may start it, and a workspace may load another one's product
    return seen > begun and not _has_workspaces(tree, root)


def _absent(tree: Tree, script: _Script) -> str:
    """Return the file that a script gives to node, where it is neither there nor what a build would make; else ""."""
    named = re.fullmatch(r"node(?:\s+--[\w=-]+)*\s+([\w@.][\w@./-]*)(\s.*)?", script.text.strip())
    if named is None or not tree.git or _named(tree, script):
        return ""
    path = posixpath.normpath(posixpath.join(script.directory, named[1]))
    ignored = git_of(tree.directory).seeing(GIT_LITERAL_PATHSPECS="0").maybe("check-ignore", "--", path) is not None
    return "" if ignored else path


def _split(script: _Script) -> tuple[_Script, list[str], str]:
    """Take installing packages, and the build, out of a script, which measures them not; give them, and its folder."""
    built = isinstance(table_of(script.package, "scripts").get("build"), str)
    into, inner, rest = list[str](), list[str](), list[str]()
    for step in re.split(r"\s*&&\s*", script.text.strip()):
        if re.fullmatch(r"cd [\w./-]+", step):
            into.append(step)
            rest.append(step)
        elif re.fullmatch(r"(npm|pnpm|yarn) (ci|i|install)\b[\w -]*", step):
            # the project's own are installed by its lock file
            inner += [" && ".join([*into, step])] if into else []
        elif into or not (built and re.fullmatch(r"(npm|pnpm|yarn) run build", step)):
            rest.append(step)
    folder = str(PurePosixPath(script.directory, *(each.removeprefix("cd ") for each in into)))
    return (script._replace(text=" && ".join(rest)) if len(rest) > len(into) else script), inner, folder


def _measured(
    tree: Tree, script: _Script, run: list[str], execute: str, dependencies: set[str]
) -> tuple[str | None, Proposed, Amount | None, list[str]]:
    texts = [tree.text(path) for path in _files(tree, script)]
    tool = _library(script.text, texts, dependencies)
    scripts = table_of(script.package, "scripts")
    around = [f"{when}{script.name}" in scripts for when in ("pre", "post")]
    # node itself where the package manager would only start it; with Plug'n'Play node finds no package by itself
    if _DIRECT.fullmatch(script.text.strip()) and not any(around) and ".yarnrc.yml" not in tree.names:
        words = shlex.split(script.text)
    else:
        words = [*run, script.name]
    lead = f"cd {shlex.quote(script.directory)} && " if script.directory else ""
    command: list[str] | str = f"{lead}{shlex.join(words)}" if lead else words
    if script.file is None and script.text != scripts.get(script.name):
        command = f"{lead}{script.text}"  # what is left of it
    own = next((text for text in texts if "PERFGATE_OUTPUT" in text), "")
    if tool is None or own:
        measured, amount = of_script(script.name, command, own)
        return None, measured, replace(amount, warmup=20) if amount and amount.warmup else amount, []
    cases = sum(len(re.findall(r"\bbench(?:\.\w+)*\(|\.add\(", text)) for text in texts)
    if tool == "vitest":
        named = re.search(r"\bvitest\s+bench\b([^&|;<>]*)", script.text)
        paths = [word for word in named[1].split() if re.fullmatch(r"[\w.][\w./*-]*", word)] if named else []
        command = f"{lead}{execute} vitest bench --run {' '.join([*paths, '--outputJson={output}'])}"
    if tool == "benchmark.js":
        command = f"{as_text(command)} >{{output}}"
    if tool in _READ:
        form, start, each = _READ[tool]
        shortened = f"What {tool} finds of each case in some 0.1 s, to which [env] shortens it."
        said = f"The times that {tool} prints." if form == "printed" else shortened
        return tool, Proposed(script.name, command, [said], "values", form), fixed_plan(cases, start, each), []
    comment = (
        f"{script.file or script.name} uses {tool}: the time of a run says nothing. Let it append its results",
        'to the file PERFGATE_OUTPUT as lines {"metric": "NAME", "value": 1.5, "unit": "ms"}, and perfgate read them:',
        f'instrument = "values", command = {json.dumps(words)}',
    )
    note = f"{tool}'s results must be written by the script itself: see the comment above [[benchmark]]"
    return tool, placeholder(*comment), fixed_plan(cases, 0.5, 1.5), [note]


def _library(script: str, sources: list[str], dependencies: set[str]) -> str | None:
    """Name the library whose benchmarks a script runs; None if it times nothing by itself, as far as can be seen."""
    named = re.search(r"\b(vitest)\b.*\bbench\b|\b(mitata|bench-node|cronometro|jest)\b", script)
    if named:
        return named[1] or named[2]

    def imported(name: str) -> bool:
        # a script whose file was not found may well be what the dependency is for
        return not sources or any(re.search(_IMPORT.format(re.escape(name)), text) for text in sources)

    if "benchmarked" in dependencies and imported("benchmarked"):
        return "benchmark"  # which it runs for whole folders of code
    if "benchmark" in dependencies and imported("benchmark"):
        printed = any(re.search(r"""on\(\s*["']cycle["']""", text) for text in sources)
        return "benchmark.js" if printed or not sources else "benchmark"
    usable = [name for name in _LIBRARIES if sources or name in dependencies]
    return next(filter(imported, usable), None)


def _scripts(tree: Tree, root: dict[str, Any], ask: Asked) -> Iterator[_Script]:
    """Yield the benchmark scripts, the project's own first, then those of its workspaces, as npm knows them."""
    directories = [""]
    if _has_workspaces(tree, root):
        inner = [folder_of(path) for path in tree.ending("/package.json")]
        named = {
            path: str(tree.json(f"{path}/package.json").get("name")) for path in inner if "node_modules" not in path
        }
        members = {*named.values()}
        # pnpm has a file of its own for them
        if root.get("workspaces"):
            told = ask.json("npm", "pkg", "get", "name", "--workspaces")
            if isinstance(told, dict):
                members = {*told}
            else:
                ask.refused("package.json")
        directories += [path for path, name in named.items() if name in members and _SAFE.fullmatch(path)]
    else:
        directories += [name for name in _FOLDERS if f"{name}/package.json" in tree.names]
    for directory in directories:
        package = tree.json(str(PurePosixPath(directory, "package.json")))
        scripts = table_of(package, "scripts")
        for name in dict.fromkeys([*_SCRIPTS, *filter(_PART.fullmatch, scripts)]):
            text = scripts.get(name)
            # the benchmarks of another language are found where its own files are
            if isinstance(text, str) and text.strip() and not _FOREIGN.search(text):
                script = _Script(directory, name, text, package)
                if path := _absent(tree, script):
                    ask.notes.append(f"script {name} of package.json names {path}, which is not there")
                else:
                    yield script


def _entries(tree: Tree, root: dict[str, Any]) -> Iterator[_Script]:
    """Yield files that run benchmarks of a library, where no script of package.json names them."""
    of_vitest = [path for path in tree.files if _VITEST_FILE.search(path)]
    if of_vitest and "vitest" in _dependencies(root):
        yield _Script("", "bench", "vitest bench", root, of_vitest[0])
    for folder in ("", *_FOLDERS, "test", "tests"):
        package = tree.json(str(PurePosixPath(folder, "package.json")))
        own = f"{folder}/package.json" in tree.names
        usual = [str(PurePosixPath(folder, stem + suffix)) for stem in _ENTRIES for suffix in _JAVASCRIPT]
        known = _dependencies(root) | _dependencies(package)
        every = [p for p in tree.ending(*_JAVASCRIPT) if folder_of(p) == folder]
        called = [*usual, *(p for p in every if _BENCH.search(PurePosixPath(p).name))]
        # in a folder of benchmarks a file need not be called one, where none is
        of_folder = every if folder in _FOLDERS else []
        able, others = (
            [path for path in dict.fromkeys(paths) if path in tree.names and _library("", _texts(tree, path), known)]
            for paths in (called, of_folder)
        )
        # what is loaded by another one is run with it
        parts = {part for path in able or others for part in _loaded(tree, path)}
        whole = [path for path in able if path not in parts]
        for path in whole or [path for path in others if path not in parts and _loads_project(tree, path, root)]:
            named = folder if folder in _FOLDERS else PurePosixPath(tree.directory.resolve().name).stem
            name = named or PurePosixPath(path).stem
            file = PurePosixPath(path).name if own else path
            yield _Script(folder if own else "", name, f"node {file}", package, path)


def _loaded(tree: Tree, path: str) -> list[str]:
    """Return the files of its own folder that a file loads, such as one that has the library run what others name."""
    names = re.findall(_IMPORT.format(r"""(\.[^"'\n]+)"""), tree.text(path))
    found = (_resolved(tree, folder_of(path), name) for name in names)
    return [each for each in found if each is not None and each != path and folder_of(each) == folder_of(path)]


def _texts(tree: Tree, path: str) -> list[str]:
    return [tree.text(each) for each in (path, *_loaded(tree, path))]


def _loads_project(tree: Tree, path: str, root: dict[str, Any]) -> bool:
    own = f"{root.get('name')}/"
    named = re.findall(_IMPORT.format(r"""([^"'\n]+)"""), tree.text(path))
    return any(name.startswith("..") or f"{name}/".startswith(own) for name in named)


def _has_workspaces(tree: Tree, root: dict[str, Any]) -> bool:
    return bool(root.get("workspaces")) or "pnpm-workspace.yaml" in tree.names


def _dependencies(package: dict[str, Any]) -> set[str]:
    tables = (table_of(package, key) for key in ("dependencies", "devDependencies", "optionalDependencies"))
    return ({"workspaces"} if package.get("workspaces") else set[str]()).union(*tables)


def _files(tree: Tree, script: _Script) -> list[str]:
    """Return the files that a script names, and what lies in directories of benchmarks."""
    lead = f"{script.directory}/" if script.directory else ""
    sources = tree.ending(*_JAVASCRIPT, ".ts", ".mts")
    vitest = re.search(r"\bvitest\b.*\bbench\b", script.text)
    if script.file is not None and not vitest:
        return [path for path in (script.file, *_loaded(tree, script.file)) if path in sources]
    words = [str(PurePosixPath(script.directory, word.strip("\"'"))) for word in script.text.split()]
    folders = tuple(f"{lead}{name}/" for name in _FOLDERS)
    return [
        p for p in sources
        if p in words or p.startswith(folders) or (vitest and p.startswith(lead) and _VITEST_FILE.search(p))
    ]  # fmt: skip


def _manager(tree: Tree, root: dict[str, Any], directory: str = "") -> tuple[str, str, str, str]:
    """Return the package manager that a package's lock file is of: its name, and how it installs, runs and executes."""
    lead = f"{directory}/" if directory else ""
    lock = next((name for name in MANAGERS if f"{lead}{name}" in tree.names), None)
    if lock == "yarn.lock" and (
        f"{lead}.yarnrc.yml" in tree.names or re.match(r"yarn@(?!1\.)", str(root.get("packageManager", "")))
    ):
        return _BERRY
    name, install, *_ = found = MANAGERS[lock] if lock else UNLOCKED
    if name == "npm" or has(name) or not has("npx"):
        return found
    # scripts need only what is installed then
    version = 10 if re.match(r"lockfileVersion: '?9", tree.text(f"{lead}{lock}")) else 8
    by_npm = f"npx --yes {_BY_NPM[name].format(version)} {install.removeprefix(f'{name} ')}"
    return name, by_npm, *UNLOCKED[2:]
