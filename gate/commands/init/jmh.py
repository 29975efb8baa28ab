"""Java with JMH, built once a side by Maven or Gradle, so that equal sources give equal jars."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from gate.commands.init.ask import Asked, has
from gate.commands.init.found import BENCH, Found, Proposed, Row, placeholder, suite_plan
from gate.commands.init.scripts import of_script
from gate.commands.init.tree import Tree, folder_of

_DEPENDS = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_SHADES = re.compile(r"<artifactId>\s*maven-shade-plugin\s*</artifactId>(.*?)</plugin>", re.DOTALL)
_MANAGED = re.compile(r"<(pluginManagement|dependencyManagement)>.*?</\1>", re.DOTALL)
_FINAL_NAME = re.compile(r"<finalName>\s*([^<\s]+)\s*</finalName>")
_PROFILE = re.compile(r"<profile>.*?<id>\s*([\w.-]+)\s*</id>.*?</profile>", re.DOTALL)
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_PATH = re.compile(r"[\w./+-]+")
_GRADLE = re.compile(r"me\.champeau\.(gradle\.)?jmh|jmh-core|\bjmh\s*\{|\bplugins\.[\w.]*jmh\b")
_GENERATES = "jmh-generator-annprocess"
_CASE = re.compile(
    r"(?:^[ \t]*|[;{}]\s*)@Benchmark\b(?:\s*@[\w.]+(?:\([^)]*\))?)*\s+(?:[\w<>\[\],.?]+\s+)*?(\w+)\s*\(", re.MULTILINE
)
_SOURCES = (".java", ".kt", ".scala", ".groovy")
_IMPORTED = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)", re.MULTILINE)
_COMMON = ("java.", "javax.", "jdk.", "sun.", "kotlin.", "scala.", "org.openjdk.", "org.junit.", "org.slf4j.")
_ASIDE = {"resources", "archetype-resources", "testdata", "node_modules"}
_MAIN_OF = re.compile(r"\bpublic\s+static\s+void\s+main\s*\(")
_MAIN = "org.openjdk.jmh.Main"
_JAR = "perfgate-jmh.jar"
_CLASSES = ".perfgate-classes"
_OPTIONS = "-Dproject.build.outputTimestamp=2000-01-01T00:00:00Z -Dmaven.javadoc.skip=true -Dmaven.source.skip=true"
"""Without dates in it, the jar of equal sources is the same, and a commit of documents is proved identical."""
_IN_ORDER = "find {} -name BenchmarkList -exec sort -o {{}} {{}} ';'"
"""JMH's list goes by the identity of objects. A JVM may be told to have one order, but its compiler fails then."""
_SAME_JARS = (
    "allprojects { tasks.withType(AbstractArchiveTask) "
    "{ preserveFileTimestamps = false; reproducibleFileOrder = true } }"
)
_TASKS = """\
gradle.projectsEvaluated { it.rootProject.allprojects { p -> ["jmhJar", "shadowJar"].each {
    if (p.tasks.findByName(it)) println "PERFGATE ${it} ${p.projectDir}"
} } }
"""
"""Has Gradle name the tasks that make a jar of benchmarks, and their folders."""
_CASES = 8
"""Benchmarks that are chosen of more: each takes some 2 s in each execution."""


