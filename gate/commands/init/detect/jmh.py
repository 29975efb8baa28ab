"""Java projects with JMH, built by Maven or Gradle; another way to build it is named, not guessed at."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, left_out, placeholder
from gate.commands.init.detect.tree import Tree

_DEPENDS = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_SHADES = re.compile(r"<artifactId>\s*maven-shade-plugin\s*</artifactId>(.*?)</plugin>", re.DOTALL)
_FINAL_NAME = re.compile(r"<finalName>\s*([^<\s]+)\s*</finalName>")
_PROPERTY = re.compile(r"\$\{([\w.-]+)\}")
_PROFILE = re.compile(r"<profile>.*?<id>\s*([\w.-]+)\s*</id>.*?</profile>", re.DOTALL)
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_PATH = re.compile(r"[\w./+-]+")
_GRADLE = re.compile(r"me\.champeau\.(gradle\.)?jmh|jmh-core|\bjmh\s*\{|\bplugins\.[\w.]*jmh\b")
_GENERATES = "jmh-generator-annprocess"
_CASE = re.compile(r"^\s*@Benchmark\b", re.MULTILINE)
_ASIDE = {"resources", "archetype-resources", "testdata"}
_START = 2.0  # of the JVM and of a benchmark's warm-up, each in a fork of its own
_WARM_UP = ["-wi", "1", "-w", "1s"]
_SHORTEST = 0.1
_MAIN = "org.openjdk.jmh.Main"
_JAR = "perfgate-jmh.jar"
_BUILD = ["Java compiles to the same code each time; builds differ in what the JVM makes of it."]


@dataclass(frozen=True, slots=True)
class _Module:
    directory: str
    """Empty for the project's own."""
    evidence: str
    cases: int


def look(tree: Tree) -> Found | None:
    """Find a pom.xml or Gradle file that names JMH; None without one."""
    poms = [path for path in tree.ending("pom.xml") if _is_pom(tree, path)]
    # a jar with everything in it before what needs a class path
    maven = sorted(_most(_module(tree, path) for path in poms), key=lambda each: not _shades(tree, each))
    if maven:
        return _of_maven(tree, maven)
    builds = [path for path in tree.ending(".gradle", ".gradle.kts") if _GRADLE.search(tree.text(path))]
    inner = [path for path in tree.files if "/src/jmh/" in f"/{path}"]
    folders = sorted({f"/{path}".split("/src/jmh/")[0].lstrip("/") for path in inner}) if builds else []
    gradle = _most(_module(tree, _build_file(tree, folder)) for folder in folders)
    if gradle:
        return _of_gradle(tree, gradle)
    if poms:
        return _unknown(f"{poms[0]} with JMH", "mvn --quiet --batch-mode package -DskipTests", "target/benchmarks.jar")
    if builds:
        command = "./gradlew" if "gradlew" in tree.names else "gradle"
        return _unknown(f"{builds[0]} with JMH", f"{command} --quiet --no-daemon jmhJar", "build/libs/NAME-jmh.jar")
    return None


def _is_pom(tree: Tree, path: str) -> bool:
    place = PurePosixPath(path)
    return place.name == "pom.xml" and not _ASIDE & set(place.parts) and bool(_DEPENDS.search(tree.text(path)))


def _module(tree: Tree, path: str) -> _Module:
    directory = str(PurePosixPath(path).parent).removeprefix(".")
    files = tree.ending(".java", ".kt", ".scala", ".groovy", under=directory)
    own = (name for name in files if not _ASIDE & set(PurePosixPath(name).parts))
    return _Module(directory, path, sum(len(_CASE.findall(tree.text(name))) for name in own))


def _most(modules: Iterable[_Module]) -> list[_Module]:
    """Order modules by how many benchmarks they hold; a parent that holds those of its children comes last."""
    usable = [module for module in modules if module.cases and _PATH.fullmatch(module.directory or ".")]
    inner = [module for module in usable if not any(_is_below(other, module) for other in usable)]
    return sorted(inner, key=lambda module: -module.cases)


def _is_below(module: _Module, parent: _Module) -> bool:
    lead = f"{parent.directory}/" if parent.directory else ""
    return module != parent and module.directory.startswith(lead)


