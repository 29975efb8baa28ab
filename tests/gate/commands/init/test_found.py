"""What is found in made-up projects by asking their tools: what is measured, how it is built, what is left out."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import pytest

from gate.commands.init.ask import Asked
from gate.commands.init.found import Found, Proposed, Rank, fixed_plan, names_of, placeholder, suite_plan
from gate.commands.init.init import render
from gate.commands.init.tree import read_tree
from gate.config.config_text import read_source
from gate.config.parse import parse
from tests.support.initialized import Project, detected, need


class Case(NamedTuple):
    """A project's files, and what is written for it: where a text is given, it stands in the command or build."""

    files: dict[str, str]
    command: str | None
    build: str = ""
    rows: tuple[str, ...] = ()
    kind: str = ""
    """"" for the one of its group."""


CRATE = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n'
CRITERION = "use criterion::*;\nfn f(c: &mut Criterion) { c.bench_function(n, g); }\ncriterion_main!(x);\n"
DIVAN = "fn main() { divan::main() }\n#[divan::bench]\nfn a() {}\n"
LIBTEST = "#![feature(test)]\n#[bench]\nfn a(b: &mut test::Bencher) {}\n"
FUZZ = "#![no_main]\nlibfuzzer_sys::fuzz_target!(|data: &[u8]| {});\n"
LIB = {"src/lib.rs": "#[test] fn t() {}\n"}
MAIN_RS = {"Cargo.toml": CRATE, "src/main.rs": "fn main() {}\n"}
TOUCH = "touch src/main.rs && cargo build --release --target-dir target --bin app"


def benched(
    bench: str, source: str, *, version: str = "0.5", more: str = "", top: str = "", crate: str = CRATE
) -> dict[str, str]:
    """A library with a benchmark, in a folder: top."""
    table = f'[dev-dependencies]\ncriterion = "{version}"\n[[bench]]\nname = "{bench}"\nharness = false\n'
    lib = {f"{top}src/lib.rs": "" if top else LIB["src/lib.rs"]}
    return {f"{top}Cargo.toml": crate + table + more, **lib, f"{top}benches/{bench}.rs": source}


CARGO = {
    "program": Case(MAIN_RS, "['./target/release/app']", TOUCH),
    # before a program and a library's tests
    "example": Case(
        {
            **MAIN_RS,
            **LIB,
            "Cargo.toml": CRATE + '[features]\nfast = []\n[[example]]\nname = "bench"\nrequired-features = ["fast"]\n',
            **dict.fromkeys(("examples/bench.rs", "examples/demo.rs"), "fn main() {}\n"),
        },
        "['./target/release/examples/bench']",
        "touch examples/bench.rs && cargo build --release --target-dir target --example bench --features fast",
        rows=("bin app",),
    ),
    "help": Case({**MAIN_RS, "src/a.rs": 'if a == "--help" {}'}, "['./target/release/app', '--help']"),
    "tests": Case({"Cargo.toml": CRATE, **LIB}, "'cargo', 'test'", "touch src/lib.rs && cargo test"),
    "server": Case({**MAIN_RS, **LIB, "src/main.rs": "fn main() { TcpListener::bind(a); }"}, "'cargo', 'test'"),
    "criterion": Case(
        benched("my-bench", CRITERION),
        "['./target/bench-my-bench', '--bench', '--warm-up-time=0.004', '--measurement-time=0.02']",
        "touch benches/my-bench.rs\ncargo bench --no-run --target-dir target --bench my-bench\ncp ",
    ),
    # versions of Criterion that take whole seconds only
    "criterion-0.3": Case(
        {**benched("a", CRITERION * 9, version="0.3.5"), "benches/b.rs": CRITERION * 9},
        "'--warm-up-time=1', '--measurement-time=1'",
    ),
    # Cargo takes more for the name of a target than for that of a package
    "digit": Case(benched("0-first", DIVAN), "['./target/bench-0-first', '--bench']", "deps/0_first-????????????????"),
    "name": Case(benched("$(id)", DIVAN), "'cargo', 'test'", rows=("bench $(id)",)),
    "own-main": Case(benched("a", "fn main() {}\n"), "'cargo', 'test'", rows=("bench a",)),
    "features": Case(
        benched("a", CRITERION, more='required-features = ["x"]\n[features]\nx = []\n'),
        "./target/bench-a",
        "--target-dir target --features x --bench a",
    ),
    "nightly": Case(
        {"Cargo.toml": CRATE, **LIB, "benches/speed.rs": LIBTEST},
        "./target/bench-speed",
        "cargo +nightly bench --no-run",
    ),
    "workspace": Case(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
            **benched("b", CRITERION, top="crates/one/", crate=CRATE.replace("app", "one")),
            **benched("b", CRITERION, top="crates/two/", crate=CRATE.replace("app", "two")),
            ".cargo/config.toml": '[build]\ntarget = "x86_64-linux"\n',
        },
        "cd crates/one && ../../target/bench-one-b --bench",
        'cp "$(ls -t target/x86_64-linux/release/deps/$1-???????????????? | head -n 1)" $2; }',
    ),
    "library": Case(
        {"Cargo.toml": CRATE, "src/lib.rs": LIBTEST + LIB["src/lib.rs"]}, "'cargo', 'test'", rows=("#[bench] in src",)
    ),
    # a member of the workspace, in any folder, under any fuzzer
    "fuzz": Case(
        {
            "Cargo.toml": CRATE + '[workspace]\nmembers = ["checks"]\n',
            **LIB,
            "checks/one.rs": FUZZ,
            "checks/Cargo.toml": CRATE.replace("app", "checks") + '[[bin]]\nname = "one"\npath = "one.rs"\n',
        },
        "'cargo', 'test'",
        rows=("bin one",),
    ),
    "beside": Case(
        MAIN_RS
        | benched("b", CRITERION, top="benchmarks/", crate=CRATE.replace("app", "benchmarks"), more="[workspace]\n"),
        "cd benchmarks && ../target/bench-b",
        "--manifest-path benchmarks/Cargo.toml",
    ),
    "lock": Case({**MAIN_RS, ".gitignore": "Cargo.lock\n", "Cargo.lock": "version = 3\n"}, "release/app"),
}

MODULE = "module example.com/acme/words/v2\n\ngo 1.21\n"
GO_BENCH = "package a\n\nfunc BenchmarkA(b *testing.B) {\n}\n"
GO_TEST = "package a\n\nfunc TestA(t *testing.T) {}\n"
GO_MAIN = "package main\n\nfunc main() {}\n"
GO = {
    "benchmarks": Case(
        {"go.mod": MODULE, "a_test.go": GO_BENCH, "a.go": "package a\n"},
        "['./bench.test', '-test.run=^$', '-test.bench=.', '-test.benchtime=10ms']",
        "go test -c -o bench.test .",
    ),
    "packages": Case(
        {"go.mod": MODULE, "a_test.go": GO_BENCH, "x/y/b_test.go": GO_BENCH, "z/c_test.go": GO_BENCH},
        "cd x/y && ../../bench.tests/y.test '-test.run=^$'",
        "go test -c -o bench.tests/ . ./x/y ./z",
    ),
    "one-name": Case(
        {"go.mod": MODULE, "z/a_test.go": GO_BENCH, "x/z/b_test.go": GO_BENCH},
        "cd x/z && ./bench.test",
        "for package in x/z z; do",
    ),
    "below": Case({"it is/go.mod": MODULE, "it is/a_test.go": GO_BENCH}, "cd 'it is' && ./bench.test", "cd 'it is' &&"),
    # a module of its own, which `go list` of the outer one passes over
    "underscore": Case({"go.mod": MODULE, "a.go": "package a\n", "_b/go/go.mod": MODULE, "_b/go/a_test.go": GO_BENCH}, "cd _b/go && ./bench.test"),
    # from before there were modules
    "old": Case({"a.go": 'package a\n\nimport _ "example.com/acme/a/b"\n', "b/b.go": "package b\n", "b/b_test.go": GO_BENCH, "a_test.go": GO_BENCH}, "./bench.tests/a.test", "go mod init example.com/acme/a &&"),
    "slash": Case({"go.mod": "module example.com/\n", "a_test.go": GO_BENCH}, "./bench.test"),
    # `go list` tells of a folder that nothing can import without its place
    "blank": Case({"go.mod": MODULE, "a_test.go": GO_BENCH, "a b/c.go": "package c\n"}, "./bench.test"),
    "elsewhere": Case({"go.mod": MODULE, "a_windows_test.go": GO_BENCH, "b_test.go": GO_TEST, "b.go": "package a\n"}, "./bench.test", rows=("a_windows_test.go",)),
    "constraint": Case({"go.mod": MODULE, "a_test.go": f"//go:build integration\n\n{GO_BENCH}", "b_test.go": GO_TEST}, "./bench.test", rows=("a_test.go",)),
    "program": Case(
        {"go.mod": MODULE, "cmd/tool/main.go": GO_MAIN, "examples/e/main.go": GO_MAIN},
        "['./bin/tool']",
        "go build -o bin/tool ./cmd/tool",
    ),
    "server": Case({"go.mod": MODULE, "main.go": "package main\nfunc main() { http.ListenAndServe(a, b) }\n", "a_test.go": GO_TEST.replace(" a\n", " main\n", 1)}, "./bench.test"),
    "nothing": Case({"go.mod": MODULE, "a.go": "package a\n"}, None),
}  # fmt: skip