class _Module(NamedTuple):
    directory: str
    """Empty for the project's own."""
    evidence: str
    text: str
    """Of its file; what Maven makes of it, where the file itself does not name JMH."""
    cases: list[tuple[str, str]]
    """The class and the method of each benchmark."""
    others: set[str]
    """Classes whose benchmarks are of other packages."""


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a pom.xml or Gradle file that names JMH, or inherits it; None without one."""
    poms = {path: tree.text(path) for path in tree.named("pom.xml", aside=_ASIDE)}
    builds = [path for path in tree.ending(".gradle", ".gradle.kts", ".toml") if _GRADLE.search(tree.text(path))]
    by_gradle = any("gradle" in path for path in builds)
    depends = any(map(_DEPENDS.search, poms.values()))
    if depends or (not by_gradle and _imports(tree, poms)):
        poms |= {p: text for p, text in _effective(tree, ask, poms) if not _DEPENDS.search(poms[p])}
        # a jar with everything in it before what needs a class path
        named = {path: text for path, text in poms.items() if _DEPENDS.search(text)}
        maven = sorted(_modules(tree, named), key=lambda each: not _SHADES.search(each.text))
        if maven:
            return _of_maven(tree, ask, maven)
        if not depends:
            return None
    elif by_gradle:
        # the task that makes a jar of benchmarks, by the folders where Gradle has one
        ask.write("perfgate-ask.gradle", _TASKS)
        said = ask.run(
            *_starts(tree, "gradlew", "gradle").split(), "--quiet", "--no-daemon", "-I", "perfgate-ask.gradle", "help"
        )
        if said is None:
            ask.refused("build.gradle")
        lines = [line.split(" ", 2)[1:] for line in (said or "").splitlines() if line.startswith("PERFGATE ")]
        places = {ask.inside(place) or "": task for task, place in reversed(lines)}
        told = {"" if folder == "." else folder: task for folder, task in places.items()}
        inner = {f"/{path}".split("/src/jmh/")[0].lstrip("/") for path in tree.files if "/src/jmh/" in f"/{path}"}
        folders = sorted(inner & told.keys() or inner | told.keys())
        paths = [str(PurePosixPath(folder, "build.gradle")) for folder in folders]
        gradle = _modules(tree, {p: tree.text(p) for p in (p if p in tree.names else f"{p}.kts" for p in paths)})
        if gradle:
            return _of_gradle(tree, ask, gradle, told)
    else:
        return None
    hints = ('instrument = "jmh"', 'command = ["java", "-jar", "target/benchmarks.jar"], where the build puts the jar')
    return Found("jmh", f"{[*poms, *builds][0]} with JMH", [placeholder(*hints)], notes=["JMH's jar was not found"])


def _imports(tree: Tree, poms: dict[str, str]) -> bool:
    """Return whether modules of Maven with a parent have JMH benchmarks: one elsewhere may name JMH for them."""
    inheriting = [folder_of(path) for path, text in poms.items() if "<parent>" in text]
    sources = {path for folder in inheriting for path in tree.ending(*_SOURCES, under=folder)}
    usable = (tree.text(path) for path in sources if not _ASIDE & {*PurePosixPath(path).parts})
    return any("org.openjdk.jmh" in text and _CASE.search(text) for text in usable)


def _effective(tree: Tree, ask: Asked, poms: dict[str, str]) -> list[tuple[str, str]]:
    """Return what Maven makes of the files with what they inherit, of the modules that it would build."""
    output = "perfgate-effective.xml"
    if ask.run(*_mvn(tree).split(), "--batch-mode", "--quiet", "help:effective-pom", f"-Doutput={output}") is None:
        ask.refused("pom.xml")
        return []
    found = []
    for text in (
        text for read in ask.read(output) for text in re.findall(r"<project[ >].*?</project>", read, re.DOTALL)
    ):
        target = re.search(r"^\s*<directory>([^<]*)/target</directory>", text, re.MULTILINE)
        folder = ask.inside(target[1]) if target else None
        path = "pom.xml" if folder == "." else f"{folder}/pom.xml"
        if path in poms:
            found.append((path, _PROFILE.sub("", _MANAGED.sub("", text))))
    return found


def _mvn(tree: Tree) -> str:
    return _starts(tree, "mvnw", "mvn") if ".mvn/wrapper/maven-wrapper.properties" in tree.names else "mvn"


def _starts(tree: Tree, wrapper: str, tool: str) -> str:
    """Return what starts a tool: the project's own wrapper, which git may hold without the right to be started."""
    itself = os.access(tree.directory / wrapper, os.X_OK)
    return tool if wrapper not in tree.names else f"./{wrapper}" if itself else f"sh {wrapper}"


