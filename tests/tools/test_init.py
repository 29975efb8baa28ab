"""perfgate init for the benchmarks of other tools: what it writes is built and measured by `perfgate check`.

Dependencies are installed by the tools' own clients, as a user's would be.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.started import checked, made, need

pytestmark = [pytest.mark.tools, pytest.mark.xdist_group("measures")]

_SLOW = 1800  # seconds: compiling Criterion twice on a busy machine

GO_BENCH = {
    "go.mod": "module example.com/acme/words/v2\n\ngo 1.21\n",
    "words.go": 'package words\n\nimport "strings"\n\nfunc Count(s string) int { return len(strings.Fields(s)) }\n',
    "words_test.go": (
        'package words\n\nimport "testing"\n\nfunc BenchmarkCount(b *testing.B) {\n'
        '\tfor i := 0; i < b.N; i++ {\n\t\tCount("a b c")\n\t}\n}\n'
        'func TestNot(t *testing.T) {\n\tt.Fatal("tests are not run")\n}\n'
    ),
    # in its own directory, as `go test` runs it
    "inner/deep/data.txt": "100",
    "inner/deep/inner_test.go": (
        'package inner\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc BenchmarkRead(b *testing.B) {\n'
        '\tfor _, name := range []string{"one", "two"} {\n\t\tb.Run(name, func(b *testing.B) {\n'
        '\t\t\tfor i := 0; i < b.N; i++ {\n\t\t\t\tif _, err := os.ReadFile("data.txt"); err != nil {\n'
        "\t\t\t\t\tb.Fatal(err)\n\t\t\t\t}\n\t\t\t}\n\t\t})\n\t}\n}\n"
    ),
    "a module/go.mod": "module example.com/module\n\ngo 1.21\n",
    "a module/m_test.go": (
        'package module\n\nimport "testing"\n\nfunc BenchmarkNothing(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t}\n}\n'
    ),
}
GO_PACKAGES = {path: text for path, text in GO_BENCH.items() if not path.startswith("a module/")}
GO_PROGRAM = {
    "go.mod": "module example.com/tool\n\ngo 1.21\n",
    "cmd/tool/main.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("done") }\n',
}
GO_TESTS = {
    "go.work": "go 1.21\n\nuse ./a\n",
    "a/go.mod": "module example.com/a\n\ngo 1.21\n",
    "a/a_test.go": 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
}


def test_go_benchmarks(tmp_path: Path) -> None:
    need("go")
    cases = checked(made(tmp_path, GO_BENCH), kind="go")
    assert sorted({case.split("/", 1)[0] for case, _ in cases}) == ["a module", "inner-deep", "words"]
    assert {metric for _, metric in cases} == {"time"}
    # of a table, each its own; tests are none
    assert len(cases) == 4


def test_go_packages_of_one_module(tmp_path: Path) -> None:
    need("go")
    cases = checked(made(tmp_path, GO_PACKAGES), kind="go")
    assert sorted(case for case, _ in cases) == [
        "inner-deep/BenchmarkRead/one",
        "inner-deep/BenchmarkRead/two",
        "words/BenchmarkCount",
    ]


@pytest.mark.parametrize(("files", "name"), [(GO_PROGRAM, "tool"), (GO_TESTS, "tests")], ids=["program", "tests"])
def test_go_without_benchmarks(tmp_path: Path, files: dict[str, str], name: str) -> None:
    need("go")
    assert checked(made(tmp_path, files), kind="go") == [(name, "time")]


WORK_C = "#include <stdio.h>\nint work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }\n"
C_ALONE = {
    "include/work.h": "int work(int n);\n",
    "src/work.c": "#include <work.h>\n" + WORK_C,
    "tests/bench.c": '#include <stdio.h>\n#include <work.h>\nint main(void) { printf("%d\\n", work(30000000)); }\n',
}
JAVA_MAIN = {
    "pom.xml": (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>a</groupId>'
        "<artifactId>b</artifactId><version>1</version><properties><maven.compiler.source>8</maven.compiler.source>"
        "<maven.compiler.target>8</maven.compiler.target></properties></project>"
    ),
    "src/test/java/a/WorkBenchmark.java": (
        "package a;\npublic class WorkBenchmark {\n  public static void main(String[] args) {\n    long sum = 0;\n"
        "    for (int i = 0; i < 300000000; i++) sum += i % 7;\n    System.out.println(sum);\n  }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("files", "tool", "kind", "case"),
    [(C_ALONE, "cc", "c", ("bench", "active")), (JAVA_MAIN, "mvn", "java", ("WorkBenchmark", "time"))],
    ids=["c", "java"],
)
def test_a_program_that_no_rule_of_the_project_starts(
    tmp_path: Path, files: dict[str, str], tool: str, kind: str, case: tuple[str, str]
) -> None:
    need(tool)
    assert checked(made(tmp_path, files), kind=kind) == [case]


VITEST = {
    "package.json": (
        '{"name": "x", "version": "1.0.0", "type": "module", "scripts": {"bench": "vitest bench"},'
        ' "devDependencies": {"vitest": "^3.0.0"}}'
    ),
    "bench/a.bench.js": (
        'import { bench, describe } from "vitest";\n'
        'describe("sort", () => {\n  bench("it\'s \\"quoted\\"", () => { [3, 1, 2].sort(); });\n});\n'
        'bench("top", () => { JSON.stringify({ a: 1 }); });\n'
    ),
    ".gitignore": "node_modules\npackage-lock.json\n",
}
BENCHMARK_JS = {
    "package.json": (
        '{"name": "x", "version": "1.0.0", "scripts": {"benchmark": "node benchmark/run.js"},'
        ' "devDependencies": {"benchmark": "^2.1.4"}}'
    ),
    "benchmark/run.js": (
        'const Benchmark = require("benchmark");\nfor (const text of ["short", "long"]) {\n'
        "  console.log(`\\n# ${text}`);\n  new Benchmark.Suite()\n"
        '    .add("find  ", () => /o/.test("Hello World!"), { maxTime: 0.2 })\n'
        '    .on("cycle", (event) => console.log("  " + event.target))\n'
        '    .on("complete", function () { console.log("Fastest is " + this.filter("fastest").map("name")); })\n'
        "    .run();\n}\n"
    ),
    ".gitignore": "node_modules\npackage-lock.json\n",
}


@pytest.mark.parametrize(
    ("files", "cases"),
    [
        (VITEST, [("bench", 'bench/a.bench.js > sort > it\'s "quoted"'), ("bench", "bench/a.bench.js > top")]),
        (BENCHMARK_JS, [("benchmark", "short/find"), ("benchmark", "long/find")]),
    ],
    ids=["vitest", "benchmark.js"],
)
def test_npm_libraries(tmp_path: Path, files: dict[str, str], cases: list[tuple[str, str]]) -> None:
    need("node", "npm")
    assert sorted(checked(made(tmp_path, files), kind="npm", iterations=1, timeout=_SLOW)) == sorted(cases)


def test_npm_installs_what_is_locked(tmp_path: Path) -> None:
    need("node", "npm")
    files = {
        "package.json": (
            '{"name": "x", "version": "1.0.0", "scripts": {"bench": "node bench.js"}, "dependencies": {"ms": "2.1.3"}}'
        ),
        "bench.js": 'if (require("ms")("1s") !== 1000) throw new Error("wrong");\n',
        ".gitignore": "node_modules\n",
    }
    directory = made(tmp_path, files)
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=directory, check=True)
    subprocess.run(["git", "add", "package-lock.json"], cwd=directory, check=True)
    assert checked(directory, kind="npm", timeout=_SLOW) == [("bench", "time")]
    # the checkout's own was neither linked nor emptied
    assert (directory / "node_modules" / "ms" / "index.js").is_file()


CRITERION = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
    "crates/app/Cargo.toml": (
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n'
        '[dev-dependencies]\ncriterion = { version = "0.5", default-features = false }\n'
        '[[bench]]\nname = "my-bench"\nharness = false\n'
    ),
    "crates/app/src/lib.rs": "pub fn work(n: u64) -> u64 { (0..n).fold(0, |a, b| a ^ b.rotate_left(7)) }\n",
    "crates/app/data.txt": "100",
    "crates/app/benches/my-bench.rs": (
        "use criterion::{black_box, criterion_group, criterion_main, Criterion};\nfn all(c: &mut Criterion) {\n"
        '    let n: u64 = std::fs::read_to_string("data.txt").unwrap().parse().unwrap();\n'
        '    c.bench_function("work", |b| b.iter(|| app::work(black_box(n))));\n}\n'
        "criterion_group!(benches, all);\ncriterion_main!(benches);\n"
    ),
    ".gitignore": "target\nCargo.lock\n",
}


def test_criterion(tmp_path: Path) -> None:
    need("cargo")
    directory = made(tmp_path, CRITERION)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=directory, check=True)
    assert checked(directory, kind="cargo", timeout=_SLOW) == [("my-bench/work", "time")]


GOOGLE_BENCHMARK = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.13)\nproject(fib CXX)\n"
        'option(FIB_BENCHMARKS "Build the benchmarks" OFF)\nadd_library(fib fib.cpp)\n'
        "if(FIB_BENCHMARKS)\n  find_package(benchmark REQUIRED)\n  add_subdirectory(bench)\nendif()\n"
    ),
    "fib.cpp": "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n",
    "bench/CMakeLists.txt": (
        "add_executable(fib_bench fib_bench.cpp)\n"
        "target_link_libraries(fib_bench PRIVATE fib benchmark::benchmark benchmark::benchmark_main)\n"
    ),
    "bench/fib_bench.cpp": (
        "#include <benchmark/benchmark.h>\nint fib(int);\nstatic void BM_Fib(benchmark::State& state) {\n"
        "  for (auto _ : state) benchmark::DoNotOptimize(fib(static_cast<int>(state.range(0))));\n}\n"
        "BENCHMARK(BM_Fib)->Arg(5)->Arg(10);\n"
    ),
}


def test_google_benchmark(tmp_path: Path) -> None:
    need("cmake", "c++")
    include = subprocess.run(
        ["c++", "-E", "-x", "c++", "-"], input=b"#include <benchmark/benchmark.h>", capture_output=True
    )
    if include.returncode:
        pytest.skip("absent: Google Benchmark (what `perfgate init` writes for it was not run)")
    cases = checked(made(tmp_path, GOOGLE_BENCHMARK), kind="cmake", timeout=_SLOW)
    assert cases == [("fib_bench/BM_Fib/5", "time"), ("fib_bench/BM_Fib/10", "time")]


def test_pyperf(tmp_path: Path) -> None:
    files = {
        "benchmarks/bench_work.py": (
            "import pyperf\nfrom pkg import work\nrunner = pyperf.Runner()\nrunner.bench_func('small', work, 10)\n"
        ),
        "src/pkg/__init__.py": "def work(n):\n    return sum(range(n))\n",
        ".gitignore": ".venv\n",
    }
    directory = made(tmp_path, files)
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=directory, check=True)
    subprocess.run([".venv/bin/python", "-m", "pip", "install", "--quiet", "pyperf"], cwd=directory, check=True)
    assert checked(directory, kind="pyperf") == [("benchmarks-bench_work/small", "time")]


JMH = {
    "pom.xml": """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>sample</artifactId>
  <version>1.0</version>
  <properties>
    <jmh.version>1.37</jmh.version>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <uberjar.name>benchmarks</uberjar.name>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.openjdk.jmh</groupId><artifactId>jmh-core</artifactId><version>${jmh.version}</version>
    </dependency>
    <dependency>
      <groupId>org.openjdk.jmh</groupId><artifactId>jmh-generator-annprocess</artifactId><version>${jmh.version}</version>
      <scope>provided</scope>
    </dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-shade-plugin</artifactId><version>3.5.1</version>
    <executions><execution>
      <phase>package</phase><goals><goal>shade</goal></goals>
      <configuration>
        <finalName>${uberjar.name}</finalName>
        <transformers>
          <transformer implementation="org.apache.maven.plugins.shade.resource.ManifestResourceTransformer">
            <mainClass>org.openjdk.jmh.Main</mainClass>
          </transformer>
          <transformer implementation="org.apache.maven.plugins.shade.resource.ServicesResourceTransformer"/>
        </transformers>
      </configuration>
    </execution></executions>
  </plugin></plugins></build>
</project>
""",
    "src/main/java/sample/Sum.java": (
        "package sample;\n\nimport org.openjdk.jmh.annotations.*;\n\n@State(Scope.Thread)\n@BenchmarkMode(Mode.AverageTime)\n"
        "public class Sum {\n    @Benchmark\n    public long sum() {\n        long s = 0;\n"
        "        for (int i = 0; i < 1000; i++) s += i ^ (s << 1);\n        return s;\n    }\n}\n"
    ),
    ".gitignore": "target\ndependency-reduced-pom.xml\n",
}


def test_jmh(tmp_path: Path) -> None:
    need("java", "mvn")
    cases = checked(made(tmp_path, JMH), kind="jmh", timeout=_SLOW)
    assert cases == [("jmh/sample.Sum.sum:avgt", "time")]
