"""Members of a static library change places: real archives, real linkers, and all that must stay as it was."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.build import archives
from harness.build.archives import Archive, copies
from harness.build.linker import Arrangement, arranged, run
from harness.build.perturb import build_environment, make_shims
from tests.support.project import executable

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was compiled)"),
]

NAMES = [f"function_{letter}" for letter in "abcdefgh"]
OBJECTS = [f"{name}.o" for name in NAMES]
LINKERS = ["bfd", "gold", "lld", "mold"]
SEEDS = range(1, 4)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of sources and objects, compiled once: each test has a copy."""
    made = tmp_path_factory.mktemp("objects")
    for name in NAMES:
        (made / f"{name}.c").write_text(f"int {name}(int x) {{ return x + {len(name)}; }}\n")
    (made / "main.c").write_text(
        "#include <stdio.h>\n"
        + "".join(f"int {name}(int);\n" for name in NAMES)
        + f'int main(void) {{ return printf("%d\\n", {" + ".join(f"{name}(1)" for name in NAMES)}) < 0; }}\n'
    )
    call(made, "gcc", "-c", "main.c", *(f"{name}.c" for name in NAMES))
    return made


@pytest.fixture
def folder(objects: Path, tmp_path: Path) -> Path:
    shutil.copytree(objects, tmp_path, dirs_exist_ok=True)
    make_shims(tmp_path / "shims", {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}, go=False)
    return tmp_path


def call(folder: Path, *command: str, **added: str) -> str:
    environment = {**os.environ, **added}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def linked(folder: Path, seed: int, *arguments: str, compiler: str = "gcc") -> bytes:
    """Link with the shim; see that the program works, and give its bytes."""
    added = build_environment(["link-order"], seed, {}, folder / "shims")
    call(folder, compiler, *arguments, "-o", "app", **added, PERFGATE_SEED=str(seed))
    assert call(folder, "./app") == f"{len(NAMES) * 11}\n"
    return (folder / "app").read_bytes()


def layouts(folder: Path, *arguments: str, compiler: str = "gcc") -> int:
    """Count the programs of some seeds; a seed always gives the same one."""
    made = [linked(folder, seed, *arguments, compiler=compiler) for seed in SEEDS]
    assert linked(folder, SEEDS[0], *arguments, compiler=compiler) == made[0]
    return len(set(made))


def taken(folder: Path, *arguments: str, tree: str = "") -> set[str]:
    """Give the archives that have a copy."""
    made = copies(arguments, 1, lambda path: str(folder / path), str(folder), tree or str(folder), [])
    for copy, _ in made.values():
        os.close(int(copy.rpartition("/")[2]))
    return {path for _, path in made.values()}


def needs(linker: str) -> None:
    if shutil.which(f"ld.{linker}" if linker != "mold" else "mold") is None:
        pytest.skip(f"absent: {linker} (no members were put in order by it)")


@pytest.mark.endtoend
@pytest.mark.parametrize(("linker", "kind"), [*((linker, "rcs") for linker in LINKERS), (LINKERS[0], "rcsT")])
def test_one_object_and_a_library_have_many_layouts(folder: Path, linker: str, kind: str) -> None:
    needs(linker)
    call(folder, "ar", kind, "libcore.a", *OBJECTS)
    before = (folder / "libcore.a").read_bytes()
    assert layouts(folder, f"-fuse-ld={linker}", "main.o", "libcore.a") == len(SEEDS)
    assert (folder / "libcore.a").read_bytes() == before


