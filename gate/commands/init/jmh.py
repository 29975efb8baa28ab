"""Java with JMH, built once a side by Maven or Gradle, so that equal sources give equal jars."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.ask import Asked
from gate.commands.init.found import Found, Measured, Row, placeholder, suite_plan
from gate.commands.init.tree import Tree, folder_of

_DEPENDS = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_SHADES = re.compile(r"<artifactId>\s*maven-shade-plugin\s*</artifactId>(.*?)</plugin>", re.DOTALL)
_FINAL_NAME = re.compile(r"<finalName>\s*([^<\s]+)\s*</finalName>")
_PROFILE = re.compile(r"<profile>.*?<id>\s*([\w.-]+)\s*</id>.*?</profile>", re.DOTALL)
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_PATH = re.compile(r"[\w./+-]+")
_GRADLE = re.compile(r"me\.champeau\.(gradle\.)?jmh|jmh-core|\bjmh\s*\{|\bplugins\.[\w.]*jmh\b")
_GENERATES = "jmh-generator-annprocess"
_CASE = re.compile(r"^\s*@Benchmark\b(?:\s*@[\w.]+(?:\([^)]*\))?)*\s+(?:[\w<>\[\],.?]+\s+)*?(\w+)\s*\(", re.MULTILINE)
_ASIDE = {"resources", "archetype-resources", "testdata", "node_modules"}
_MAIN = "org.openjdk.jmh.Main"
_JAR = "perfgate-jmh.jar"
_OPTIONS = "-Dproject.build.outputTimestamp=2000-01-01T00:00:00Z -Dmaven.javadoc.skip=true -Dmaven.source.skip=true"
"""Without dates in it, the jar of equal sources is the same, and a commit of documents is proved identical."""
_SAME_JARS = (
    "allprojects { tasks.withType(AbstractArchiveTask).configureEach "
    "{ preserveFileTimestamps = false; reproducibleFileOrder = true } }"
)
_CASES = 8
"""Benchmarks that are chosen of more: each takes some 2 s in each execution."""


@dataclass(frozen=True, slots=True)
class _Module:
    directory: str
    """Empty for the project's own."""
    evidence: str
    cases: tuple[tuple[str, str], ...]
    """The class and the method of each benchmark."""


def look(tree: Tree, ask: Asked) -> Found | None:
    """Find a pom.xml or Gradle file that names JMH; None without one."""
    del ask
    poms = [
        p for p in tree.ending("pom.xml") if not _ASIDE & {*PurePosixPath(p).parts} and _DEPENDS.search(tree.text(p))
    ]
    # a jar with everything in it before what needs a class path
    maven = sorted(
        _most(_module(tree, path) for path in poms), key=lambda each: not _SHADES.search(tree.text(each.evidence))
    )
    if maven:
        return _of_maven(tree, maven)
    builds = [path for path in tree.ending(".gradle", ".gradle.kts", ".toml") if _GRADLE.search(tree.text(path))]
    inner = [path for path in tree.files if "/src/jmh/" in f"/{path}"]
    folders = sorted({f"/{path}".split("/src/jmh/")[0].lstrip("/") for path in inner}) if builds else []
    files = {folder: str(PurePosixPath(folder, "build.gradle")) for folder in folders}
    gradle = _most(_module(tree, path if path in tree.names else f"{path}.kts") for path in files.values())
    if gradle:
        return _of_gradle(tree, gradle)
    if not poms and not any("gradle" in path for path in builds):
        return None
    lines = ('instrument = "jmh"', 'command = ["java", "-jar", "target/benchmarks.jar"], where the build puts the jar')
    return Found("jmh", f"{(poms or builds)[0]} with JMH", [placeholder(*lines)], notes=["JMH's jar was not found"])


def _module(tree: Tree, path: str) -> _Module:
    directory = folder_of(path)
    files = [
        p
        for p in tree.ending(".java", ".kt", ".scala", ".groovy", under=directory)
        if not _ASIDE & {*PurePosixPath(p).parts}
    ]
    cases = tuple((PurePosixPath(p).stem, method) for p in files for method in _CASE.findall(tree.text(p)))
    return _Module(directory, path, cases)


def _most(modules: Iterable[_Module]) -> list[_Module]:
    """Order modules by how many benchmarks they hold; a parent that holds those of its children comes last."""
    usable = [module for module in modules if module.cases and _PATH.fullmatch(module.directory or ".")]
    inner = [
        each
        for each in usable
        if not any(o != each and o.directory.startswith(f"{each.directory}/" if each.directory else "") for o in usable)
    ]
    return sorted(inner, key=lambda module: -len(module.cases))


