"""Builds after the first link again what it has compiled: real compilers, real builds, and all that must stop it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import BuildTable
from gate.model import Build
from gate.model.records import WhyNotRelinked
from harness.build.builder import TreeBuilder
from harness.build.perturb import make_shims
from tests.harness.build.test_builder import bad, builder_of, good
from tests.harness.conftest import Checkout

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was linked)"),
]

NAMES = "abcd"
SOURCES = " ".join(f"{name}.c" for name in ("main", *NAMES))
OBJECTS = SOURCES.replace(".c", ".o")
RULES = f"app: {OBJECTS}\n\tgcc -o $@ $^\nclean:\n\trm -rf *.o *.a *.so app out\n"


def project(checkout: Checkout, makefile: str = RULES, **more: str) -> None:
    for number, name in enumerate(NAMES):
        checkout.file(f"{name}.c", f"int {name}(int x) {{ return x + {number}; }}\n")
    calls = " + ".join(f"{name}(0)" for name in NAMES)
    declared = "".join(f"int {name}(int);\n" for name in NAMES)
    checkout.file("main.c", f"{declared}int main(void) {{ return {calls} - 6; }}\n")
    checkout.file("Makefile", makefile)
    checkout.commit(**more)


@contextmanager
def relinking(
    checkout: Checkout, tmp_path: Path, command: str, artifacts: Sequence[str] = ("app",), **table: Any
) -> Iterator[TreeBuilder]:
    shims = tmp_path / "shims"
    tmp_path.mkdir(exist_ok=True)
    make_shims(shims, {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, go=False)
    # how often it ran is told outside the tree, which the build may clean
    built = BuildTable(command=f"echo x >> {tmp_path}/ran; {command}", artifacts=list(artifacts), **table)
    with builder_of(checkout, built, shims=shims) as builder:
        yield builder


def ran(tmp_path: Path) -> int:
    """How often the build command ran."""
    return len((tmp_path / "ran").read_text().splitlines())


def built(builder: TreeBuilder, count: int = 4) -> list[Build]:
    return [good(builder.build("head", number, number + 1)) for number in range(count)]


def run(builder: TreeBuilder, *command: str) -> str:
    done = subprocess.run(command, cwd=builder.directory("head"), check=True, capture_output=True, text=True)
    return done.stdout


def sound(builder: TreeBuilder, tmp_path: Path, *, app: str = "app", layouts: int = 3) -> list[Build]:
    """See that later builds are links, that they differ and work, and that a seed of before gives the bytes of before."""
    made = built(builder)
    assert [build.full for build in made] == [None] * 4
    assert [build.relinked for build in made] == [False, True, True, True]
    assert [build.checked is not None for build in made] == [True, False, False, False]
    assert ran(tmp_path) == 1
    seen = []
    for number, seed in enumerate((1, 2, 3, 4, 1)):
        again = good(builder.build("head", 4 + number, seed))
        seen.append((builder.directory("head") / app).read_bytes())
        run(builder, f"./{app}")
        if seed <= len(made):
            assert again.artifacts == made[seed - 1].artifacts
    assert len(set(seen[:4])) >= layouts
    assert seen[4] == seen[0]
    return made


def refused(builder: TreeBuilder, tmp_path: Path, kind: str, path: str = "", count: int = 2) -> list[Build]:
    """See that all builds are full ones, and that the first says why."""
    made = built(builder, count)
    assert [build.full for build in made] == [WhyNotRelinked(kind=kind, path=path), *[None] * (count - 1)]
    assert not any(build.relinked for build in made)
    assert ran(tmp_path) == count
    return made


APPS = " ".join(f"app{number}" for number in range(5))
LIBRARY = f"{RULES}libcore.a: a.o b.o c.o d.o\n\tar rcsD $@ $^\n"
BELOW = "mkdir -p out && cd out && gcc"
LINKED: dict[str, tuple[str, str]] = {
    "objects": (RULES, "make clean app"),
    "responses and scripts that vanish": (
        (
            f"all: {OBJECTS}\n\techo {OBJECTS} > list\n\techo '{{ global: main; local: *; }};' > script\n"
            "\tgcc @list -rdynamic -Wl,--version-script=script -o app\n\trm list script *.o\n"
        ),
        "make",
    ),
    "shared library and its program": (
        (
            "app: main.o libcore.so\n\tgcc -o $@ main.o -L. -lcore -Wl,-rpath,'$$ORIGIN'\n"
            "libcore.so: a.o b.o c.o d.o\n\tgcc -shared -o $@ $^\n%.o: %.c\n\tgcc -fPIC -c $<\n"
        ),
        "make",
    ),
    "one object and a library": (LIBRARY, f"make clean main.o libcore.a && {BELOW} ../main.o -L.. -lcore -o ../app"),
    "optimized as a whole": (RULES, f"gcc -O1 -flto {SOURCES} -o app"),
    "functions of an archive beside the link": (
        RULES,
        (
            f"{BELOW} -ffunction-sections -c {' '.join(f'../{each}' for each in SOURCES.split())} && "
            "ar rcsD libcore.a [a-d].o && gcc -fuse-ld=lld main.o -L. -lcore -o ../app"
        ),
    ),
}
LINKED_AT_NIGHT: dict[str, tuple[str, str]] = {
    "many links at a time": (f"all: {APPS}\n{APPS}: {OBJECTS}\n\tgcc -o $@ $^ -Wl,--defsym=n=1\n", "make -j8 all"),
    "moved out of a folder that is gone": (
        RULES,
        f"make clean {OBJECTS} && mkdir t && gcc -o t/x {OBJECTS} && mv t/x app && rmdir t",
    ),
    # at its second link the library's own name is that of a file
    "name that is also a file's": (
        RULES,
        (
            "gcc -shared -fPIC -Wl,-soname,libcore.so -o libcore.so [a-d].c && "
            "gcc -shared -fPIC -Wl,-soname,libcore.so -o libcore.so [a-d].c && "
            "gcc main.c -L. -lcore -Wl,-rpath,'$ORIGIN' -o app"
        ),
    ),
    "script of libtool": (
        RULES,
        "make clean app && mkdir .libs && mv app .libs && echo 'exec .libs/app' > app && chmod +x app",
    ),
    "one object and a thin library": (
        LIBRARY.replace("rcsD", "rcsDT"),
        f"make clean main.o libcore.a && {BELOW} ../main.o -L.. -lcore -o ../app",
    ),
    "trial of configure": (
        RULES,
        "gcc -o conftest a.c main.c b.c c.c d.c && ./conftest && rm conftest && make clean app && ! test -e conftest",
    ),
    "trial that links to nowhere": (RULES, f"gcc -o /dev/null {SOURCES} && make clean app"),
}
MADE: dict[str, dict[str, Any]] = {
    "shared library and its program": {"artifacts": ["app", "libcore.so"], "layouts": 1, "varies": "libcore.so"},
    "name that is also a file's": {"artifacts": ["libcore.so"], "layouts": 1},
    "optimized as a whole": {"layouts": 1},
    "functions of an archive beside the link": {"ordered": "objects+functions"},
    "many links at a time": {"artifacts": ["app0", "app4"], "app": "app3"},
    "script of libtool": {"app": ".libs/app"},
}


def test_a_program_linked_again_has_the_holes_of_the_first(checkout: Checkout, tmp_path: Path) -> None:
    # otherwise the side that was compiled and the side that was kept are not the same file
    project(checkout)
    with relinking(checkout, tmp_path, "gcc -Wl,-z,max-page-size=65536,-z,separate-code *.c -o app") as builder:
        found = []
        for number in range(2):
            build = good(builder.build("head", number, 1))
            facts = (builder.directory("head") / "app").stat()
            found.append((build.relinked, facts.st_size, facts.st_blocks))
    assert found == [(False, *found[0][1:]), (True, *found[0][1:])]
    assert found[0][2] * 512 < found[0][1]


@pytest.mark.parametrize(
    "name", [*LINKED, *(pytest.param(each, marks=pytest.mark.nightly) for each in LINKED_AT_NIGHT)]
)
def test_later_builds_are_links(checkout: Checkout, tmp_path: Path, name: str) -> None:
    rules, command = {**LINKED, **LINKED_AT_NIGHT}[name]
    if "lld" in command and shutil.which("ld.lld") is None:
        pytest.skip("absent: ld.lld (no functions were put in order)")
    more = MADE.get(name, {})
    project(checkout, rules)
    with relinking(checkout, tmp_path, command, more.get("artifacts", ["app"])) as builder:
        made = sound(builder, tmp_path, app=more.get("app", "app"), layouts=more.get("layouts", 3))
        assert {build.ordered for build in made} == {more.get("ordered", "objects")}
        if "varies" in more:
            assert len({build.artifacts[more["varies"]] for build in made}) >= 3
        assert not (builder.directory("head") / "conftest").exists()


@pytest.mark.endtoend
def test_a_build_of_temporary_objects_that_is_not_the_first_one_of_its_run(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    # gcc names them anew in each run
    command = f"gcc {SOURCES} -o app"
    with relinking(checkout, tmp_path, command) as builder:
        whole = sound(builder, tmp_path)
    with relinking(checkout, tmp_path / "resumed", command) as builder:
        for number in (2, 3, 1):
            assert good(builder.build("head", number, number + 1)).artifacts == whole[number].artifacts
        assert ran(tmp_path / "resumed") == 1


@pytest.mark.endtoend
def test_copies_and_hard_links(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    command = "make clean app && mkdir out && install -m 755 app out/copied && ln app out/linked && chmod 500 app"
    with relinking(checkout, tmp_path, command, ["app", "out"]) as builder:
        sound(builder, tmp_path)
        folder = builder.directory("head")
        copied, linked, app = (folder / name for name in ("out/copied", "out/linked", "app"))
        times = [path.stat().st_mtime_ns for path in (copied, linked, app)]
        built(builder)
        assert copied.read_bytes() == linked.read_bytes() == app.read_bytes()
        assert linked.samefile(app)
        assert not copied.samefile(app)
        assert [oct(path.stat().st_mode & 0o777) for path in (copied, app)] == ["0o755", "0o500"]
        # or make, cargo and others would do again what follows from them
        assert [path.stat().st_mtime_ns for path in (copied, linked, app)] == times
        assert not list(folder.rglob(".perfgate*"))


@pytest.mark.nightly
def test_a_tree_and_a_project_below_it(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    checkout.file("inner/perfgate.toml", "")
    checkout.commit()
    checkout.path = checkout.path / "inner"
    with relinking(checkout, tmp_path, "make -C .. clean app", ()) as builder:
        sound(builder, tmp_path, app="../app")


FULL: dict[str, tuple[str, str, str]] = {
    "stripped": ("make clean app && strip app", "not-linked", "app"),
    "stripped copy": ("make clean app && mkdir out && strip -o out/app app", "not-linked", "out/app"),
    "library that nobody linked": ("make clean app && ar rcsD libcore.a a.o", "not-linked", "libcore.a"),
    "source as an artifact": ("make clean app", "not-linked", "a.c"),
    "other bytes from one seed": (
        f"make clean {OBJECTS} && gcc -Wl,--build-id=uuid {OBJECTS} -o app",
        "unsound",
        "app",
    ),
    "object that changes after its link": (
        "make clean app && cp main.o other.o && objcopy --add-symbol added=0 other.o && cat other.o > main.o",
        "unsound",
        "app",
    ),
    "the seed": ("make clean app SEED={seed}", "seed-used", ""),
    "the seed's variable": ("make clean app SEED=$PERFGATE_SEED", "seed-used", ""),
    "the build's number": ("make clean app SEED=$PERFGATE_BUILD", "seed-used", ""),
    "no link": ("cp a.c app", "no-link", ""),
    "outside": (f"make clean app && gcc -o ../../../out {OBJECTS}", "outside", "../../../out"),
    "off": ("make clean app", "off", ""),
    "without the order of links": ("make clean app", "unperturbed", ""),
    # a recording never fails a build
    "no recording": ('rm -rf "$PERFGATE_LINKS" && make clean app', "failed", ""),
}
ARTIFACTS = {
    "stripped copy": [],
    "library that nobody linked": ["app", "libcore.a"],
    "source as an artifact": ["app", "a.c"],
}
TABLES: dict[str, dict[str, Any]] = {
    "off": {"relink": "off"},
    "without the order of links": {"perturb": ["environment"]},
}


@pytest.mark.parametrize("name", FULL)
def test_every_build_is_a_full_one(checkout: Checkout, tmp_path: Path, name: str) -> None:
    command, kind, path = FULL[name]
    need = next((each for each in ("strip", "objcopy") if each in command.split()), None)
    if need is not None and shutil.which(need) is None:
        pytest.skip(f"absent: {need} (no program was changed after its link)")
    command, path = (text.replace("../../../out", f"{tmp_path}/out") for text in (command, path))
    project(checkout)
    artifacts = ARTIFACTS.get(name, ["app"])
    with relinking(checkout, tmp_path, command, artifacts, **TABLES.get(name, {})) as builder:
        refused(builder, tmp_path, kind, path)


class TestFull:
    """What makes builds full ones, each in its own way."""

    @pytest.mark.parametrize("name", ["Makefile", pytest.param("tools/build.py", marks=pytest.mark.nightly)])
    @pytest.mark.endtoend
    def test_a_script_that_takes_the_seed(self, checkout: Checkout, tmp_path: Path, name: str) -> None:
        project(checkout)
        path = checkout.path / name
        before = path.read_text() if path.exists() else ""
        checkout.file(name, f"{before}# $(PERFGATE_SEED)\n")
        checkout.file("README.md", "PERFGATE_SEED is the seed")
        checkout.commit()
        with relinking(checkout, tmp_path, "make clean app") as builder:
            refused(builder, tmp_path, "seed-used", name)

    def test_a_link_that_fails_later(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout, f"{RULES}libcore.a: a.o b.o c.o d.o\n\tar rcsD $@ $^\n")
        with relinking(
            checkout, tmp_path, "make clean main.o libcore.a && gcc main.o -L. -lcore -o app", ()
        ) as builder:
            made = built(builder, 2)
            assert made[1].relinked
            (builder.directory("head") / "libcore.a").unlink()
            third, fourth = (good(builder.build("head", number, number + 1)) for number in (2, 3))
            assert (third.relinked, third.full) == (False, WhyNotRelinked(kind="failed", path="app"))
            assert (fourth.relinked, fourth.full) == (False, None)
            assert ran(tmp_path) == 3

    def test_records_that_are_gone(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app") as builder:
            assert built(builder, 2)[1].relinked
            (plan,) = builder.directory("head").parent.glob("links/*/*/plan")
            plan.unlink()
            third = good(builder.build("head", 2, 3))
            assert (third.relinked, third.full) == (False, WhyNotRelinked(kind="failed"))
            assert ran(tmp_path) == 2


def test_a_command_of_one_s_own(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    relink = "echo {seed} $PERFGATE_SEED > again && rm app && make app"
    with relinking(checkout, tmp_path, "make clean app", relink=relink) as builder:
        made = built(builder)
        assert [build.relinked for build in made] == [False, True, True, True]
        assert run(builder, "cat", "again") == "4 4\n"
        assert ran(tmp_path) == 1
        (builder.directory("head") / "Makefile").unlink()
        assert bad(builder.build("head", 4, 5)).command == relink.replace("{seed}", "5")


RUST = "".join(
    f"mod {name} {{ #[inline(never)] pub fn f(x: usize) -> usize {{ x * {len(name)} }} }}\n" for name in NAMES
)
CARGO = """[package]
name = "app"
version = "0.1.0"
edition = "2021"
build = "build.rs"
[lib]
path = "lib.rs"
[[bin]]
name = "app"
path = "main.rs"
"""


@pytest.mark.skipif(shutil.which("cargo") is None, reason="absent: cargo (no crate was linked again)")
@pytest.mark.parametrize(
    "profile",
    [
        "codegen-units = 16",
        pytest.param('lto = "fat"\ncodegen-units = 1', marks=pytest.mark.nightly),
        pytest.param("incremental = true", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.endtoend
def test_a_crate(checkout: Checkout, tmp_path: Path, profile: str) -> None:
    checkout.file("Cargo.toml", f"{CARGO}[profile.release]\n{profile}\n")
    checkout.file("build.rs", "fn main() {}")
    checkout.file("lib.rs", "#[inline(never)] pub fn of_lib(x: usize) -> usize { x + 1 }")
    calls = " + ".join(f"{name}::f(n)" for name in NAMES)
    checkout.file(
        "main.rs", f"{RUST}fn main() {{ let n = std::env::args().count(); assert!({calls} + app::of_lib(n) > 0) }}"
    )
    checkout.commit()
    with relinking(checkout, tmp_path, "cargo build --release --offline", ["target/release/app"]) as builder:
        sound(builder, tmp_path, app="target/release/app", layouts=2)
        # cargo finds all of it fresh: it would compile anew what has changed
        fresh = subprocess.run(
            ["cargo", "build", "--release", "--offline", "-v"],
            cwd=builder.directory("head"), capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "Compiling" not in fresh.stderr
        assert "Dirty" not in fresh.stderr