def test_clang(folder: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("absent: clang (it linked nothing)")
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    assert layouts(folder, "main.o", "-L.", "-lcore", compiler="clang") == len(SEEDS)


@pytest.mark.endtoend
@pytest.mark.parametrize(
    "arguments",
    [
        "main.o -L. -lcore",
        pytest.param("main.o -Lnowhere -L. -static -lcore", marks=pytest.mark.nightly),
        "main.o -Wl,--start-group libcore.a libmore.a -Wl,--end-group",
        pytest.param("main.o -Wl,--whole-archive libcore.a -Wl,--no-whole-archive", marks=pytest.mark.nightly),
        pytest.param("main.o libmore.a libcore.a libmore.a libcore.a", marks=pytest.mark.nightly),
    ],
)
def test_ways_to_name_it(folder: Path, arguments: str) -> None:
    call(folder, "ar", "rcs", "libmore.a", *OBJECTS[:4])
    call(folder, "ar", "rcs", "libcore.a", *(OBJECTS[4:] if "libmore" in arguments else OBJECTS))
    assert layouts(folder, *arguments.split()) == len(SEEDS)


def test_what_is_added_moves_only_itself(folder: Path) -> None:
    def order(seed: int, *members: str) -> list[str]:
        (folder / "libcore.a").unlink(missing_ok=True)
        call(folder, "ar", "rcs", "libcore.a", *members)
        (folder / "copy.a").write_bytes(b"".join(Archive(str(folder / "libcore.a")).ordered(seed, set())))
        return call(folder, "ar", "t", "copy.a").split()

    for seed in SEEDS:
        whole = order(seed, *OBJECTS)
        assert sorted(whole) == OBJECTS
        assert order(seed, *OBJECTS[::-1]) == whole
        assert order(seed, *OBJECTS[1:]) == [name for name in whole if name != OBJECTS[0]]


@pytest.mark.skipif(shutil.which("nm") is None, reason="absent: nm (no index of an archive was read)")
@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_a_copy_is_an_archive_with_all_that_was_in_it(folder: Path, kind: str) -> None:
    (folder / "notes.txt").write_text("odd")
    long = "a_name_that_is_too_long_for_a_header.o"
    shutil.copy(folder / OBJECTS[0], folder / long)
    (folder / "sub").mkdir()
    call(folder, "ar", kind, "sub/libcore.a", long, *OBJECTS[1:4], "notes.txt", *OBJECTS[4:])
    text = b"".join(Archive(str(folder / "sub/libcore.a")).ordered(3, set()))
    (folder / "copy.a").write_bytes(text)
    members = call(folder, "ar", "t", "copy.a").split()
    assert [Path(name).name for name in members].index("notes.txt") == 4
    assert {Path(name).name for name in members} == {long, "notes.txt", *OBJECTS[1:]}
    assert all(Path(name).exists() for name in members) or kind == "rcs"
    # as ranlib would write the index
    index = call(folder, "nm", "-s", "copy.a").split("\n\n")[0]
    call(folder, "ranlib", "copy.a")
    assert call(folder, "nm", "-s", "copy.a").split("\n\n")[0] == index
    if kind == "rcs":
        assert len(text) == (folder / "sub/libcore.a").stat().st_size
        call(folder / "sub", "ar", "x", "../copy.a")
        for name in (long, "notes.txt", *OBJECTS[1:]):
            assert (folder / "sub" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-r", "libcore.a"],
        ["-T", "board.ld", "libcore.a"],
        ["--exclude-libs", "libcore.a", "libcore.a"],
        ["--exclude-libs=libcore.a", "libcore.a"],
        ["--new-option", "libcore.a"],
        ["-z", "muldefs", "libcore.a"],
        ["-lcore"],
        ["-Lshared", "-L.", "-lcore"],
        ["-L=.", "-L.", "-lcore"],
        ["-L.", "-l:libcore.a"],
    ],
)
def test_these_stay(folder: Path, arguments: list[str]) -> None:
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    (folder / "shared").mkdir()
    (folder / "shared/libcore.so").touch()
    assert taken(folder, "libcore.a") == {"libcore.a"}
    assert taken(folder, *arguments) == set()