MAIN = "int main(void) { return 0; }\n"
WANTING = "int main(int argc, char **argv) { return argc < 2 || !argv; }\n"
# its arguments may be left out, which a start alone tells
OPTIONAL = "int main(int argc, char **argv) { if (argc == 2 && *argv[1] == 'i') for (;;) ; return 0; }\n"
ASKING = 'int puts(const char *); int main(int argc, char **argv) { return argc == 1 ? puts("Usage: bench N") < 0 : !argv; }\n'
EACH_FILE = (
    "int open(char *); int main(int argc, char **argv) { for (int i = 1; i < argc; i++) open(argv[i]); return 0; }\n"
)
ON_FILE = 'int main(int argc, char **argv) { printf("Usage: %s [-n] [FILE]...\\n", argv[0]); return argc; }\n'
APP, OFF = "add_executable(app main.c)\n", 'option(X_BENCHMARKS "Build the benchmarks" OFF)\nif(X_BENCHMARKS)\n'


def listed(text: str, main: str = MAIN, language: str = "C", **files: str) -> dict[str, str]:
    """A project of CMake; in C++ main is bench.cpp."""
    top = f"cmake_minimum_required(VERSION 3.13)\nproject(x {language})\n"
    return {"CMakeLists.txt": top + text, "main.c" if language == "C" else "bench.cpp": main, **files}


CMAKE = {
    "program": Case(
        listed(APP),
        "['./build/app']",
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && rm -f build/app && cmake --build build --parallel 2 --target app",
    ),
    # computed names and places, which only CMake knows
    "computed": Case(
        listed(
            'string(TOLOWER "TOOL" T)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")\n'
            "foreach(S main)\nadd_executable(${T} ${S}.c)\nendforeach()\n"
        ),
        "['./build/bin/tool']",
    ),
    "bench": Case(listed(APP + "add_executable(app_bench main.c)\n"), "['./build/app_bench']", rows=("program app",)),
    "benches": Case(
        listed(APP + "".join(f"add_executable({name}_bench main.c)\n" for name in "ab")),
        "['./build/a_bench']\n['./build/b_bench']",
        rows=("program app",),
    ),
    "option": Case(
        listed(APP + OFF + "add_executable(x_bench main.c)\nendif()\n"),
        "['./build/x_bench']",
        "-DX_BENCHMARKS=ON",
        rows=("program app",),
    ),
    "option-fails": Case(
        listed(APP + OFF + 'message(FATAL_ERROR "no such library")\nendif()\n'),
        "['./build/app']",
        rows=("option X_BENCHMARKS",),
    ),
    "fuzz": Case(listed(APP + "add_executable(app_fuzz main.c)\n"), "['./build/app']", rows=("program app_fuzz",)),
    # tests give way to what make has of benchmarks
    "tests beside": Case(
        listed("enable_testing()\n" + APP + "add_test(NAME t COMMAND app)\n", WANTING)
        | {"bench/Makefile": "bench: bench.c\n\t$(CC) -o $@ $<\n", "bench/bench.c": MAIN},
        "['./bench/bench']",
        "make -C bench bench",
        kind="make",
    ),
    "tests": Case(listed("enable_testing()\n" + APP + "add_test(NAME t COMMAND app)\n", WANTING), "cd build && ctest"),
    # what is needed for tests alone may not be there
    "tests-fail": Case(
        listed(
            'option(X_BUILD_TESTING "" ON)\nif(X_BUILD_TESTING)\nfind_package(Absent REQUIRED)\nendif()\n'
            f"{OFF}add_executable(x_bench main.c)\nendif()\n"
        ),
        "['./build/x_bench']",
        "-DX_BENCHMARKS=ON -DX_BUILD_TESTING=OFF",
    ),
    # where nothing else can be measured, the tests behind an option
    "tests-option": Case(
        listed(
            'add_library(x main.c)\noption(X_BUILD_TESTS "" OFF)\nif(X_BUILD_TESTS)\nenable_testing()\n'
            "add_executable(test_a main.c)\nadd_test(NAME t COMMAND test_a)\nendif()\n"
        ),
        "cd build && ctest",
        "-DX_BUILD_TESTS=ON",
    ),
    "arguments": Case(listed(APP, WANTING), None),
    "optional": Case(
        listed("add_executable(app app.c)\nadd_executable(bench main.c)\n", OPTIONAL, **{"app.c": MAIN}),
        "['./build/bench']",
        rows=("program app",),
    ),
    "a-file": Case(
        listed("add_executable(bench main.c)\n", ON_FILE, **{"data/words.txt": "word " * 100}),
        "['./build/bench', 'data/words.txt']",
    ),
    "below": Case(
        {"README": "", **{f"code/{name}": text for name, text in listed(APP).items()}},
        "['./build/app']",
        "cmake -S code -B build",
    ),
    # what CMake refuses is read simply
    "broken": Case(listed("find_package(Absent REQUIRED)\n" + APP), "['./build/app']"),
    "google": Case(
        listed(
            "add_executable(fib_bench bench.cpp)\nadd_executable(fib bench.cpp)\n",
            "#include <benchmark/benchmark.h>\nBENCHMARK(BM_Fib)->Arg(5);\n",
            "CXX",
        ),
        "['./build/fib_bench', '--benchmark_min_time=0.01']",
    ),
    "catch2": Case(
        listed(
            "add_executable(b bench.cpp)\n",
            '#include <catch2/catch_all.hpp>\nTEST_CASE("x", "[!benchmark]") {\n  BENCHMARK("y") { };\n}\n',
            "CXX",
        ),
        "['./build/b', '[!benchmark]', '--reporter', 'xml', '--out', '{output}']",
    ),
    # which a header beside it includes, wherever the project has it
    "catch2-header": Case(
        {
            **listed(
                "add_executable(b bench.cpp)\n",
                '#include "./all.h"\nTEST_CASE("a") {\n  BENCHMARK("y") {};\n}\n',
                "CXX",
            ),
            "all.h": '#include "../ext/catch.hpp"\n',
        },
        "['./build/b', '--reporter', 'xml', '--out', '{output}']",
    ),
    # of files without a test case, too, and where a function beside them runs it
    "nanobench": Case(
        {
            **listed(
                "add_executable(b bench.cpp main.cpp)\n",
                '#include <doctest.h>\n#include <nanobench.h>\nTEST_CASE("a case") {\n  Bench().run("y", f);\n}\n'
                'TEST_CASE_TEMPLATE("bench b" * skip(), T, int, char) {\n  g<T>();\n}\n',
                "CXX",
            ),
            "main.cpp": "#include <doctest.h>\n",
        },
        "['./build/b', '--test-case=a case,bench b*', '--no-skip']",
    ),
}

