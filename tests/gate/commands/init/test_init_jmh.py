"""perfgate init on made-up Java projects with JMH."""

import pytest

from tests.support.initialized import Project, detected, written

_CORE = "<dependency><artifactId>jmh-core</artifactId></dependency>"
_POM = (
    "<project><properties><uberjar.name>benchmarks</uberjar.name></properties><dependencies>"
    f"{_CORE}</dependencies><build><plugins><plugin>"
    "<artifactId>maven-shade-plugin</artifactId><configuration><finalName>${uberjar.name}</finalName></configuration>"
    "</plugin></plugins></build></project>"
)
_PLAIN = f"<project><dependencies>{_CORE}</dependencies></project>"
_JAVA = "  @Benchmark\n  @Benchmark\n"
_NEWEST = "ls -t target/*.jar | grep -v -e /original- -e perfgate-jmh.jar -e -sources -e -javadoc"
_MVN = "mvn --quiet --batch-mode package -DskipTests"


@pytest.mark.parametrize(
    ("files", "jar", "build"),
    [
        ({"pom.xml": _POM, "src/A.java": _JAVA}, "target/benchmarks.jar", _MVN),
        (
            {"pom.xml": "<modules><module>b</module></modules>", "b/pom.xml": _POM, "b/A.java": _JAVA},
            "b/target/benchmarks.jar",
            f"{_MVN} --projects b --also-make",
        ),
        # the most benchmarks; not what Maven's archetype copies
        (
            {
                "pom.xml": f"<modules><module>a</module><module>b</module></modules>{_CORE}",
                "a/pom.xml": _POM,
                "a/A.java": "@Benchmark\n",
                "a/resources/pom.xml": _POM,
                "a/resources/A.java": _JAVA * 9,
                "b/pom.xml": _POM,
                "b/A.java": _JAVA,
            },
            "b/target/benchmarks.jar",
            f"{_MVN} --projects b --also-make",
        ),
        (
            {
                "pom.xml": "<modules><module>x</module></modules><profile><id>all</id><module>b</module></profile>",
                "b/pom.xml": _POM,
                "b/A.java": _JAVA,
            },
            "b/target/benchmarks.jar",
            f"{_MVN} --activate-profiles all --projects b --also-make",
        ),
        ({"b/pom.xml": _POM, "b/A.java": _JAVA, "mvnw": "", ".mvn/wrapper/maven-wrapper.properties": ""}, "b/target/benchmarks.jar", f"./{_MVN.replace('mvn', 'mvnw', 1)} --file b"),
        (
            {"pom.xml": _POM.replace("${uberjar.name}", "${unknown}"), "src/A.java": _JAVA},
            "target/perfgate-jmh.jar",
            f'{_MVN} && cp "$({_NEWEST} | head -n 1)" target/perfgate-jmh.jar',
        ),
    ],
    ids=["one", "module", "several", "profile", "file", "unknown-name"],
)  # fmt: skip
def test_maven(project: Project, files: dict[str, str], jar: str, build: str) -> None:
    config = written(project(files))
    (benchmark,) = config.benchmark
    assert benchmark.instrument == "jmh"
    assert list(benchmark.command)[:3] == ["java", "-jar", jar]
    assert config.build.command == build
    assert config.build.artifacts == [jar]


def test_maven_with_benchmarks_among_the_tests(project: Project) -> None:
    files = {"pom.xml": "<module>b</module>", "b/pom.xml": _PLAIN, "b/src/test/java/A.java": _JAVA}
    config = written(project(files))
    assert str(config.benchmark[0].command).startswith(
        'java -cp "b/target/test-classes:b/target/classes:$(cat b/target/jmh.classpath)" org.openjdk.jmh.Main -wi 1 '
    )
    assert config.build.command == (
        f"{_MVN.replace('package', 'test-compile')} --projects b --also-make dependency:build-classpath"
        " -Dmdep.outputFile=target/jmh.classpath -Dmdep.includeScope=test"
    )
    assert config.build.artifacts == []


def test_maven_with_the_generator_in_a_profile(project: Project) -> None:
    pom = f"{_PLAIN}<profiles><profile><id>other</id></profile><profile><id>speed</id>jmh-generator-annprocess</profile></profiles>"
    config = written(project({"pom.xml": pom, "src/test/java/A.java": _JAVA}))
    assert " test-compile -DskipTests --activate-profiles speed dependency:build-classpath " in str(
        config.build.command
    )


@pytest.mark.parametrize(
    ("folder", "task", "built"), [("", "jmhJar", "build"), ("core/fast/", ":core:fast:jmhJar", "core/fast/build")]
)
@pytest.mark.parametrize("plugin", ['id("me.champeau.jmh") version "0.7.2"', "alias(libs.plugins.jmh)"])
def test_gradle(project: Project, folder: str, task: str, built: str, plugin: str) -> None:
    files = {"build.gradle.kts": f"plugins {{ {plugin} }}\n", "gradlew": "", f"{folder}src/jmh/java/A.java": _JAVA}
    config = written(project(files))
    assert list(config.benchmark[0].command)[:3] == ["java", "-jar", f"{built}/perfgate-jmh.jar"]
    assert config.build.command == (
        f'./gradlew --quiet --no-daemon {task} && cp "$(ls -t {built}/libs/*-jmh.jar | head -n 1)" {built}/perfgate-jmh.jar'
    )


def test_gradle_with_a_jar_of_its_own(project: Project) -> None:
    build = 'plugins { id("me.champeau.jmh") }\ntasks.shadowJar { attributes(Pair("Main-Class", "org.openjdk.jmh.Main")) }\n'
    found = detected(project({"perf/build.gradle.kts": build, "perf/src/jmh/java/A.java": _JAVA}))
    assert found.evidence == "perf/build.gradle.kts with JMH"
    assert found.build == (
        "gradle --quiet --no-daemon :perf:shadowJar"
        ' && cp "$(ls -t perf/build/libs/*.jar | head -n 1)" perf/build/perfgate-jmh.jar'
    )


@pytest.mark.parametrize(
    "files",
    [{"build.gradle.kts": 'plugins { id("me.champeau.jmh") version "0.7.2" }\n', "gradlew": ""}, {"pom.xml": _POM}],
    ids=["gradle", "maven"],
)
def test_jmh_without_benchmarks_to_be_seen(project: Project, files: dict[str, str]) -> None:
    directory = project(files)
    assert written(directory).benchmark[0].name == "placeholder"
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    assert '#   instrument = "jmh"\n#   command = ["java", "-jar", ' in text


def test_modules_that_are_left_out_are_named(project: Project) -> None:
    files = {"a/src/jmh/A.java": _JAVA, "b/src/jmh/A.java": "@Benchmark\n", "build.gradle": "jmh {\n"}
    assert "1 more module with benchmarks is left out (b): add what matters" in detected(project(files)).notes