def test_what_is_outside_the_tree_or_large_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    (folder / "tree").mkdir()
    assert taken(folder, "libcore.a", tree=str(folder / "tree")) == set()
    assert taken(folder, str(folder / "libcore.a")) == {str(folder / "libcore.a")}
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    call(folder, "ar", "rcs", "libmore.a", *OBJECTS)
    size = (folder / "libcore.a").stat().st_size
    monkeypatch.setattr(archives, "_LARGEST", size * 2 - 1)
    assert taken(folder, "libcore.a", "libmore.a") == {"libcore.a"}


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("one", "other", "moves"),
    [
        ("int twice(void) { return 1; }", "int twice(void) { return 2; }", False),
        ("__attribute__((weak)) int twice(void) { return 1; }", "int twice(void) { return 2; }", False),
        ("__attribute__((weak)) int twice(void) { return 1; }", "__attribute__((weak)) int twice(void);", True),
        ("int twice __attribute__((common));", "int twice __attribute__((common));", False),
        ("static int twice(void) { return 1; }", "static int twice(void) { return 2; }", True),
    ],
)
def test_a_symbol_that_two_members_define(folder: Path, one: str, other: str, moves: bool) -> None:
    (folder / "one.c").write_text(one + "\nint one(void) { return 0; }\n")
    (folder / "other.c").write_text(other + "\nint other(void) { return 0; }\n")
    call(folder, "gcc", "-c", "one.c", "other.c")
    call(folder, "ar", "rcs", "libcore.a", "one.o", *OBJECTS, "other.o")
    assert bool(taken(folder, "libcore.a")) is moves


TEMPLATE = "template <class T> struct Box { T get(T x); };\ntemplate <class T> T Box<T>::get(T x) { return x; }\n"


@pytest.mark.skipif(shutil.which("g++") is None, reason="absent: g++ (no templates)")
def test_what_cpp_repeats_moves_but_for_what_an_object_lacks(folder: Path) -> None:
    for number in range(6):
        text = f"{TEMPLATE}template struct Box<int>;\nint part{number}() {{ Box<int> b; return b.get({number}); }}\n"
        if number > 1:
            text = f"inline int same(int x) {{ return x * 2; }}\nint part{number}() {{ return same({number}); }}\n"
        (folder / f"part{number}.cc").write_text(text)
    (folder / "user.cc").write_text(
        f"{TEMPLATE}extern template struct Box<int>;\nint user() {{ return Box<int>().get(1); }}\n"
    )
    call(folder, "g++", "-c", "user.cc", *(f"part{number}.cc" for number in range(6)))
    parts = [f"part{number}.o" for number in range(6)]
    call(folder, "ar", "rcs", "libcore.a", *parts[2:4], parts[0], *parts[4:], parts[1])
    orders = set()
    for seed in range(1, 7):
        made = copies(
            ["user.o", "libcore.a"], seed, lambda p: str(folder / p), str(folder), str(folder), [str(folder / "user.o")]
        )
        copy, _ = made[1]
        (folder / "copy.a").write_bytes(Path(copy).read_bytes())
        os.close(int(copy.rpartition("/")[2]))
        orders.add(tuple(call(folder, "ar", "t", "copy.a").split()))
    assert {order[:2] for order in orders} == {("part0.o", "part1.o")}
    assert len(orders) >= 4


@pytest.mark.parametrize(
    "make",
    [
        "ar rcS libcore.a {}",
        "ar rcs libcore.a {} && ar rcsT outer.a libcore.a && mv outer.a libcore.a",
        "ar rcs libcore.a main.o",
        "clang -flto -c function_?.c && llvm-ar rcs libcore.a {}",
    ],
)
def test_archives_that_are_left_alone(folder: Path, make: str) -> None:
    if "clang" in make and (shutil.which("clang") is None or shutil.which("llvm-ar") is None):
        pytest.skip("absent: clang and llvm-ar (no bitcode)")
    call(folder, "sh", "-c", make.format(" ".join(OBJECTS)))
    assert taken(folder, "libcore.a") == set()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"!<arch>\n",
        b"!<arch>\nshort",
        b"!<arch>\n/" + b" " * 57 + b"`\n",
        b"!<thin>\n" + bytes(60),
        70,
        100,
        1000,
        5000,
    ],
)
def test_a_file_that_is_no_whole_archive(folder: Path, damage: bytes | int) -> None:
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    whole = (folder / "libcore.a").read_bytes()
    (folder / "libcore.a").write_bytes(whole[:damage] if isinstance(damage, int) else damage)
    assert taken(folder, "libcore.a", "gone.a") == set()