def _of_maven(tree: Tree, modules: list[_Module]) -> Found:
    module, *rest = modules
    directory = module.directory
    text = tree.text(module.evidence)
    own = ".mvn/wrapper/maven-wrapper.properties" in tree.names and "mvnw" in tree.names
    mvn = f"{'./mvnw' if own else 'mvn'} --quiet --batch-mode package -DskipTests{_where(tree, directory)}"
    target = str(PurePosixPath(directory, "target"))
    shades = _shades(tree, module)
    if shades is None:
        # the benchmarks are among the tests or the classes, and all that they need is named by Maven
        listed = f"{target}/jmh.classpath"
        # not `package`: a profile may hook the benchmarks themselves into the phases after compiling
        mvn = mvn.replace(" package ", " test-compile ") + _profile(text)
        build = f"{mvn} dependency:build-classpath -Dmdep.outputFile=target/jmh.classpath -Dmdep.includeScope=test"
        command = f'java -cp "{target}/test-classes:{target}/classes:$(cat {listed})" {_MAIN}'
        # the list is the same in every build, and what it names is not one file
        return _found(module, rest, command, build, [], [target])
    jar = _final_name(tree, text, shades[1])
    if jar:
        path = f"{target}/{jar}.jar"
        return _found(module, rest, f"java -jar {path}", mvn, [path], [target])
    path = f"{target}/{_JAR}"
    newest = f"ls -t {target}/*.jar | grep -v -e /original- -e {_JAR} -e -sources -e -javadoc | head -n 1"
    return _found(module, rest, f"java -jar {path}", f'{mvn} && cp "$({newest})" {path}', [path], [target])


def _shades(tree: Tree, module: _Module) -> re.Match[str] | None:
    return _SHADES.search(tree.text(module.evidence))


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


def _final_name(tree: Tree, text: str, plugin: str) -> str | None:
    """Return the name of the jar that the shade plugin makes, as far as the files tell."""
    found = _FINAL_NAME.search(plugin)
    name = found[1] if found else ""
    for property_ in _PROPERTY.findall(name):
        value = re.search(rf"<{re.escape(property_)}>\s*([^<\s]+)\s*</", text + tree.text("pom.xml"))
        name = name.replace(f"${{{property_}}}", value[1] if value else "$")
    return name if _PATH.fullmatch(name) else None


def _build_file(tree: Tree, folder: str) -> str:
    path = str(PurePosixPath(folder, "build.gradle"))
    return path if path in tree.names else f"{path}.kts"


def _of_gradle(tree: Tree, modules: list[_Module]) -> Found:
    module, *rest = modules
    gradle = "./gradlew" if "gradlew" in tree.names else "gradle"
    # a jar of everything that the project makes itself runs JMH, and may be the only one that can be made
    shadowed = all(map(tree.text(module.evidence).__contains__, ("shadowJar", _MAIN)))
    name, jars = ("shadowJar", "*.jar") if shadowed else ("jmhJar", "*-jmh.jar")
    task = f":{module.directory.replace('/', ':')}:{name}" if module.directory else name
    built = str(PurePosixPath(module.directory, "build"))
    path = f"{built}/{_JAR}"
    # its name holds the project's version, which may be computed
    build = f'{gradle} --quiet --no-daemon {task} && cp "$(ls -t {built}/libs/{jars} | head -n 1)" {path}'
    return _found(module, rest, f"java -jar {path}", build, [path], [built])


def _found(
    module: _Module, rest: list[_Module], command: str, build: str, artifacts: list[str], products: list[str]
) -> Found:
    more = "Longer if @Param yields many benchmarks."
    suite = Suite(module.cases, 0, _START * module.cases, more, warmup=0, executions=1, shortest=_SHORTEST)
    length = length_of_value(suite)
    options = [*_WARM_UP, "-r", f"{1000 * length:.0f}ms"]
    comment = [
        "One warm-up iteration of 1 s (-wi, -w), then the values, each of length -r; JMH's own are 10 s long.",
        "A pattern at the end chooses benchmarks.",
    ]
    words = f"{command} {' '.join(options)}" if '"' in command else [*command.split(), *options]
    return Found(
        "jmh",
        f"{module.evidence} with JMH",
        Measured("jmh", words, comment, instrument="jmh"),
        build,
        _BUILD,
        artifacts=artifacts,
        products=products,
        notes=[
            *left_out([each.directory or "." for each in rest], "module with benchmarks", "modules with benchmarks"),
            "set the JVM's own options, such as -Xmx, with -jvmArgs in the command",
        ],
        amount=amount(suite, length),
    )


def _unknown(evidence: str, build: str, jar: str) -> Found:
    measured, notes = placeholder()
    comment = [
        *measured.comment,
        "The project has JMH benchmarks, but perfgate cannot find their jar. Name it here, and see [build]:",
        '  instrument = "jmh"',
        f'  command = ["java", "-jar", "{jar}"]',
    ]
    notes = [*notes, "JMH's jar was not found: fill in how it is built and run"]
    return Found("jmh", evidence, replace(measured, comment=comment), None, [f'command = "{build}"'], notes=notes)
