"""Layout perturbation with the real compilers and linkers of this host: builds differ by the seed, and work."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gate.config.types import PERTURBATIONS
from harness.build.perturb import build_environment, execution_environment, make_shims
from tests.support import tools

pytestmark = pytest.mark.tools
linux = pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only")


need = partial(tools.need, why="its layout was not perturbed")


@pytest.fixture
def shims(tmp_path: Path) -> Path:
    made = tmp_path / "shims"
    make_shims(made, os.environ, go=True)
    return made


Make = Callable[..., str]


@pytest.fixture
def build(tmp_path: Path, shims: Path) -> Make:
    """Run commands as a build with a seed, then the program that they made, and give the program's hash."""

    def run(seed: int, *commands: str, app: str = "app", **more: str) -> str:
        environment = {**os.environ, **more}
        environment |= build_environment(PERTURBATIONS, seed, environment, shims)
        for command in (*commands, f"./{app}"):
            seeded = {**environment, "PERFGATE_SEED": str(seed)}
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, env=seeded, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        return hashlib.sha256((tmp_path / app).read_bytes()).hexdigest()

    return run


def differ(build: Make, *commands: str, **more: str) -> None:
    first, second, again = (build(seed, *commands, **more) for seed in (1, 2, 1))
    assert first != second
    assert first == again


def c_program(folder: Path, suffix: str = "c") -> None:
    for name in "abcdef":
        (folder / f"{name}.{suffix}").write_text(
            f'int printf(const char *, ...);\n__attribute__((noinline)) int {name}(int x) {{ return printf("{name}") + x; }}\n'
        )
    calls = " + ".join(f"{name}(argc)" for name in "abcdef")
    declared = "\n".join(f"int {name}(int);" for name in "abcdef")
    main = f"{declared}\nint main(int argc, char **argv) {{ (void)argv; return {calls} < 0; }}\n"
    (folder / f"main.{suffix}").write_text(main)


SOURCES = "main.c a.c b.c c.c d.c e.c f.c"