@pytest.mark.endtoend
def test_gcc_s_whole_program_optimization(folder: Path) -> None:
    call(folder, "gcc", "-O1", "-flto", "-c", "main.c", *(f"{name}.c" for name in NAMES))
    call(folder, "gcc-ar", "rcs", "libcore.a", *OBJECTS)
    assert layouts(folder, "-O1", "-flto", "main.o", "libcore.a") >= 1


def test_what_make_reads_names_the_archive(folder: Path) -> None:
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    linked(folder, 1, "main.o", "-L.", "-lcore", "-Wl,--dependency-file=app.d", "-Wl,-Map,app.map")
    assert "./libcore.a" in (folder / "app.d").read_text()
    assert "./libcore.a(function_a.o)" in (folder / "app.map").read_text()
    for name in ("app.d", "app.map"):
        assert "/proc/self" not in (folder / name).read_text()


def test_a_linker_that_refuses_the_copy(folder: Path) -> None:
    call(folder, "ar", "rcs", "libcore.a", *OBJECTS)
    refusing = executable(
        folder / "ld.bfd", '#!/bin/sh\ncase "$*" in */proc/*) echo no >&2; exit 1;; esac\necho "$@" > linked\n'
    )
    arrangement = arranged(str(refusing), ["libcore.a"], 1, lambda path: str(folder / path), str(folder), str(folder))
    assert (arrangement.ordered, arrangement.plain) == ("objects", ["libcore.a"])
    assert arrangement.arguments != arrangement.plain
    assert in_folder(folder, str(refusing), arrangement) == 0
    assert (folder / "linked").read_text() == "libcore.a\n"
    arrangement.close()


def in_folder(folder: Path, linker: str, arrangement: Arrangement) -> int:
    here = Path.cwd()
    os.chdir(folder)
    try:
        return run(linker, arrangement)
    finally:
        os.chdir(here)


def names_of(path: Path) -> Sequence[str]:
    return [member.name for member in Archive(str(path)).members]


@pytest.mark.skipif(shutil.which("rustc") is None, reason="absent: rustc (no rlib)")
@pytest.mark.endtoend
def test_an_rlib_keeps_its_metadata(folder: Path) -> None:
    modules = "".join(f"pub mod {n} {{ #[inline(never)] pub fn f(x: i32) -> i32 {{ x + 11 }} }}\n" for n in NAMES)
    (folder / "core.rs").write_text(modules)
    (folder / "main.rs").write_text(
        f'fn main() {{ println!("{{}}", {" + ".join(f"cores::{n}::f(0)" for n in NAMES)}); }}'
    )
    call(folder, "rustc", "-Ccodegen-units=8", "--crate-type=rlib", "--crate-name=cores", "core.rs")
    before = names_of(folder / "libcores.rlib")
    assert taken(folder, "libcores.rlib") == {"libcores.rlib"}
    (folder / "copy.rlib").write_bytes(b"".join(Archive(str(folder / "libcores.rlib")).ordered(2, set())))
    after = names_of(folder / "copy.rlib")
    assert sorted(before) == sorted(after)
    assert before != after
    assert before.index("lib.rmeta") == after.index("lib.rmeta")
    assert layouts(folder, "main.rs", "--extern=cores=libcores.rlib", "-Ccodegen-units=1", compiler="rustc") >= 3