BESIDE = "test: app\n\t./app\napp: app.c\n\tcc -o $@ $<\nbench: main.c\n\tcc -o $@ $<\n"
MAKE = {
    "optional": Case(
        {"Makefile": BESIDE, "main.c": OPTIONAL, "app.c": MAIN},
        "['./bench']",
        "rm -f bench && make bench",
    ),
    "asking": Case(
        {"Makefile": BESIDE, "main.c": ASKING, "app.c": MAIN},
        "'make', '--silent', 'test'",
        rows=("bench",),
    ),
    # by the arguments that the README has, but none that stand for others or write a file
    "called": Case(
        {
            "Makefile": BESIDE + "\nx:\n\t./bench FILE; ./bench $(N)\n",
            "main.c": ASKING, "app.c": MAIN, "README.md": "    $ ./bench -o x.txt\n    $ ./bench --size 7 main.c > x\n",
        },
        "['./bench', '--size', '7', 'main.c']",
    ),
    "each-file": Case(
        {"Makefile": "bench: main.c\n\tcc -o $@ $<\n", "main.c": EACH_FILE, "data/a.txt": "a" * 999},
        "['./bench', 'data/a.txt']",
    ),
    "program": Case(
        {
            "Makefile": "P := app\nall: $(P) other\n$(P): main.o\n\t$(CC) -o $@ $^\nother: o.c\n\t$(CC) -o $@ $^\n",
            "main.c": MAIN,
            "o.c": "int main(int argc, char **argv) { return argc < 2; }\n",
        },
        "['./app']",
        "rm -f app && make app",
        rows=("other",),
    ),
    **{
        f"bench-{name}": Case(
            {"Makefile": f"bench: app\n\t{run}\napp: main.c\n\t$(CC) -o $@ $<\n.PHONY: bench\n", "main.c": MAIN},
            command,
            "rm -f app && make app",
        )
        for name, run, command in (
            ("starts", "./app -n 3", "['./app', '-n', '3']"),
            ("times", "time ./app", "['make', '--silent', 'bench']"),
            ("writes", "./app >out", "['make', '--silent', 'bench']"),
        )
    },
    # what works for a fixed time takes as long however fast it is
    "bench-alarm": Case(
        {
            "Makefile": "bench: app\n\t./app\napp: main.c\n\t$(CC) -o $@ $<\ntest: app\n\t./app\n",
            "main.c": MAIN + "#include <signal.h>\nvoid f(void) { signal(SIGALRM, SIG_IGN); alarm(8); }\n",
        },
        "'make', '--silent', 'test'",
        rows=("app",),
    ),
    # a file that is neither there nor made
    "absent-test": Case(
        {"Makefile": "app: main.c\n\t$(CC) -o $@ $<\ntest:\n\t./run_tests\n", "main.c": "int main(int argc, char **argv) { return *argv[1]; }\n"}, None
    ),
    # unless it prints how much it did
    "bench-rates": Case(
        {
            "Makefile": "bench: app\n\t./app\napp: main.c\n\t$(CC) -o $@ $<\ntest: app\n\t./app\n",
            "main.c": MAIN + '#include <signal.h>\nvoid f(void) { signal(SIGALRM, SIG_IGN); alarm(8); printf("a: %f MB/s\\n", r); }\n',
        },
        "['./app']",
        "rm -f app && make app",
    ),
    # a target that only builds a program: its time would be that of make
    "links-bench": Case(
        {
            "Makefile": ".PHONY: bench\nall: bench app\nbench: bin/bench\nbin/bench: bench.o\n\ttest -d bin || mkdir bin\n\t$(CC) -o $@ $^\napp: app.o\n\t$(CC) -o $@ $^\n",
            "bench.c": "int main(int argc, char *argv[]) { return 0; }\n",
            "app.c": MAIN,
        },
        "['./bin/bench']",
        "rm -f bin/bench && make bin/bench",
    ),
    # two levels down, with its program elsewhere, beside a tool of another language
    "below": Case(
        {
            "projects/make/Makefile": "all:\n\t$(MAKE) -C . -f inner.mk\n",
            "projects/make/inner.mk": "../../bin/prog: ../../src/main.c\n\tmkdir -p ../../bin\n\tcc -o $@ $<\n",
            "src/main.c": MAIN,
            "util/benchmark.py": "import subprocess\nsubprocess.run(['ruby'])\n",
        },
        "['./bin/prog']",
        "rm -f bin/prog && make -C projects/make",
        rows=("script util/benchmark.py",),
    ),
    "computed": Case(
        {"Makefile": "N := $(shell echo prog)\n$(addsuffix ol,$(N)): main.c\n\tcc -o $@ $<\n", "main.c": MAIN},
        "['./progol']",
    ),
    "tests": Case({"Makefile": "app: main.c\n\tcc -o $@ $<\ntest: app\n\t./app $(X)\n", "main.c": WANTING}, "'make', '--silent', 'test'", rows=("app",)),
    "arguments": Case({"Makefile": "all: app\napp: main.c\n\tcc -o app main.c\n", "main.c": WANTING}, None),
    "downloads": Case({"Makefile": "all: app\napp: main.c\n\tcc -o app main.c\nbench: app\n\tcurl x\n", "main.c": MAIN}, "['./app']"),
    # no rule builds it: with the sources whose headers it includes, and those beside them where that is too little
    "no-rule": Case(
        {
            "Makefile": "all:\n\ttrue\n",
            "tests/bench.c": f'#include "../lib.h"\n#include <api.h>\n#include "body.c"\n{MAIN}',
            "lib.h": "", "lib.c": '#include "lib.h"\n', "tests/body.c": "", "include/api.h": "", "src/api.c": "",
            "src/app.c": MAIN,
        },
        "['./bench']",
        "cc -O2 -I include -o bench tests/bench.c",
        kind="c",
    ),
    "no-rule-wide": Case(
        {"bench.c": f'#include "a.h"\nint b(void);\n{MAIN.replace("return 0", "return b()")}', "a.h": "", "a.c": "", "b.c": "int b(void) { return 0; }\n", "bench/x": ""},
        "['./bench.out']",
        "-o bench.out bench.c a.c b.c",
        kind="c",
    ),
    "no-rule-fails": Case({"bench.c": '#include "absent.h"\n' + MAIN, "a.c": MAIN}, None, rows=("bench.c",), kind="c"),
    # only the README says how it is compiled
    "told": Case(
        {"README.md": "```\n$ cc -DB no.c && ./a.out # bench\n$ cc a.c && ./a.out # tests\n$ cc -DB a.c && X=1 ./a.out # bench\r\n- `cc a.c && ./a.out bench`\n```\n", "a.c": MAIN},
        "X=1 ./a.out",
        "cc -DB a.c",
        rows=("./a.out bench",),
        kind="c",
    ),
    "told tests": Case({"README": "Compile and run:\\\ngcc \\\n-o x a.c\n./x \\\r\n --test\ncc a.c; ./a.out\n", "a.c": MAIN}, "['./x', '--test']", "gcc -o x a.c", kind="c"),
    "told beside": Case({"readme": "cc a.c && ./a.out # tests\n", "a.c": MAIN, "bench.c": MAIN}, "['./bench']", kind="c"),
    "told example": Case({"README": "    cc a.c && ./a.out # latest\n    cc -o x a.c && ./y # test\n", "a.c": MAIN}, None, kind="generic"),
    "wrapper": Case({"Makefile": "build:\n\tnpm run build\n", "README": ""}, None, kind="generic"),
    # nothing here can start it
    "absent": Case({"Makefile": "bench:\n\t@for b in 1; do \\\n\t  pdm run python bench.py; done\n", "bench.py": "print(1)\n"}, "bench.py", kind="python"),
    "absent behind": Case({"Makefile": "bench:\n\t@cd . && for b in 1; do A=1 pdm run python bench.py; done\n", "bench.py": "print(1)\n"}, "bench.py", kind="python"),
    "autotools": Case(
        {"configure.ac": "AC_INIT([x],[1])\nLT_INIT\n", "Makefile.am": "bin_PROGRAMS = tool\ntool_SOURCES = main.c\n", "main.c": MAIN},
        "['./tool']",
        "rm -f tool .libs/tool && make && make tool",
        kind="autotools",
    ),
}  # fmt: skip