@linux
@pytest.mark.parametrize("linker", ["", "-fuse-ld=bfd", "-fuse-ld=gold", "-fuse-ld=lld", "-fuse-ld=mold"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c(build: Make, tmp_path: Path, compiler: str, linker: str) -> None:
    need(compiler, *([f"ld.{linker.partition('=')[2]}"] if linker else []))
    c_program(tmp_path)
    differ(build, f"{compiler} -c {SOURCES}", f"{compiler} {linker} *.o -o app")


@linux
@pytest.mark.parametrize(
    "options", ["-static", "-flto -flto-partition=none", "-flto=2 -ffunction-sections -Wl,--gc-sections"]
)
def test_options_of_gcc(build: Make, tmp_path: Path, options: str) -> None:
    need("gcc")
    c_program(tmp_path)
    differ(build, f"gcc -O1 {options} {SOURCES} -o app")


@linux
def test_a_shared_library(build: Make, tmp_path: Path) -> None:
    need("gcc")
    c_program(tmp_path)
    library = "gcc -O1 -fPIC -shared -Wl,-soname,libx.o [abcdef].c -o libx.o"
    hashes = []
    for seed in (1, 2, 1):
        build(seed, library, "gcc main.c ./libx.o -Wl,-rpath,$PWD -o app")
        hashes.append(hashlib.sha256((tmp_path / "libx.o").read_bytes()).hexdigest())
    assert hashes[0] == hashes[2] != hashes[1]


@linux
@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
def test_cmake(build: Make, tmp_path: Path, generator: str) -> None:
    need("cmake", "c++", "make" if generator == "Unix Makefiles" else "ninja")
    c_program(tmp_path, "cpp")
    for source in tmp_path.glob("*.cpp"):
        source.write_text(source.read_text().replace("int printf(const char *, ...);", "#include <cstdio>"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(app CXX)\n"
        "add_executable(app main.cpp a.cpp b.cpp c.cpp d.cpp e.cpp f.cpp)\n"
    )
    differ(build, "rm -rf out", f"cmake -G '{generator}' -S . -B out", "cmake --build out", app="out/app")


RUST = """\
mod m{0} {{ #[inline(never)] pub fn f(v: &mut Vec<u64>) -> usize {{
    for i in 0..v.len() {{ v[i] = v[i].wrapping_mul({0}).rotate_left({0}) ^ 7; }}
    v.sort_by_key(|e| e.wrapping_mul({0}));
    v.iter().map(|e| format!("{{}}-{0}", e)).collect::<String>().len()
}} }}
"""


@linux
@pytest.mark.parametrize("flags", ["", "-Clinker-features=-lld", "-Ccodegen-units=64"])
def test_rust(build: Make, tmp_path: Path, flags: str) -> None:
    need("cargo")
    if "linker-features" in flags and b"linker-features" not in subprocess.check_output(["rustc", "-C", "help"]):
        pytest.skip("absent: a Rust that brings its own linker")
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n')
    calls = "".join(f"m{number}::f(&mut v);" for number in range(1, 25))
    functions = "".join(RUST.format(number) for number in range(1, 25))
    (tmp_path / "src/main.rs").write_text(f"{functions}fn main() {{ let mut v = vec![1; 9]; {calls} }}\n")
    differ(build, "touch src/main.rs", "cargo build --release --offline", app="target/release/app", RUSTFLAGS=flags)


GO = 'package main\n\nimport "testing"\n\nfunc BenchmarkX(b *testing.B) { for range b.N { one(); two() } }\n'


def test_go(build: Make, tmp_path: Path, shims: Path) -> None:
    need("go")
    (tmp_path / "go.mod").write_text("module app\n\ngo 1.22\n")
    (tmp_path / "main.go").write_text(
        "package main\n\n//go:noinline\nfunc one() int { return 1 }\n\n//go:noinline\nfunc two() int { return 2 }\n\n"
        "func main() { one(); two() }\n"
    )
    (tmp_path / "main_test.go").write_text(GO)
    differ(build, "go build -o app .")
    differ(build, "go test -c -o tests .", app="tests")
    # what runs may be built as it runs
    more = execution_environment(PERTURBATIONS, 3, os.environ, shims)
    command = ["go", "test", "-x", "-bench", ".", "-benchtime", "1x"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **more}, capture_output=True, text=True, check=True)
    assert "-randlayout=3" in done.stderr
    assert "BenchmarkX" in done.stdout


def test_node(tmp_path: Path, shims: Path) -> None:
    need("node")
    script = tmp_path / "main.js"
    script.write_text(
        "const { Worker, isMainThread } = require('worker_threads');\n"
        "const child = require('child_process');\n"
        "if (process.send) process.send(process.execArgv);\n"
        "else if (isMainThread) {\n"
        "  console.log(process.execArgv.join(), process.argv.slice(2).join());\n"
        "  new Worker(__filename).on('exit', (code) => console.log('worker', code));\n"
        "  child.fork(__filename).on('message', (words) => console.log('child', words.join()));\n"
        "}\n"
    )
    environment = {**os.environ, **execution_environment(["hash-seed"], 5, os.environ, shims), "PERFGATE_SEED": "5"}
    done = subprocess.run(
        ["node", str(script), "a b"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.splitlines()) == ["--hash-seed=5 a b", "child --hash-seed=5", "worker 0"]


@linux
def test_ccache_finds_in_a_run_what_another_has_compiled(tmp_path: Path) -> None:
    need("gcc", "ccache")
    c_program(tmp_path)
    environment = {**os.environ, "CCACHE_DIR": str(tmp_path / "ccache"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def ccache(*arguments: str, **more: str) -> str:
        return tools.run("ccache", *arguments, folder=tmp_path, env={**environment, **more}).decode()

    hits = []
    for number in range(2):
        made = tmp_path / f"run-{number}"
        make_shims(made, environment, go=False)
        added = build_environment(PERTURBATIONS, number, environment, made)
        for name in "abcdef":
            ccache("gcc", "-c", f"{name}.c", **added, PERFGATE_SEED=str(number), PERFGATE_LINKS=str(tmp_path))
        counts = dict(line.split("\t") for line in ccache("--print-stats").splitlines())
        hits.append(int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"]))
    assert hits == [0, 6]