def _building(tree: Tree) -> str:
    return f"{_mvn(tree)} --quiet --batch-mode {_OPTIONS}"


def _modules(tree: Tree, files: dict[str, str]) -> list[_Module]:
    """Order modules by how many benchmarks they hold; a parent that holds those of its children comes last."""
    usable, mains = [], (folder_of(each).partition("src/main/")[2] for each in tree.ending(*_SOURCES))
    packages = {each.partition("/")[2].replace("/", ".") for each in mains} - {""}
    for path, text in files.items():
        folder = folder_of(path)
        inner = tree.ending(*_SOURCES, under=folder)
        sources = [p for p in inner if not _ASIDE & {*PurePosixPath(p).parts}]
        held = {p: methods for p in sources if (methods := _CASE.findall(tree.text(p)))}
        cases = [(PurePosixPath(p).stem, method) for p, methods in held.items() for method in methods]
        if cases and _PATH.fullmatch(folder or "."):
            others = {PurePosixPath(p).stem for p in held if _of_others(tree, p, packages)}
            # what is left must be something
            usable.append(_Module(folder, path, text, cases, others if len(others) < len(held) else set()))
    folders = [each.directory for each in usable]
    leaves = [
        each
        for each in usable
        if not any(o != each.directory and f"{o}/".startswith(f"{each.directory}/".lstrip("/")) for o in folders)
    ]
    return sorted(leaves, key=lambda module: -len(module.cases))


def _of_others(tree: Tree, path: str, packages: set[str]) -> bool:
    """Return whether a source imports what the project does not hold, and names nothing that it does."""
    text = tree.text(path)
    package = re.search(r"^\s*package\s+([\w.]+)", text, re.MULTILINE)
    beside = {PurePosixPath(each).stem for each in tree.ending(*_SOURCES, under=folder_of(path)) if each != path}
    if not packages or (package and package[1] in packages) or beside & {*re.findall(r"\w+", text)}:
        return False
    foreign = [name for name in _IMPORTED.findall(text) if not name.startswith(_COMMON)]
    return bool(foreign) and not any(f"{name}.".startswith(f"{each}.") for name in foreign for each in packages)


def _of_maven(tree: Tree, ask: Asked, modules: list[_Module]) -> Found:
    folder, text = modules[0].directory, modules[0].text
    mvn, top = _building(tree), tree.text("pom.xml")
    where, own, before = "", shlex.quote(folder), ""
    if folder:
        # with what it is made of, where the pom.xml at the top knows the module
        def holds(text: str) -> bool:
            return any(f"{folder}/".startswith(f"{module.rstrip('/')}/") for module in _MODULE.findall(text))

        profiles = [match for match in _PROFILE.finditer(top) if holds(match[0])]
        if holds(_PROFILE.sub("", top)):
            where = f" --projects {own} --also-make"
        elif profiles:
            where = f" --activate-profiles {profiles[0][1]} --projects {own} --also-make"
        else:
            where = f" --file {own}"
            # what it takes from the local repository would be whatever was installed last
            named = re.search(r"<artifactId>\s*([^<\s]+)\s*</artifactId>", re.sub(r"(?s)<parent>.*?</parent>", "", top))
            if named and re.search(rf"<artifactId>\s*{re.escape(named[1])}\s*</artifactId>", text):
                before = f"{mvn} install -DskipTests && "
    target = str(PurePosixPath(folder, "target"))
    shades = _SHADES.search(text)
    if shades is None:
        # the benchmarks are among the tests or the classes, and all that they need is named by Maven;
        # not `package`: a profile may hook the benchmarks themselves into the phases after compiling
        holding = next((match[1] for match in _PROFILE.finditer(text) if _GENERATES in match[0]), None)
        profile = f" --activate-profiles {holding}" if holding and _GENERATES not in _PROFILE.sub("", text) else ""
        # what is installed where the other side's is, too, gives way to what this side has compiled
        own_classes = "target/classes:" if before else ""
        setup, java = _by_classes(f"{before}{mvn}{where}{profile}", target, own_classes)
        return _found(ask, _mvn(tree), modules, f"{java} {_MAIN}", setup, [], target)
    setup = f"{before}{mvn} package -DskipTests{where}"
    named = _FINAL_NAME.search(shades[1])
    jar = named[1] if named else "$"
    for name in re.findall(r"\$\{([\w.-]+)\}", jar):
        value = re.search(rf"<{re.escape(name)}>\s*([^<\s]+)\s*</", text + top)
        jar = jar.replace(f"${{{name}}}", value[1] if value else "$")
    path = f"{target}/{jar}.jar"
    if not _PATH.fullmatch(jar):
        path = f"{target}/{_JAR}"
        newest = f"ls -t {target}/*.jar | grep -v -e /original- -e {_JAR} -e -sources -e -javadoc | head -n 1"
        setup = f'{setup} && cp "$({newest})" {path}'
    # files are compared without dates, which old plugins write into a jar, and its properties
    main = re.search(r"<mainClass>\s*([\w.$]+)\s*</mainClass>", shades[1])
    inner = f"{target}/{_CLASSES}"
    setup += f" && rm -rf {inner} && mkdir {inner} && (cd {inner} && jar xf ../{PurePosixPath(path).name})"
    command = f"java -cp {inner} {main[1] if main else _MAIN}"
    return _found(ask, _mvn(tree), modules, command, f"{setup} && {_IN_ORDER.format(inner)}", [], target)