DECLARED = '[project]\nname = "pkg"\ndependencies = []\n[dependency-groups]\ndev = ["pytest-benchmark"]\n'
USES = "def test_work(benchmark):\n    benchmark(sum, [1])\n"
PYTHON = {
    # tests of Rust are those of a part of it
    "of Rust": Case(
        {"pyproject.toml": "", "src/pkg/__init__.py": "", "tests/test_a.py": "import pytest\n", "Cargo.toml": '[workspace]\nmembers = ["b"]\n', "b/Cargo.toml": CRATE, "b/src/lib.rs": "#[test] fn t() {}\n"},
        "'pytest', '-q'",
    ),
    "in-bench": Case({"setup.py": "", "bench/connection.py": "for _ in (): pass\n", "bench/lib.py": "A = 1\n", "tests/test_a.py": "import pytest"}, "'bench/connection.py']"),
    "pytest": Case(
        {"pyproject.toml": DECLARED, "tests/test_b.py": USES, "src/pkg/__init__.py": ""},
        "'-m', 'pytest', '-q', '--confcutdir=tests', '--benchmark-min-time=0.01', 'tests/test_b.py']",
        kind="pytest-benchmark",
    ),
    "hindered": Case(
        {"pyproject.toml": DECLARED + '[tool.pytest.ini_options]\naddopts = "-n auto"\n', "tests/test_b.py": USES},
        "'-o', 'addopts=', ",
        kind="pytest-benchmark",
    ),
    # a file that cannot be collected here ends a run of pytest: it is left out, and said
    "absent": Case(
        {"pyproject.toml": DECLARED, "tests/test_a.py": "import nowhere_at_all\n" + USES, "tests/test_b.py": USES},
        "tests/test_b.py",
        rows=("tests/test_a.py",),
        kind="pytest-benchmark",
    ),
    # tests of a tool that writes such tests
    "text": Case({"pyproject.toml": DECLARED, "tests/test_b.py": f"X = {USES!r}\ndef test_a(): pass\n"}, "'pytest'", kind="python"),
    "compiled": Case(
        {"pyproject.toml": DECLARED + '[build-system]\nrequires = ["maturin"]\nbuild-backend = "maturin"\n', "tests/test_b.py": USES},
        "'-m', 'pytest', ",
        "-m pip install --quiet --no-deps --no-compile --target .perfgate-site .",
        kind="pytest-benchmark",
    ),
    # the interpreter has it not: each side gets an environment of its own
    "pyperf": Case(
        {"bench/b.py": "import pyperf\nr = pyperf.Runner()\nr.bench_func('a', f)\n", "x/__init__.py": "", "pyproject.toml": '[project]\nname = "x"\ndependencies = ["nowhere-at-all"]\n'},
        "['.perfgate-env/bin/python', 'bench/b.py', '--min-time=0.01']",
        kind="pyperf",
    ),
    # C that Cython makes, which is not committed
    "cython": Case(
        {"setup.py": 'setup(ext_modules=[Extension("m", ["m.c"])])\n', "m.pyx": "", "part.pyx": "", "bench.py": "print(1)\n"},
        "bench.py",
        "-m cython m.pyx && ",
        kind="python",
    ),
    # tests that are skipped where its plugin is absent
    "codspeed": Case({"tests/test_a.py": "from pytest_codspeed import B\ndef test_a(benchmark):\n    benchmark(f)\n"}, "-q', '-p', 'no:codspeed', ", "pytest pytest-benchmark pytest-codspeed", kind="pytest-benchmark"),
    # what a setup.py names
    "required": Case({"setup.py": 'setup(install_requires=["no-such-thing>=1"])\n', "bench.py": "print(1)\n"}, "bench.py", "install --quiet 'no-such-thing>=1'", kind="python"),
    # wherever a build tool lists it; what no index gives has no name for pip
    **{
        f"required by {tool}": Case({**files, "bench.py": "print(1)\n"}, "bench.py", "install --quiet no-such-thing\n", kind="python")
        for tool, files in {
            "poetry": {"pyproject.toml": '[tool.poetry.dependencies]\npython = "3"\nno-such-thing = "*"\na = {version = "1", optional = true}\nb = {path = "b"}\n'},
            "flit": {"pyproject.toml": '[tool.flit.metadata]\nrequires = ["no-such-thing"]\n'},
            "setuptools": {"setup.cfg": "[options]\ninstall_requires =\n    # why\n    no-such-thing\n", "requirements.txt": "other\n"},
            "a file": {"setup.cfg": "[options]\ninstall_requires = file: requirements.txt\n", "requirements.txt": "-r x.txt\nno-such-thing\n"},
        }.items()
    },
    # poetry's version ranges, as it means them
    **{
        f"version {version}": Case({"pyproject.toml": f'[tool.poetry.dependencies]\npython = "3"\nno-such-thing = {{version = "{version}", extras = ["x", "y"]}}\n', "bench.py": "f()\n"}, "bench.py", f"install --quiet {quote(f'no-such-thing[x,y]{wanted}')}\n", kind="python")
        for version, wanted in {
            "^1.2.3": ">=1.2.3,<2", "^0.2.3": ">=0.2.3,<0.3", "^0.0.3": ">=0.0.3,<0.0.4", "^0": ">=0,<1", "~1.2.3": ">=1.2.3,<1.3",
            "~1": ">=1,<2", "^3.0b1": ">=3.0b1,<4", "1.2.*": "==1.2.*", "=1": "==1", ">= 1.5, <3": ">=1.5,<3", "~=1.2": "~=1.2", "^1 || ^2": "",
        }.items()
    },
    # what else is needed stands beside the tool
    **{
        f"beside by {tool}": Case({file: text, "setup.py": "setup(install_requires=['not-here'])", "test_b.py": USES}, "test_b.py", "pytest-benchmark no-such-thing\n", kind="pytest-benchmark")
        for tool, file, text in (
            ("poetry", "pyproject.toml", '[tool.poetry.group.dev.dependencies]\npytest-benchmark = ">= 4 || ^5"\nno-such-thing = {version = "*"}\n'),
            # but for what checks code
            ("hatch", "pyproject.toml", '[tool.hatch.envs.b]\ndependencies = ["pytest-benchmark", "Black>=22", "sphinx-x", "types-a", "no-such-thing"]\n'),
            ("uv", "pyproject.toml", '[tool.uv]\ndev-dependencies = ["pytest-benchmark", "no-such-thing"]\n'),
            ("pdm", "pyproject.toml", '[tool.pdm.dev-dependencies]\nb = ["pytest-benchmark", "no-such-thing"]\n'),
            ("setuptools", "setup.cfg", "[options.extras_require]\nb =\n    pytest-benchmark\n    no-such-thing\n"),
            ("tox", "tox.ini", "[testenv]\ndeps =\n    pytest-benchmark\n    no-such-thing\n"),
        )
    },
    "asv": Case({"asv.conf.json": '"benchmark_dir": "b"', "b/x.py": "def time_it(): pass\n"}, "'-m', 'perfgate_asv', 'b', '--sample-time=0.01']", kind="asv"),
    "asv.jsonc": Case({"asv.conf.jsonc": "{}", "benchmarks/x.py": "def time_it(): pass\n"}, "'perfgate_asv', 'benchmarks'", kind="asv"),
    # a part of those beside it, which are modules
    "parts": Case(
        {"tests/__init__.py": "", "tests/benchmark.py": "for x in y: pass\n", "tests/benchmark_list.py": "from .benchmark import *\nmain('a')\n"},
        "'-m', 'tests.benchmark_list']",
        kind="python",
    ),
    "script": Case({"bench.py": "print(sum(range(10)))\n", "README": ""}, "bench.py", kind="python"),
    # what Python cannot read, and a module in the place of one of its own
    "odd": Case({"setup.py": "+".join("1" * 9000), "json.py": "print('x')\ndef dumps(_): return ''\n", "bench.py": "if " + "+".join("1" * 900) + ":\n  f()\n"}, None, rows=("bench.py",), kind="generic"),
    "other runner": Case({"bench.py": "import subprocess\nsubprocess.run(['python', '-m', 'pyperf', 'timeit', 'x'])\n"}, None, rows=("bench.py",), kind="generic"),
    "arguments": Case({"bench.py": "import argparse\nmain(p.add_argument('file'))\n"}, None, rows=("bench.py",), kind="generic"),
}  # fmt: skip


def package(**fields: Any) -> str:
    """A package.json."""
    return json.dumps({"name": "x", "version": "1.0.0", **fields})