def _of_maven(tree: Tree, modules: list[_Module]) -> Found:
    module, text = modules[0], tree.text(modules[0].evidence)
    own = ".mvn/wrapper/maven-wrapper.properties" in tree.names and "mvnw" in tree.names
    mvn = f"{'./mvnw' if own else 'mvn'} --quiet --batch-mode {_OPTIONS}"
    where = _where(tree, module.directory)
    target = str(PurePosixPath(module.directory, "target"))
    shades = _SHADES.search(text)
    if shades is None:
        # the benchmarks are among the tests or the classes, and all that they need is named by Maven;
        # not `package`: a profile may hook the benchmarks themselves into the phases after compiling
        listed = "-Dmdep.outputFile=target/jmh.classpath -Dmdep.includeScope=test"
        setup = f"{mvn} test-compile -DskipTests{where}{_profile(text)} dependency:build-classpath {listed}"
        command = f'java -cp "{target}/test-classes:{target}/classes:$(cat {target}/jmh.classpath)" {_MAIN}'
        return _found(modules, command, setup, [], target)
    setup = f"{mvn} package -DskipTests{where}"
    named = _FINAL_NAME.search(shades[1])
    jar = named[1] if named else "$"
    for name in re.findall(r"\$\{([\w.-]+)\}", jar):
        value = re.search(rf"<{re.escape(name)}>\s*([^<\s]+)\s*</", text + tree.text("pom.xml"))
        jar = jar.replace(f"${{{name}}}", value[1] if value else "$")
    path = f"{target}/{jar}.jar"
    if not _PATH.fullmatch(jar):
        path = f"{target}/{_JAR}"
        newest = f"ls -t {target}/*.jar | grep -v -e /original- -e {_JAR} -e -sources -e -javadoc | head -n 1"
        setup = f'{setup} && cp "$({newest})" {path}'
    return _found(modules, f"java -jar {path}", setup, [path], target)


def _profile(text: str) -> str:
    """Return the option for the profile that holds JMH's generator, where there is one."""
    if _GENERATES in _PROFILE.sub("", text):
        return ""
    found = next((match[1] for match in _PROFILE.finditer(text) if _GENERATES in match[0]), None)
    return f" --activate-profiles {found}" if found else ""


def _where(tree: Tree, directory: str) -> str:
    """Return the options of mvn for a module: with what it is made of, where the pom.xml at the top knows it."""
    if not directory:
        return ""
    top = tree.text("pom.xml")
    profiles = [match for match in _PROFILE.finditer(top) if directory in _MODULE.findall(match[0])]
    always = _MODULE.findall(_PROFILE.sub("", top))
    if any(directory == module or directory.startswith(f"{module}/") for module in always):
        return f" --projects {shlex.quote(directory)} --also-make"
    if profiles:
        return f" --activate-profiles {profiles[0][1]} --projects {shlex.quote(directory)} --also-make"
    return f" --file {shlex.quote(directory)}"


def _of_gradle(tree: Tree, modules: list[_Module]) -> Found:
    module = modules[0]
    gradle = "./gradlew" if "gradlew" in tree.names else "gradle"
    # a jar of everything that the project makes itself runs JMH, and may be the only one that can be made
    shadowed = all(map(tree.text(module.evidence).__contains__, ("shadowJar", _MAIN)))
    name, jars = ("shadowJar", "*.jar") if shadowed else ("jmhJar", "*-jmh.jar")
    task = f":{module.directory.replace('/', ':')}:{name}" if module.directory else name
    built = str(PurePosixPath(module.directory, "build"))
    path = f"{built}/{_JAR}"
    # the jar's name holds the project's version, which may be computed
    setup = (
        f"echo '{_SAME_JARS}' > .perfgate.gradle && {gradle} --quiet --no-daemon -I .perfgate.gradle {task}"
        f' && cp "$(ls -t {built}/libs/{jars} | head -n 1)" {path}'
    )
    return _found(modules, f"java -jar {path}", setup, [path], built)


def _found(modules: list[_Module], command: str, setup: str, artifacts: list[str], product: str) -> Found:
    module, *rest = modules
    rows = [Row(f"module {each.directory or '.'}", f"left out with {len(each.cases)} benchmarks") for each in rest]
    pattern, count = [], len(module.cases)
    if count > _CASES:
        # one of each class, as many as a budget has room for
        chosen = [*{owner: f"{owner}.{method}" for owner, method in reversed(module.cases)}.values()][::-1][:_CASES]
        pattern, count = [f"\\.({'|'.join(chosen)})$"], len(chosen)
        rows.append(
            Row(
                f"{len(module.cases) - count} more JMH methods",
                "left out: the pattern at the end of the command chooses one a class",
            )
        )
    plan, length = suite_plan(count, 2.0 * count)
    options = ["-wi", "1", "-w", "1s", "-r", f"{1000 * max(length, 0.1):.0f}ms", *pattern]
    words = f"{command} {shlex.join(options)}" if '"' in command else [*command.split(), *options]
    comment = ["One warm-up of 1 s (-wi, -w), then values of length -r; a pattern at the end chooses benchmarks."]
    found = Found(
        "jmh", f"{module.evidence} with JMH", [Measured("jmh", words, comment, "jmh")],
        comment="Built once a side, without dates in the jar: equal sources are equal jars.",
        setup=setup, artifacts=artifacts, products=[product], rows=rows, place=module.directory,
    )  # fmt: skip
    return replace(found, amount=replace(plan, executions=1))