def _by_classes(mvn: str, target: str, first: str = "") -> tuple[str, str]:
    """Return what compiles all classes, those of tests too, and what starts one with all that it needs.

    first: what comes first on the class path.
    """
    listed = "-Dmdep.outputFile=target/jmh.classpath -Dmdep.includeScope=test"
    java = f'java -cp "{first}{target}/test-classes:{target}/classes:$(cat {target}/jmh.classpath)"'
    compiled = f"{mvn} test-compile -DskipTests dependency:build-classpath {listed}"
    return f"{compiled} && {_IN_ORDER.format(target)}", java


def look_mains(tree: Tree, ask: Asked) -> Found | None:
    """Find classes that are called benchmarks and have a main without arguments; None without one.

    Maven compiles them, or javac where no build tool does.
    """
    del ask
    sources = [p for p in tree.ending(".java") if BENCH.search(PurePosixPath(p).stem) and _MAIN_OF.search(tree.text(p))]
    inner = {path: folder_of(path.partition("src/")[0]) for path in sources if "src/" in path}
    alone = not any(tree.ending("pom.xml", ".gradle", ".gradle.kts"))
    usable = sources if alone else [p for p, at in inner.items() if str(PurePosixPath(at, "pom.xml")) in tree.names]
    if not usable or not all(map(_PATH.fullmatch, usable)):
        return None
    asking = [path for path in usable if re.search(r"\bargs?\s*(?:\[|\.length)", tree.text(path))]
    rows = [Row(path, "left out: its arguments are not known") for path in asking]
    ordered = sorted(
        (path for path in usable if path not in asking), key=lambda path: (len(PurePosixPath(path).stem), path)
    )
    if not ordered:
        return Found("java", "without a class that needs no arguments", [placeholder()], rows=rows)
    path, *rest = ordered
    package = re.search(r"^\s*package\s+([\w.]+)\s*;", tree.text(path), re.MULTILINE)
    name, place = PurePosixPath(path).stem, "" if alone else inner[path]
    if alone:
        top = folder_of(path).removesuffix(package[1].replace(".", "/") if package else "").rstrip("/") or "."
        setup, java = f"javac -d {_CLASSES} -sourcepath {top} {path}", f"java -cp {_CLASSES}"
    else:
        where = f" --projects {place} --also-make" if place else ""
        setup, java = _by_classes(f"{_building(tree)}{where}", str(PurePosixPath(place, "target")))
    command = f"{java} {package[1]}.{name}" if package else f"{java} {name}"
    measured, amount = of_script(name, command, tree.text(path))
    rows += [Row(each, "left out: one program is measured") for each in rest]
    comment = "Compiled once a side: equal sources are equal classes."
    return Found("java", path, [measured], comment=comment, setup=setup, rows=rows, amount=amount, place=place)