SCRIPTS = {"scripts": {"bench": "node bench.js"}}
PARTS = {
    "scripts": {"bench": "node bench.js", "bench:fast": "node bench.js --fast", "bench:b": "node b.js"},
    "devDependencies": {"tinybench": "2"},
}
JAVASCRIPT = {
    "odd": Case({"package.json": package(name={}, scripts=5, devDependencies={"tinybench": "2"}), "bench.js": "import 'tinybench'"}, "['node', 'bench.js']"),
    "odd names": Case({"package.json": package(**SCRIPTS), "pnpm-workspace.yaml": "", "a/package.json": package(name={}), "bench.js": "work()"}, "['node', 'bench.js']"),
    "script": Case({"package.json": package(scripts={"bench": "node bench.js", "build": "x"}), "bench.js": "work()"}, "['node', 'bench.js']", "npm run --silent build"),
    "vitest": Case({"package.json": package(scripts={"bench": "vitest bench"}), "a.bench.ts": "bench('a', f)"}, "npx --no-install vitest bench --run --outputJson={output}"),
    "benchmark.js": Case(
        {"package.json": package(**SCRIPTS, devDependencies={"benchmark": "2"}), "bench.js": "require('benchmark'); s.add(a).on('cycle', f)"},
        "node bench.js >{output}",
    ),
    "vitest files": Case({"package.json": package(devDependencies={"vitest": "2"}), "test/a.bench.ts": "bench('a', f)"}, "npx --no-install vitest bench --run --outputJson={output}"),
    # all parts of one kind, and none for what it makes before; another start of the same file is none
    "parts": Case({"package.json": package(scripts={"bench:build": "x", "bench:b": "node b.js", "bench:a": "node ./a"}), "a/index.js": "f()", "b.js": "f()"}, "['node', 'b.js']\n['node', './a']"),
    "part of it": Case({"package.json": package(**PARTS), "bench.js": "f()", "b.js": "import 'tinybench'"}, "['node', 'bench.js']", rows=("script bench:fast of .", "script bench:b of .")),
    # what is loaded as it stands is not built
    "of sources": Case({"package.json": package(scripts={"bench": "node bench", "build": "x"}), "bench/index.js": "import a from '..'", "index.js": "export * from './src/a.js'", "src/a.ts": ""}, "['node', 'bench']", "None\nNone"),
    **{
        f"of a product, {name}": Case({"package.json": package(scripts={"bench": "node bench.js", "build": "x"}), "bench.js": text, "lib/a.js": "", "src/a.ts": ""}, "['node', 'bench.js']", "npm run --silent build")
        for name, text in {"absent": "import './esm/a.js'", "by name": "require('x/a')", "in lib": "import './lib/a.js'", "later": "load(path.join('..', 'dist/a'))"}.items()
    },
    # what a script names must be there, if no build makes it
    "absent": Case({"package.json": package(**SCRIPTS, devDependencies={"tinybench": "2"}), "test/bench.js": "import 'tinybench'"}, "['node', 'test/bench.js']"),
    "built": Case({"package.json": package(scripts={"bench": "node --expose-gc dist/b.js"}), ".gitignore": "/dist\n"}, "['node', '--expose-gc', 'dist/b.js']"),
    "no runtime": Case({"package.json": package(scripts={"bench": "bun b.ts", "bench:node": "node b.js"}), "b.js": "f()"}, "['node', 'b.js']", rows=("script bench of .",)),
    # the script that starts others' tells no results of its own
    **{
        f"passes on by {text.split()[0]}": Case(
            {
                "package.json": package(scripts={"bench": text}), "pnpm-workspace.yaml": "",
                "p/a/package.json": package(**SCRIPTS, devDependencies={"mitata": "1"}), "p/a/bench.js": "import 'mitata'",
            },
            "cd p/a && node bench.js",
            rows=("script bench of .",),
        )
        for text in ("pnpm -r bench", "turbo run bench", "npm run bench -w p/a", "yarn workspaces run bench")
    },
    # no script of package.json names them
    "benchmark.js files": Case(
        {
            "package.json": package(devDependencies={"benchmark": "2"}),
            "benchmarks/bench-b.js": "require('benchmark'); s.add(a).on('cycle', f)",
            "benchmarks/bench-a.js": "require('benchmark'); s.add(a).on('cycle', f)",
        },
        "node benchmarks/bench-a.js >{output}\nnode benchmarks/bench-b.js >{output}",
    ),
    # in a folder of benchmarks a file need not be called one
    "folder": Case(
        {
            "package.json": package(), "bench/package.json": package(devDependencies={"benchmark": "2"}),
            "bench/x.js": "require('benchmark')\nrequire('..')", "bench/load.js": "f()",
            # part of another, or of nothing here
            "bench/lib.js": "require('benchmark')\nrequire('..')", "bench/cases/a.js": "require('../lib')", "bench/other.js": "require('benchmark')\nrequire('lodash')",
        },
        "cd bench && node x.js", "cd bench && npm install",
    ),
    # packages of its own, where no script installs them
    "own packages": Case(
        {
            "package.json": package(scripts={"bench": "find bench/run -exec node {} +"}), "bench/package.json": package(devDependencies={"benchmark": "2"}),
            "bench/run/a.js": "require('benchmark').Suite().on('cycle', f)",
        },
        "npm run --silent bench >{output}", "(cd bench && npm install",
    ),
    # what has the library run what others name is no benchmark itself
    "helper": Case(
        {
            "package.json": package(devDependencies={"benchmark": "2"}),
            "bench/bench-run.js": "import B from 'benchmark'\nexport default c => new B.Suite().on('cycle', f)",
            "bench/bench-a.js": "import run from './bench-run.js'", "bench/bench-b.js": "import run from './bench-run.js'",
        },
        "node bench/bench-a.js >{output}\nnode bench/bench-b.js >{output}",
    ),
    "loads": Case({"package.json": package(devDependencies={"benchmark": "2"}), "bench/index.js": "module.exports = require('./a')", "bench/a.js": "require('benchmark')"}, "['node', 'bench/index.js']"),
    "benchmarked": Case({"package.json": package(devDependencies={"benchmarked": "2"}), "benchmark/index.js": "require('benchmarked')"}, "['node', 'benchmark/index.js']"),
    "tinybench": Case({"package.json": package(**SCRIPTS, devDependencies={"tinybench": "2"}), "bench.js": "import { Bench } from 'tinybench'"}, "['node', 'bench.js']"),
    "in tests": Case({"package.json": package(devDependencies={"tinybench": "2"}), "test/benchmark.js": "import { Bench } from 'tinybench'"}, "['node', 'test/benchmark.js']"),
    # its users need not print what is read
    "benchmark": Case({"package.json": package(**SCRIPTS, devDependencies={"benchmark": "2"}), "bench.js": "import B from 'benchmark'"}, "['node', 'bench.js']"),
    "mitata": Case({"package.json": package(**SCRIPTS, devDependencies={"mitata": "1"}), "bench.js": "import { run } from 'mitata'"}, "['node', 'bench.js']"),
    "benny": Case({"package.json": package(**SCRIPTS, devDependencies={"benny": "1"}), "bench.js": "import b from 'benny'"}, None),
    # what it installs each time is no part of what it measures
    "installs": Case(
        {"package.json": package(scripts={"bench": "cd bench && npm install && npm run all"}), "bench/a.js": "work()"},
        "cd bench && npm run all",
    ),
    "order": Case(
        {"package.json": package(scripts={"bench": "node a.js && cd bench && npm i && node b.js"}), "a.js": "", "bench/b.js": ""},
        "node a.js && cd bench && node b.js",
    ),
    # nor what it builds; its library may be one of its folder
    "steps": Case(
        {
            "package.json": package(scripts={"build": "x", "bench": "npm i && npm run build && cd ./bench && npm i && node ./"}),
            "bench/package.json": package(devDependencies={"benchmark": "2"}),
            "bench/index.js": "require('benchmark').Suite().on('cycle', f)",
        },
        "cd ./bench && node ./ >{output}",
        "(cd ./bench && npm i)\nnpm run --silent build",
    ),
    "workspace": Case(
        {"package.json": package(workspaces=["a"]), "a/package.json": package(scripts={"bench": "node b.js"}), "a/b.js": "f()", "package-lock.json": "{}"},
        "cd a && node b.js",
    ),
    # only npm knows which folders are workspaces
    "no-workspace": Case(
        {
            "package.json": package(workspaces=["p/*"]),
            "a/package.json": package(scripts={"bench": "node b.js"}, name="a"),
            "p/b/package.json": package(scripts={"bench": "node c.js"}, name="b"), "p/b/c.js": "f()",
        },
        "cd p/b && node c.js",
    ),
    "generic": Case({"bench.sh": "#!/bin/bash\ntrue\n"}, "['bash', 'bench.sh']", kind="generic"),
    "adaptive": Case({"bench.js": 'import { Bench } from "tinybench"\n'}, "['node', 'bench.js']"),
    "nothing": Case({"README": ""}, None, kind="generic"),
    "told": Case(
        {"README.md": "    $ tests/run.sh # tests\n    $ ./no.sh bench\n    $ tests/run.sh bench  # all\n", "tests/run.sh": "#!/bin/bash\n"},
        "['bash', 'tests/run.sh', 'bench']",
        kind="generic",
    ),
}  # fmt: skip

