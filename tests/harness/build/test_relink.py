"""Builds after the first link again what it has compiled: real compilers, real builds, and all that must stop it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gate.config.types import BuildTable
from gate.model import Build
from gate.model.records import FullBuilds
from harness.build.builder import TreeBuilder
from harness.build.perturb import make_shims
from tests.harness.build.test_builder import bad, builder_of, good

if TYPE_CHECKING:
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
    assert [build.full for build in made] == [FullBuilds(kind=kind, path=path), *[None] * (count - 1)]
    assert not any(build.relinked for build in made)
    assert ran(tmp_path) == count
    return made


def test_objects(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    with relinking(checkout, tmp_path, "make clean app") as builder:
        assert {build.ordered for build in sound(builder, tmp_path)} == {"objects"}


@pytest.mark.nightly
def test_many_links_at_a_time(checkout: Checkout, tmp_path: Path) -> None:
    apps = " ".join(f"app{number}" for number in range(5))
    project(checkout, f"all: {apps}\n{apps}: {OBJECTS}\n\tgcc -o $@ $^ -Wl,--defsym=n=1\n")
    with relinking(checkout, tmp_path, "make -j8 all", ["app0", "app4"]) as builder:
        sound(builder, tmp_path, app="app3")


@pytest.mark.endtoend
def test_temporary_objects(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    with relinking(checkout, tmp_path, f"gcc {SOURCES} -o app") as builder:
        first = sound(builder, tmp_path)[1].artifacts
    with relinking(checkout, tmp_path / "again", f"gcc {SOURCES} -o app") as builder:
        # gcc names them anew in each run
        assert built(builder, 2)[1].artifacts == first


@pytest.mark.endtoend
def test_response_files_and_scripts_that_vanish(checkout: Checkout, tmp_path: Path) -> None:
    project(
        checkout,
        f"all: {OBJECTS}\n\techo {OBJECTS} > list\n\techo '{{ global: main; local: *; }};' > script\n"
        "\tgcc @list -rdynamic -Wl,--version-script=script -o app\n\trm list script *.o\n",
    )
    with relinking(checkout, tmp_path, "make") as builder:
        sound(builder, tmp_path)


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
def test_a_program_moved_out_of_a_folder_that_is_gone(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    command = f"make clean {OBJECTS} && mkdir t && gcc -o t/x {OBJECTS} && mv t/x app && rmdir t"
    with relinking(checkout, tmp_path, command) as builder:
        sound(builder, tmp_path)


def test_a_shared_library_and_its_program(checkout: Checkout, tmp_path: Path) -> None:
    rules = (
        "app: main.o libcore.so\n\tgcc -o $@ main.o -L. -lcore -Wl,-rpath,'$$ORIGIN'\n"
        "libcore.so: a.o b.o c.o d.o\n\tgcc -shared -o $@ $^\n%.o: %.c\n\tgcc -fPIC -c $<\n"
    )
    project(checkout, rules)
    with relinking(checkout, tmp_path, "make", ["app", "libcore.so"]) as builder:
        made = sound(builder, tmp_path, layouts=1)
        assert len({build.artifacts["libcore.so"] for build in made}) >= 3


@pytest.mark.nightly
def test_a_name_that_is_also_a_file_s(checkout: Checkout, tmp_path: Path) -> None:
    # at its second link the library's own name is that of a file
    link = "gcc -shared -fPIC -Wl,-soname,libcore.so -o libcore.so a.c b.c c.c d.c"
    project(checkout)
    command = f"{link} && {link} && gcc main.c -L. -lcore -Wl,-rpath,'$ORIGIN' -o app"
    with relinking(checkout, tmp_path, command, ["libcore.so"]) as builder:
        sound(builder, tmp_path, layouts=1)


@pytest.mark.nightly
def test_a_copy_of_a_program_of_the_commit(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    shutil.copy("/bin/true", checkout.path / "tool")
    checkout.commit()
    with relinking(checkout, tmp_path, "make clean app && cp tool copied") as builder:
        sound(builder, tmp_path)


@pytest.mark.nightly
def test_a_script_of_libtool(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    command = "make clean app && mkdir .libs && mv app .libs && echo 'exec .libs/app' > app && chmod +x app"
    with relinking(checkout, tmp_path, command) as builder:
        sound(builder, tmp_path, app=".libs/app")


@pytest.mark.parametrize("kind", ["rcsD", pytest.param("rcsDT", marks=pytest.mark.nightly)])
def test_one_object_and_a_library(checkout: Checkout, tmp_path: Path, kind: str) -> None:
    project(checkout, f"{RULES}libcore.a: a.o b.o c.o d.o\n\tar {kind} $@ $^\n")
    command = "make clean main.o libcore.a && mkdir out && cd out && gcc ../main.o -L.. -lcore -o ../app"
    with relinking(checkout, tmp_path, command) as builder:
        assert {build.ordered for build in sound(builder, tmp_path)} == {"objects"}


@pytest.mark.skipif(shutil.which("ld.lld") is None, reason="absent: ld.lld (no functions were put in order)")
def test_functions_of_an_archive_beside_the_link(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    compiled = f"mkdir -p out && cd out && gcc -ffunction-sections -c {' '.join(f'../{s}' for s in SOURCES.split())}"
    linked = "ar rcsD libcore.a [a-d].o && gcc -fuse-ld=lld main.o -L. -lcore -o ../app"
    with relinking(checkout, tmp_path, f"{compiled} && {linked}") as builder:
        assert {build.ordered for build in sound(builder, tmp_path)} == {"objects+functions"}


@pytest.mark.nightly
def test_a_trial_of_configure_is_not_linked_again(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    trial = "gcc -o conftest a.c main.c b.c c.c d.c && ./conftest && rm conftest"
    with relinking(checkout, tmp_path, f"{trial} && make clean app") as builder:
        sound(builder, tmp_path)
        assert not (builder.directory("head") / "conftest").exists()


@pytest.mark.nightly
def test_a_trial_that_links_to_nowhere(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    trial = f"gcc -o /dev/null {SOURCES}"
    with relinking(checkout, tmp_path, f"{trial} && make clean app") as builder:
        sound(builder, tmp_path)


@pytest.mark.endtoend
def test_gcc_s_whole_program_optimization(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    with relinking(checkout, tmp_path, f"gcc -O1 -flto {SOURCES} -o app") as builder:
        sound(builder, tmp_path, layouts=1)


@pytest.mark.nightly
def test_a_tree_and_a_project_below_it(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    checkout.file("inner/perfgate.toml", "")
    checkout.commit()
    checkout.path = checkout.path / "inner"
    with relinking(checkout, tmp_path, "make -C .. clean app", ()) as builder:
        sound(builder, tmp_path, app="../app")


@pytest.mark.endtoend
def test_a_build_that_is_not_the_first_one_of_its_run(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    with relinking(checkout, tmp_path, "make clean app") as builder:
        whole = built(builder)
    with relinking(checkout, tmp_path / "resumed", "make clean app") as builder:
        for number in (2, 3, 1):
            assert good(builder.build("head", number, number + 1)).artifacts == whole[number].artifacts
        assert ran(tmp_path / "resumed") == 1


class TestFull:
    """What makes every build a full one."""

    @pytest.mark.skipif(shutil.which("strip") is None, reason="absent: strip (nothing was stripped)")
    def test_stripped_after_the_link(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app && strip app") as builder:
            refused(builder, tmp_path, "not-linked", "app")

    @pytest.mark.skipif(shutil.which("strip") is None, reason="absent: strip (nothing was stripped)")
    @pytest.mark.endtoend
    def test_a_stripped_copy(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app && mkdir out && strip -o out/app app", ()) as builder:
            refused(builder, tmp_path, "not-linked", "out/app")

    @pytest.mark.parametrize("artifact", ["libcore.a", "a.c"])
    @pytest.mark.endtoend
    def test_an_artifact_that_nobody_linked(self, checkout: Checkout, tmp_path: Path, artifact: str) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app && ar rcsD libcore.a a.o", ["app", artifact]) as builder:
            refused(builder, tmp_path, "not-linked", artifact)

    def test_other_bytes_from_one_seed(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(
            checkout, tmp_path, f"make clean {OBJECTS} && gcc -Wl,--build-id=uuid {OBJECTS} -o app"
        ) as builder:
            refused(builder, tmp_path, "unsound", "app")

    @pytest.mark.skipif(shutil.which("objcopy") is None, reason="absent: objcopy (no object was changed)")
    def test_an_object_that_changes_after_its_link(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        change = "cp main.o other.o && objcopy --add-symbol added=0 other.o && cat other.o > main.o"
        with relinking(checkout, tmp_path, f"make clean app && {change}") as builder:
            refused(builder, tmp_path, "unsound", "app")

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

    @pytest.mark.parametrize("use", ["{seed}", "$PERFGATE_SEED", "$PERFGATE_BUILD"])
    def test_a_command_that_takes_the_seed(self, checkout: Checkout, tmp_path: Path, use: str) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, f"make clean app SEED={use}") as builder:
            refused(builder, tmp_path, "seed-used")

    def test_nothing_is_linked(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "cp a.c app") as builder:
            refused(builder, tmp_path, "no-link")

    @pytest.mark.endtoend
    def test_what_is_linked_outside_the_tree(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, f"make clean app && gcc -o {tmp_path}/out {OBJECTS}") as builder:
            refused(builder, tmp_path, "outside", str(tmp_path / "out"))

    def test_off(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app", relink="off") as builder:
            refused(builder, tmp_path, "off")

    def test_without_the_order_of_links(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app", perturb=["environment"]) as builder:
            refused(builder, tmp_path, "unperturbed")

    def test_a_link_that_fails_later(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout, f"{RULES}libcore.a: a.o b.o c.o d.o\n\tar rcsD $@ $^\n")
        with relinking(
            checkout, tmp_path, "make clean main.o libcore.a && gcc main.o -L. -lcore -o app", ()
        ) as builder:
            made = built(builder, 2)
            assert made[1].relinked
            (builder.directory("head") / "libcore.a").unlink()
            third, fourth = (good(builder.build("head", number, number + 1)) for number in (2, 3))
            assert (third.relinked, third.full) == (False, FullBuilds(kind="failed", path="app"))
            assert (fourth.relinked, fourth.full) == (False, None)
            assert ran(tmp_path) == 3

    def test_records_that_are_gone(self, checkout: Checkout, tmp_path: Path) -> None:
        project(checkout)
        with relinking(checkout, tmp_path, "make clean app") as builder:
            assert built(builder, 2)[1].relinked
            (plan,) = builder.directory("head").parent.glob("links/*/*/plan")
            plan.unlink()
            third = good(builder.build("head", 2, 3))
            assert (third.relinked, third.full) == (False, FullBuilds(kind="failed"))
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


def test_a_recording_never_fails_a_build(checkout: Checkout, tmp_path: Path) -> None:
    project(checkout)
    with relinking(checkout, tmp_path, 'rm -rf "$PERFGATE_LINKS" && make clean app') as builder:
        refused(builder, tmp_path, "failed")


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
