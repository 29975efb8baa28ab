"""Java projects with JMH: the jar of Maven's archetype; other builds of it are named, not guessed at."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured, placeholder
from gate.commands.init.detect.tree import Tree

_DEPENDS = re.compile(r"<artifactId>\s*jmh-core\s*</artifactId>")
_SHADES = re.compile(
    r"<artifactId>\s*maven-shade-plugin\s*</artifactId>.*?<finalName>\s*([^<\s]+)\s*</finalName>", re.DOTALL
)
_PROPERTY = re.compile(r"\$\{([\w.-]+)\}")
_PATH = re.compile(r"[\w./+-]+")
_GRADLE = re.compile(r"me\.champeau\.(gradle\.)?jmh|jmh-core|\bjmh\s*\{")
_CASE = re.compile(r"^\s*@Benchmark\b", re.MULTILINE)
_START = 2.0  # of the JVM and of a benchmark's warm-up, each in a fork of its own
_WARM_UP = ["-wi", "1", "-w", "1s"]
_SHORTEST = 0.1


def look(tree: Tree) -> Found | None:
    """Find a pom.xml or Gradle file that names JMH; None without one."""
    for path in tree.ending("pom.xml"):
        text = tree.text(path)
        if PurePosixPath(path).name == "pom.xml" and _DEPENDS.search(text):
            jar = _jar(text)
            directory = str(PurePosixPath(path).parent)
            if jar and _PATH.fullmatch(directory):
                return _of_maven(tree, "" if directory == "." else directory, jar)
            return _unknown(
                f"{path} with JMH", ["mvn --quiet --batch-mode clean package -DskipTests"], "target/benchmarks.jar"
            )
    for path in tree.ending(".gradle", ".gradle.kts"):
        if _GRADLE.search(tree.text(path)):
            gradle = "./gradlew" if "gradlew" in tree.names else "gradle"
            return _unknown(
                f"{path} with JMH", [f"{gradle} --quiet --no-daemon clean jmhJar"], "build/libs/NAME-jmh.jar"
            )
    return None


def _jar(text: str) -> str | None:
    """Return the name of the jar that the shade plugin makes, as far as the file itself tells."""
    found = _SHADES.search(text)
    name = found[1] if found else ""
    for property_ in _PROPERTY.findall(name):
        value = re.search(rf"<{re.escape(property_)}>\s*([^<\s]+)\s*</", text)
        name = name.replace(f"${{{property_}}}", value[1] if value else "$")
    return name if _PATH.fullmatch(name) else None


def _of_maven(tree: Tree, directory: str, jar: str) -> Found:
    path = str(PurePosixPath(directory, "target", f"{jar}.jar"))
    cases = max(1, sum(len(_CASE.findall(tree.text(name))) for name in tree.ending(".java", ".kt", under=directory)))
    more = "Longer if @Param yields many benchmarks."
    suite = Suite(cases, 0, _START * cases, more, warmup=0, executions=1, shortest=_SHORTEST)
    length = length_of_value(suite)
    top = "pom.xml" in tree.names and directory
    module = (
        f" --projects {shlex.quote(directory)} --also-make"
        if top
        else f" --file {shlex.quote(directory)}"
        if directory
        else ""
    )
    return Found(
        "jmh",
        f"{PurePosixPath(directory, 'pom.xml')} with JMH",
        Measured(
            "jmh",
            ["java", "-jar", path, *_WARM_UP, "-r", f"{1000 * length:.0f}ms"],
            [
                "One warm-up iteration of 1 s (-wi, -w), then the values, each of length -r; JMH's own are 10 s long.",
                "A pattern at the end chooses benchmarks.",
            ],
            instrument="jmh",
        ),
        f"mvn --quiet --batch-mode clean package -DskipTests{module}",
        ["Java compiles to the same code each time; builds differ in what the JVM makes of it."],
        artifacts=[path],
        products=[str(PurePosixPath(directory, "target"))],
        notes=["set the JVM's own options, such as -Xmx, with -jvmArgs in the command"],
        amount=amount(suite, length),
    )


def _unknown(evidence: str, build: list[str], jar: str) -> Found:
    measured, notes = placeholder()
    comment = [
        *measured.comment,
        "The project has JMH benchmarks, but perfgate cannot find their jar. Name it here, and see [build]:",
        '  instrument = "jmh"',
        f'  command = ["java", "-jar", "{jar}"]',
    ]
    build_comment = [f'command = "{build[0]}"']
    notes = [*notes, "JMH's jar was not found: fill in how it is built and run"]
    return Found("jmh", evidence, replace(measured, comment=comment), None, build_comment, notes=notes)