CORE = "<dependency><artifactId>jmh-core</artifactId></dependency>"
SHADED = (
    f"<project><properties><uberjar.name>benchmarks</uberjar.name></properties>{CORE}<plugin>"
    "<artifactId>maven-shade-plugin</artifactId><finalName>${uberjar.name}</finalName></plugin></project>"
)
JAVA = "class A {\n  @Benchmark\n  @Threads(2)\n  public long one() { }\n  @Benchmark public void two(Blackhole b) { }\n}\n"
REPRODUCIBLE = "mvn --quiet --batch-mode -Dproject.build.outputTimestamp=2000-01-01T00:00:00Z"
JAVA_MAIN = "public static void main(String[] args) { }"
JVM = {
    "maven": Case({"pom.xml": SHADED, "src/A.java": JAVA}, "'java', '-cp', 'target/.perfgate-classes', 'org.openjdk.jmh.Main', '-wi'", "(cd target/.perfgate-classes && jar xf ../benchmarks.jar)"),
    "module": Case({"pom.xml": "<module>b</module>", "b/pom.xml": SHADED, "b/A.java": JAVA}, "b/target/.perfgate-classes"),
    # of a module that the top does not know: with what it takes of it, not what was installed last
    "apart": Case({"pom.xml": "<project><artifactId>lib</artifactId></project>", "b/pom.xml": SHADED + "<artifactId>lib</artifactId>", "b/A.java": JAVA}, "b/target/.perfgate-classes", " install -DskipTests && mvn"),
    "apart without a jar": Case({"pom.xml": "<project><artifactId>lib</artifactId></project>", "b/pom.xml": f"<project>{CORE}<artifactId>lib</artifactId></project>", "b/A.java": JAVA}, '-cp "target/classes:b/target/test-classes:', " install -DskipTests && mvn"),
    "unnamed": Case({"pom.xml": SHADED.replace("{uberjar.name}", "{x}"), "A.java": JAVA}, "-cp", "jar xf ../perfgate-jmh.jar"),
    "tests": Case({"pom.xml": f"<project>{CORE}</project>", "src/test/java/A.java": JAVA}, 'java -cp "target/test-classes:'),
    "gradle": Case({"build.gradle.kts": 'plugins { id("me.champeau.jmh") }', "gradlew": "", "src/jmh/java/A.java": JAVA}, "build/perfgate-jmh.jar", "&& sh gradlew --quiet"),
    # of many classes one method each, by the suite's own filter
    "many": Case({"pom.xml": SHADED, **{f"src/B{n}.java": JAVA for n in range(9)}}, r"\\.(B0.one|B1.one|B2.one|", rows=("10 more JMH methods",)),
    # what others are compared with comes last
    "baseline": Case({"pom.xml": SHADED, **{f"src/B{n}.java": JAVA.replace("one()", "baselineOne()") for n in range(9)}}, r"\\.(B0.two|B1.two|B2.two|", rows=("10 more JMH methods",)),
    # of a profile that names a folder above it
    "profile": Case({"pom.xml": "<project><profile><id>more</id><module>b</module></profile></project>", "b/pom.xml": "<module>c</module>", "b/c/pom.xml": SHADED, "b/c/A.java": JAVA}, "b/c/target", "--activate-profiles more --projects b/c --also-make"),
    # of one class more than its first
    "single": Case({"pom.xml": SHADED, "A.java": "class A {" + "".join(f"@Benchmark public int m{n}() {{}}\n" for n in range(9)) + "}"}, r"\\.(A.m0|A.m1|A.m2|A.m3|A.m4|A.m5|A.m6|A.m7)$", rows=("1 more JMH methods",)),
    # what is compared with the project is no benchmark of it
    "others": Case(
        {
            "pom.xml": SHADED, "src/main/java/a/b/Box.java": "package a.b;\nclass Box {}",
            "src/test/java/a/b/bench/Ours.java": f"package a.b.bench;\nimport a.b.Box;\nimport org.x.Y;\n{JAVA}", "src/test/java/a/b/bench/Theirs.java": f"package a.b.bench;\nimport org.x.Box;\n{JAVA}",
        },
        r"\\.(Ours.one|Ours.two)$", rows=("Theirs",),
    ),
    "unseen": Case({"pom.xml": SHADED}, None),
    # a program that times itself, or is timed as a whole; the module that holds it with what that is made of
    "main": Case({"pom.xml": "<project/>", "sub/pom.xml": "", "sub/src/main/java/a/ABench.java": f"package a;\nclass ABench {{ {JAVA_MAIN} }}"}, 'jmh.classpath)" a.ABench', kind="java"),
    # no build tool at all: with what it names, wherever that lies
    "main-alone": Case({"src/a/ABench.java": f"package a;\nclass ABench {{ {JAVA_MAIN} }}"}, "java -cp .perfgate-classes a.ABench", kind="java"),
    "main-wants": Case({"pom.xml": "<project/>", "src/Bench.java": JAVA_MAIN + " f(args[0]);"}, None, rows=("src/Bench.java",), kind="java"),
}  # fmt: skip
SCRIPTS_OF = {
    "php": Case({"composer.json": "{}", "tests/benchmark/benchmark.php": "<?php f();"}, "['php', 'tests/benchmark/benchmark.php']"),
    "phpbench": Case({"composer.json": '{"require-dev": {"phpbench/phpbench": "1"}}', "benchmarks/ABench.php": "<?php class ABench { public function benchA() {} }"}, None, rows=("benchmarks/",)),
    "php-wants": Case({"bench.php": "<?php f($argv[1]);"}, None, rows=("bench.php",)),
    "loaded": Case({"test/perf.rb": "class Perf; end\n", "test/perf_a.rb": "require 'perf'\nPerf.new\n"}, "['ruby', 'test/perf_a.rb']"),
    "first-line": Case({"bin/a": "", "bin/a-bench": "#!/usr/bin/env ruby\nf\n", "b/bench": "text"}, "['ruby', 'bin/a-bench']"),
    "in tests": Case({"composer.json": "{}", "test/performance/testSpeed.php": "<?php f();"}, "['php', 'test/performance/testSpeed.php']", "composer install"),
    "in-benchmarks": Case({"lib/a.rb": "", "benchmarks/speed.rb": "f\n", "benchmarks/all.txt": ""}, "['ruby', 'benchmarks/speed.rb']"),
    "own": Case({"m.gemspec": "", "bench/a.rb": "f\n", "bench/b.rb": "require 'm'\n"}, "['ruby', 'bench/b.rb']", rows=("script bench/a.rb",)),
    "own name": Case({"m.gemspec": "", "lib/m.rb": "", "bench/ideal.rb": "require 'm'\n", "bench/m.rb": "require 'm'\n"}, "['ruby', 'bench/m.rb']", rows=("script bench/ideal.rb",)),
    "bash": Case({"bench.sh": "#!/bin/bash\nf\n"}, "['bash', 'bench.sh']"),
    # the time of a run of what repeats until a time has passed says nothing
    "ips": Case({"lib/a.rb": "", "bench.rb": "require_relative 'helper'\nBenchmark.ips { |x| x.report('a') { } }", "helper.rb": "require 'benchmark/ips'"}, "'-Ilib', '-rjson', '-rbenchmark/ips', '-e'"),
    "ips files": Case({"a_bench.rb": "require 'benchmark/ips'\n", "b_bench.rb": "require 'benchmark/ips'\n", "c_bench.rb": "f\n"}, "a_bench.rb']\n['ruby'", rows=("script c_bench.rb",)),
}  # fmt: skip
EVERY = {
    f"{group}-{name}": case._replace(kind=case.kind or kind)
    for group, (kind, cases) in {
        "cargo": ("cargo", CARGO), "go": ("go", GO), "cmake": ("cmake", CMAKE), "make": ("make", MAKE),
        "python": ("python", PYTHON), "javascript": ("npm", JAVASCRIPT), "jvm": ("jmh", JVM),
        "scripts": ("generic", SCRIPTS_OF),
    }.items()
    for name, case in cases.items()
}  # fmt: skip


def absent(monkeypatch: pytest.MonkeyPatch, *tools: str) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, *a, **k: None if name in tools else which(name, *a, **k))


def _extra(measured: Proposed) -> int:
    """Lines of a script beyond its first."""
    return measured.command.count("\n") + 1 if isinstance(measured.command, str) and "\n" in measured.command else 0


@pytest.mark.endtoend
@pytest.mark.parametrize("name", EVERY)
def test_what_is_found(project: Project, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    case = EVERY[name]
    need(*(["npm"] if name == "javascript-no-workspace" else []))
    need(*{"cargo": ["cargo"], "go": ["go"], "cmake": ["cmake", "cc"], "make": ["make"]}.get(name.split("-")[0], []))
    directory = project(case.files)
    if case.kind == "jmh":
        absent(monkeypatch, "mvn", "gradle")
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    found = detected(directory)
    # the tools worked in a copy
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
    assert found.kind == case.kind
    commands = "\n".join(str(each.command) for each in found.benchmarks)
    assert found.measures_something is (case.command is not None)
    assert (case.command or "") in commands
    assert all(each.name for each in found.benchmarks)
    assert case.build in f"{found.setup}\n{found.build}"
    assert [row.what for row in found.rows if row.what.split()[0] != "packages"] == [*case.rows]
    # a file that is read, short also with several benchmarks
    several = [replace(found.benchmark, name=f"b{n}", include=[f"c{n}"]) for n in range(4)]
    lines = render(read_tree(directory), replace(found, benchmarks=several, notes=[])).splitlines()
    written = parse(read_source("\n".join(lines), "perfgate.toml"), checked=False)
    assert [each.include for each in written.benchmark] == [each.include for each in several]
    assert len([line for line in lines if line]) <= 25 + sum(map(_extra, several))
    lines = render(read_tree(directory), replace(found, benchmarks=found.benchmarks[:1])).splitlines()
    assert len([line for line in lines if line]) <= 25
    # what a trial leaves out is not built any more, and the rest is as before
    for gone in found.benchmarks if len(found.benchmarks) > 1 and case.kind in ("cargo", "cmake", "go") else []:
        fewer = found.without({gone.name})
        whole, rest, own = (
            Counter(re.split(r"[\s;)]+", text)) for text in (str(found.build), str(fewer.build), " ".join(gone.built))
        )
        removed = {*(whole - rest)}
        assert removed and removed <= {*own}
        assert {*found.artifacts} - {*fewer.artifacts} == {*found.artifacts} & {*own}
        assert not {*rest} & {*found.artifacts} - {*fewer.artifacts}
        assert subprocess.run(["sh", "-n", "-c", str(fewer.build)], check=False).returncode == 0
    if case.kind in ("jmh", "java") and found.measures_something:
        assert found.build is None
        same = (REPRODUCIBLE, "reproducibleFileOrder = true", "javac -d .perfgate-classes -sourcepath src ")
        assert any(text in str(found.setup) for text in same)


def test_packages_that_a_script_compares_are_known_by_their_names_in_it(project: Project) -> None:
    names = ("benchmark", "deep-eql", "eslint", "lodash")
    script = "const load = {'deep-eql': true, x: require('lodash/fp')}; require('benchmark').Suite().on('cycle', f)"
    files = {"package.json": package(**SCRIPTS, devDependencies=dict.fromkeys(names, "1")), "bench.js": script}
    assert {*detected(project(files)).others} == {*names} - {"eslint"}


FIXTURE = {"benches/bench_a.py": USES + "for _ in (): pass\n", "src/pkg/__init__.py": ""}


@pytest.mark.parametrize(("files", "tool"), [(PYTHON["asv"].files, "asv_runner"), (FIXTURE, "pytest-benchmark")])
@pytest.mark.parametrize(("pip", "quick"), [("22.2.9", False), ("22.3", True), (None, False)])
def test_what_is_missing_is_installed_by_a_pip_from_elsewhere_where_that_can(
    project: Project, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], tool: str, pip: str | None, quick: bool
) -> None:
    installed = json.dumps({"python": "11", "pytest": "8"} | ({"pip": pip} if pip else {}))
    monkeypatch.setattr(Asked, "run", lambda *_, **__: installed)
    found = detected(project(files))
    assert found.measures_something and found.kind in tool.replace("_", "-")
    how = "python -m pip --python .perfgate-env/bin/python" if quick else ".perfgate-env/bin/pip"
    assert ("venv --without-pip" in str(found.setup)) is quick
    assert re.search(rf"{re.escape(how)} install --quiet .*{tool}", str(found.setup))