def _of_gradle(tree: Tree, ask: Asked, modules: list[_Module], told: dict[str, str]) -> Found:
    module = modules[0]
    gradle = _starts(tree, "gradlew", "gradle")
    # a jar of everything that the project makes itself runs JMH, and may be the only one that can be made
    shadowed = "shadowJar" in module.text and _MAIN in module.text
    name = "shadowJar" if shadowed else told.get(module.directory, "jmhJar")
    jars = "*-jmh.jar" if name == "jmhJar" else "*.jar"
    task = f":{module.directory.replace('/', ':')}:{name}" if module.directory else name
    built = str(PurePosixPath(module.directory, "build"))
    path = f"{built}/{_JAR}"
    # the jar's name holds the project's version, which may be computed
    setup = (
        f"echo '{_SAME_JARS}' > .perfgate.gradle && {gradle} --quiet --no-daemon -I .perfgate.gradle {task}"
        f' && cp "$(ls -t {built}/libs/{jars} | head -n 1)" {path}'
    )
    return _found(ask, gradle, modules, f"java -jar {path}", setup, [path], built)


def _found(
    ask: Asked, tool: str, modules: list[_Module], command: str, setup: str, artifacts: list[str], product: str
) -> Found:
    module, *rest = modules
    rows = [Row(f"module {each.directory or '.'}", f"left out with {len(each.cases)} benchmarks") for each in rest]
    # JMH's own list also has what a class inherits
    able = has(tool.split()[0])
    listed = ask.run("sh", "-c", f"{setup} && echo PERFGATE && exec {command} -l") if able else None
    if listed is None and able:
        ask.refused("what JMH would list")
    told = re.findall(r"^(?:[\w$]+\.)*([\w$]+)\.(\w+)$", (listed or "").partition("PERFGATE")[2], re.MULTILINE)
    every, pattern = told or module.cases, []
    cases = [each for each in every if each[0] not in module.others]
    if len(cases) < len(every):
        rows.append(Row(", ".join(sorted(module.others)), "left out: of other packages"))
    count = len(cases)
    if count > _CASES or count < len(every):
        # the first of each class, then the second of each, as many as a budget has room for
        owners = [owner for owner, _ in cases]
        # what is compared with comes last
        beside = [bool(re.match("baseline", method, re.IGNORECASE)) for _, method in cases]
        ranked = sorted(range(count), key=lambda at: (beside[at], owners[:at].count(owners[at])))[:_CASES]
        chosen = [".".join(cases[at]) for at in ranked]
        pattern, count = [f"\\.({'|'.join(chosen)})$"], len(chosen)
        left = f"left out: the pattern at the end of the command chooses {len(chosen)}"
        rows += [Row(f"{len(cases) - count} more JMH methods", left)] if count < len(cases) else []
    plan, length = suite_plan(count, 2.0 * count)
    options = ["-wi", "1", "-w", "1s", "-r", f"{1000 * max(length, 0.1):.0f}ms", *pattern]
    words = f"{command} {shlex.join(options)}" if '"' in command else [*command.split(), *options]
    comment = ["One warm-up of 1 s (-wi, -w), then values of length -r; a pattern at the end chooses benchmarks."]
    return Found(
        "jmh", f"{module.evidence} with JMH", [Proposed("jmh", words, comment, "jmh")],
        comment="Built once a side: equal sources are equal files, whatever their dates.",
        setup=setup, artifacts=artifacts, products=[product], rows=rows, place=module.directory,
        amount=replace(plan, executions=1),
    )  # fmt: skip