def test_what_was_read_without_its_tool_says_so(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = project({**benched("0-first", DIVAN), "Makefile": "a:\n"})
    absent(monkeypatch, "cargo")
    found = detected(directory)
    assert found.benchmark.command == ["./target/bench-0-first", "--bench"]
    assert "cargo is not installed: its files were read without it" in found.notes


EFFECTIVE = """\
<projects><project><build>
<directory>{0}/target</directory></build></project><project>{1}<build>
<directory>{0}/b/target</directory><plugin><artifactId>maven-shade-plugin</artifactId><finalName>all</finalName></plugin>
</build></project></projects>
"""


def test_what_pip_compiles_may_be_of_rust(project: Project) -> None:
    directory = project({"rust/Cargo.toml": "[package]\n", "a.py": ""})
    by_pip = Found("python", "x", [placeholder()], "python -m pip install --target .perfgate-site .")
    for found, caches in (
        (by_pip, ["~/.cargo/registry", "~/.cargo/git", "~/.cache/pip"]),
        (replace(by_pip, build="make"), []),
    ):
        table = tomllib.loads(render(read_tree(directory), found))["build"]
        assert table.get("write", []) == caches


def test_a_parent_elsewhere_may_name_jmh(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = project(
        {
            "pom.xml": "<project><parent></parent></project>",
            "src/test/java/A.java": f"import org.openjdk.jmh.annotations.*;\n{JAVA}",
        }
    )

    def run(ask: Asked, *words: str, **_: object) -> str | None:
        if "help:effective-pom" in words:
            ask.write("perfgate-effective.xml", f"<project>\n<directory>{ask.copy}/target</directory>{CORE}</project>")
        return "" if words[0] == "mvn" else None

    monkeypatch.setattr(Asked, "run", run)
    found = detected(directory)
    assert found.kind == "jmh" and "org.openjdk.jmh.Main" in str(found.benchmark.command)


@pytest.mark.parametrize(("tool", "file"), [("mvn", "pom.xml"), ("gradle", "build.gradle")])
def test_builders_tell_more_than_files(project: Project, monkeypatch: pytest.MonkeyPatch, tool: str, file: str) -> None:
    inner = {f"{name}/src/jmh/java/A.java": f"abstract {JAVA * times}" for name, times in (("b", 1), ("c", 3))}
    top = f"<project><dependencies>{CORE}</dependencies></project>" if tool == "mvn" else 'id("me.champeau.jmh")'
    inner["d/src/main/java/A.java"] = inner["b/src/jmh/java/A.java"]
    directory = project({file: top, f"b/{file}": "", f"c/{file}": "", f"d/{file}": "", **inner})
    asked: list[str] = []
    told = ["b"]

    def run(ask: Asked, *words: str, **_: object) -> str | None:
        asked.append(words[0])
        if "help:effective-pom" in words:
            ask.write("perfgate-effective.xml", EFFECTIVE.format(ask.copy, CORE))
        if words[0] == "sh":
            return "PERFGATE\nBenchmarks: \n" + "".join(f"org.x.{name}.one\n" for name in "BCDEFGHIJ")
        tasks = "".join(f"PERFGATE shadowJar {ask.copy}/{name}\n" for name in told)
        return tasks if words[0] == "gradle" else "" if words[0] == "mvn" else None

    monkeypatch.setattr(Asked, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name, *_, **__: f"/bin/{name}")
    found = detected(directory)
    # the parent's dependency, the folder with a task; and what a class inherits
    assert found.artifacts == {"mvn": [], "gradle": ["b/build/perfgate-jmh.jar"]}[tool]
    assert tool == "gradle" or "jar xf ../all.jar" in str(found.setup)
    assert tool == "mvn" or ":b:shadowJar && " in str(found.setup)
    assert r"\\.(B.one|C.one|D.one|E.one|F.one|G.one|H.one|I.one)$" in repr(found.benchmark.command)
    assert asked[-2:] == [tool, "sh"]
    # benchmarks need not lie where the plugin of JMH has them
    told[:] = ["d"]
    (directory / "b" / "src" / "jmh" / "java" / "A.java").unlink()
    (directory / "c" / "src" / "jmh" / "java" / "A.java").unlink()
    assert tool == "mvn" or detected(directory).artifacts == ["d/build/perfgate-jmh.jar"]
    project({f"{name}/src/jmh/java/A.java": text for name, text in (("b", JAVA), ("c", JAVA))})
    # without an answer the files are read, and the user is told
    monkeypatch.setattr(Asked, "run", lambda *_, **__: None)
    found = detected(directory)
    assert found.measures_something
    assert any("was read without its tool" in note for note in found.notes)


@pytest.mark.parametrize(("there", "command"), [({"python3.13": "13"}, "python3.13"), ({}, "python")])
def test_the_python_that_a_project_asks_for_is_looked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch, there: dict[str, str], command: str
) -> None:
    versions = {"python": "11", **there}
    monkeypatch.setattr(shutil, "which", lambda name, *_, **__: f"/bin/{name}")
    told = {name: json.dumps({"python": minor}) for name, minor in versions.items()}
    monkeypatch.setattr(Asked, "run", lambda _, *words, **__: told.get(words[0]))
    found = detected(
        project({"pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=3.12"\n', "bench.py": "print(1)\n"})
    )
    assert found.benchmark.command == [command, "bench.py"]
    assert any("asks for Python 3.12, and here is 3.11" in note for note in found.notes) is not bool(there)


def test_what_takes_too_long_to_ask_is_left_to_the_trial(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    need("make")
    run = Asked.run

    def asked(ask: Asked, *words: str, **fields: Any) -> str | None:
        if words[0] != "sh":
            return run(ask, *words, **fields)
        ask.late = late[0]
        return None

    monkeypatch.setattr(Asked, "run", asked)
    directory, late = project(MAKE["optional"].files), [True]
    assert detected(directory).benchmark.command[0] == "./bench"
    late[0] = False
    assert detected(directory).benchmark.command[0] == "make"


def test_tools_are_not_asked_where_no_code_may_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    monkeypatch.setattr(Asked, "_copy", pytest.fail)
    found = detected(project({**MAIN_RS, "src/main.rs": "fn main() {}\n"}))
    assert found.benchmark.command == ["./target/release/app"]
    assert any("read without it" in note for note in found.notes)


def hooks(project: Project, tool: str) -> Mapping[str, str]:
    """Give the environment in which init loads something for a tool."""
    run = {"scripts": {"bench": "vitest bench"}} if tool == "vitest" else SCRIPTS
    uses = {"package.json": package(**run, devDependencies={tool: "2"}), "bench.js": f"import '{tool}'"}
    return detected(project(uses)).environment


def hooked(own: Mapping[str, str], script: Path, **variables: str) -> list[Any]:
    """Start a script in such an environment, and return what was told."""
    output = script.parent / "out"
    output.unlink(missing_ok=True)
    environment = {**os.environ, **own, "PERFGATE_OUTPUT": str(output), **variables}
    subprocess.run(["node", str(script)], env=environment, check=True)
    return [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []


# what is chosen of them, with what may stand around a name
CHOICES = [
    ({}, ["one", "two words", "old"]),
    ({"PERFGATE_INCLUDE": "one\nold"}, ["one", "old"]),
    ({"PERFGATE_INCLUDE": "Heading/two words (2)"}, ["two words"]),
    # a glob may mean any of them
    ({"PERFGATE_INCLUDE": "t*", "PERFGATE_EXCLUDE": "*wor*\no*d"}, ["one", "old"]),
    ({"PERFGATE_EXCLUDE": "old"}, ["one", "two words"]),
    ({"PERFGATE_INCLUDE": "none"}, []),
]


# before version 5 a Bench has its times itself, since then among its options
@pytest.mark.endtoend
@pytest.mark.parametrize(("options", "place"), [("", "this"), ("opts = {time: 1000}; ", "this.opts")])
def test_tinybench_reports_its_tasks(project: Project, tmp_path: Path, options: str, place: str) -> None:
    need("node")
    own = hooks(project, "tinybench")
    # what tinybench's Bench is to the hook
    script = tmp_path / "bench.mjs"
    script.write_text(
        f"class Bench extends EventTarget {{ {options}time = 1000; "
        "tasks = ['one', 'two words', 'old'].map(name => ({name, result: name == 'old' ? {mean: 3} : {latency: {mean: 2}}}));"
        "remove(name) { this.tasks = this.tasks.filter(t => t.name != name) }"
        f" run() {{ this.dispatchEvent(new Event('warmup')); for (const task of this.tasks) {{"
        f" if (task.name == 'one') task.result.latency.mean = {place}.time;"
        " this.dispatchEvent(Object.assign(new Event('cycle'), {task})) }"
        " this.dispatchEvent(new Event('complete')) } }\nnew Bench().run();\n"
    )
    means = {"one": 100, "two words": 2, "old": 3}
    # the choice is made in one place for both
    for variables, names in CHOICES if options else CHOICES[3:4]:
        told = hooked(own, script, **variables)
        assert told == [{"metric": name, "value": means[name], "unit": "ms"} for name in names]


def test_cases_of_one_name_in_several_suites_are_several(project: Project, tmp_path: Path) -> None:
    need("node")
    # what benchmark.js's Suite is to the hook
    (tmp_path / "benchmark.js").write_text(
        "class B { emit() {} }; B.options = {}; B.Suite = class extends Array {"
        " constructor(o) { super(); Object.assign(this, o) } emit() {}"
        " add(name) { this.push(Object.assign(new B(), {name, stats: {mean: this.push.length}})); return this }"
        " run() { for (const b of this) b.emit('complete') } }; module.exports = B;\n"
    )
    (tmp_path / "bench.js").write_text(
        "const { Suite } = require('./benchmark');\n"
        "for (const name of ['a', 'b', undefined, undefined]) new Suite({name}).add(' own').add('two').run();\n"
    )
    own = hooks(project, "benchmark")
    names = ["a: own", "a: two", "b: own", "b: two", " own", "two", " own (2)", "two (2)"]
    assert [each["metric"] for each in hooked(own, tmp_path / "bench.js")] == names
    told = hooked(own, tmp_path / "bench.js", PERFGATE_INCLUDE="b: own\ntwo (2)")
    assert [each["metric"] for each in told] == ["b: own", "two", "two (2)"]


def test_reports_of_one_name_in_several_blocks_are_several(project: Project, tmp_path: Path) -> None:
    need("ruby")
    directory = project({"bench.rb": "require 'benchmark/ips'\n2.times { Benchmark.ips { |x| x.report('a') } }\n"})
    # what benchmark-ips is to what is loaded
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark/ips.rb").write_text(
        "module Benchmark\n  R = Struct.new(:entries) { def config(**) = nil\n def report(l) = entries << E.new(l, 2.0) }\n"
        "  E = Struct.new(:label, :ips)\n  def self.ips(*) = R.new([]).tap { |r| yield r }\nend\n"
    )
    output = tmp_path / "out"
    command = [*detected(directory).benchmark.command]
    environment = {**os.environ, "RUBYLIB": str(tmp_path), "PERFGATE_OUTPUT": str(output)}
    subprocess.run(command, cwd=directory, env=environment, check=True)
    told = [json.loads(line) for line in output.read_text().splitlines()]
    assert told == [{"metric": name, "value": 0.5, "unit": "s"} for name in ("a", "a (2)")]


@pytest.mark.parametrize(("there", "command"), [(True, "./target/bench-speed"), (False, "./target/release/app")])
def test_benches_give_way_to_a_program_where_their_compiler_is_absent(
    project: Project, monkeypatch: pytest.MonkeyPatch, there: bool, command: str
) -> None:
    own = Asked.run

    def run(ask: Asked, *words: str, **named: Any) -> str | None:
        return ("1.0" if there else None) if "+nightly" in words else own(ask, *words, **named)

    monkeypatch.setattr(Asked, "run", run)
    found = detected(project({"Cargo.toml": CRATE, "src/main.rs": "fn main() {}\n", "benches/speed.rs": LIBTEST}))
    assert command in str(found.benchmark.command)
    assert [row.what for row in found.rows] == ([] if there else ["bench speed"])


def test_vitest_takes_a_tenth_of_a_second_a_case(project: Project, tmp_path: Path) -> None:
    need("node")
    script = tmp_path / "bench.mjs"
    # what the task is to the hook of which vitest has no Bench run anything else
    script.write_text(
        "import { writeFileSync } from 'node:fs'\nclass Task extends EventTarget { bench = {time: 500, warmupTime: 9} }\n"
        "const task = new Task(); task.dispatchEvent(new Event('warmup'))\n"
        "writeFileSync(process.env.PERFGATE_OUTPUT, JSON.stringify(task.bench))\n"
    )
    assert hooked(hooks(project, "vitest"), script) == [{"time": 100, "warmupTime": 9}]


@pytest.mark.parametrize(
    ("lock", "text", "setup"),
    [
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n", "npx --yes pnpm@10 --config.manage-package-manager-versions=false "),
        ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n", "npx --yes pnpm@8 --config.manage-package-manager-versions=false "),
        ("yarn.lock", "", "npx --yes yarn@1 "),
    ],
)  # fmt: skip
def test_a_package_manager_that_is_not_here_is_started_by_npm(
    project: Project, monkeypatch: pytest.MonkeyPatch, lock: str, text: str, setup: str
) -> None:
    need("npm")
    absent(monkeypatch, "pnpm", "yarn")
    found = detected(project({"package.json": package(scripts={"bench": "a | b", "build": "x"}), lock: text}))
    # what is installed is run by npm, too
    assert found.setup == f"{setup}install --frozen-lockfile --silent"
    assert (found.build, found.benchmark.command) == ("npm run --silent build", ["npm", "run", "--silent", "bench"])


@pytest.mark.endtoend
def test_benchmark_js_reports_what_is_chosen(project: Project, tmp_path: Path) -> None:
    need("node")
    own = hooks(project, "benchmark")
    # what benchmark.js is to the hook
    library = tmp_path / "node_modules/benchmark/benchmark.js"
    library.parent.mkdir(parents=True)
    library.with_name("package.json").write_text('{"main": "benchmark.js"}')
    library.write_text(
        "function Benchmark(name) { this.name = name; this.stats = {mean: Benchmark.options.maxTime} }\n"
        "Benchmark.options = {}; Benchmark.prototype.emit = () => {};\n"
        "Benchmark.Suite = class extends Array { add(n) { this.push(new Benchmark(n.name || n)); return this }\n"
        " emit(type) { this.ended = type }\n"
        " run() { this.forEach(b => b.emit('complete')); this.emit('complete') } };\nmodule.exports = Benchmark\n"
    )
    uses = "const s = new Benchmark.Suite; s.add('one').add({name: 'two words '}).add('old').run()\n"
    for suffix, loads in (
        ("cjs", "const Benchmark = require('benchmark')"),
        ("mjs", "import Benchmark from 'benchmark'"),
    ):
        script = tmp_path / f"bench.{suffix}"
        # what waits for a suite's end goes on, where nothing of it was chosen, too
        script.write_text(f"{loads}\n{uses}if (s.ended != 'complete') process.exit(1)\n")
        for variables, names in CHOICES if suffix == "cjs" else CHOICES[3:4]:
            told = hooked(own, script, **variables)
            assert [(each["metric"].strip(), each["value"]) for each in told] == [(name, 0.1) for name in names]


def test_a_tool_writes_neither_the_checkout_nor_the_home(project: Project, tmp_path: Path) -> None:
    need("make")
    marks = [tmp_path / "outside", Path.home() / ".perfgate-mark"]
    touch = "".join(f"X{n} := $(shell echo x > '{mark}' 2>/dev/null)\n" for n, mark in enumerate(marks))
    directory = project(
        {"Makefile": f"{touch}Y := $(shell echo y > here)\nall: app\napp: a.c\n\tcc -o app a.c\n", "a.c": MAIN}
    )
    assert detected(directory).benchmark.command == ["./app"]
    assert not any(mark.exists() for mark in [*marks, directory / "here"])


def test_an_ignored_lock_is_taken_along(project: Project) -> None:
    need("cargo")
    found: Found = detected(project(CARGO["lock"].files))
    assert (found.share, found.setup) == (
        ["Cargo.lock"],
        "cp Cargo.lock Cargo.lock.own && mv Cargo.lock.own Cargo.lock",
    )
    tracked = detected(project({**MAIN_RS, "Cargo.lock": "version = 3\n", ".gitignore": ""}))
    assert (tracked.share, tracked.changes) == ([], ["Cargo.lock"])


@pytest.mark.parametrize(
    ("cases", "start", "executions", "values"),
    [
        (1, 0.1, 10, 5), (3, 0.1, 10, 5), (10, 0.1, 5, 5), (16, 0.1, 4, 4), (40, 0.1, 5, 2), (100, 0.1, 10, 1),
        (1, 0.02, 10, 5), (5, 0.02, 16, 3), (16, 0.02, 19, 1), (100, 0.02, 10, 1),
    ],
)  # fmt: skip
def test_a_plan_takes_two_minutes_with_many_short_turns(cases: int, start: float, executions: int, values: int) -> None:
    plan, length = suite_plan(cases, start)
    # by hand: a value and a half more to find the number of repetitions, 12 builds of 2 sides
    one = cases * 1.5 * length
    assert (start + values * one) * executions * 24 <= 120 or executions * values <= 10
    assert values == 5 or start <= 0.1 * (start + values * one)
    assert (plan.executions, plan.iterations, plan.warmup, length) == (executions, values, 0, 0.01)
    assert plan.budget == fixed_plan(cases, 0.5, 0.5).budget == 4


def test_a_crate_that_a_bench_calls_beside_the_own_one_may_be_compared_with_it(project: Project) -> None:
    calls = f"use smallvec::SmallVec; use rand::Rng; use app::App;\n{CRITERION}"
    needs = {name: f'[dev-dependencies.{name}]\nversion = "1"\n' for name in ("smallvec", "rand", "unused")}
    found = detected(project(benched("speed", calls, more="".join(needs.values()))))
    assert (found.name, found.others) == ("app", ("smallvec",))


def test_names_are_distinct() -> None:
    assert names_of(["", "a", "a/b", "a-b"], "top") == ["top", "a", "a-b", "a-b-2"]
    assert Rank.RESULTS < Rank.BENCHMARK < Rank.PROGRAM < Rank.TESTS < Rank.PLACEHOLDER
