"""Which arguments of a linker change places, and which linker gets them."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import linker
from harness.build import order as orders_of
from harness.build.linker import expanded, resolved
from harness.build.order import keyed_order, relocatable, stable_name, stable_symbol
from tests.support.project import executable

# gcc 12.2 linking a.o b.o c.o -lm with -pie, shortened: `gcc -### a.o b.o c.o -lm`
GCC = [
    "-plugin",
    "/usr/lib/gcc/liblto_plugin.so",
    "-plugin-opt=-fresolution=/tmp/ccFsRQRT.res",
    "--build-id",
    "--eh-frame-hdr",
    "-m",
    "elf_x86_64",
    "--as-needed",
    "-dynamic-linker",
    "/lib64/ld-linux-x86-64.so.2",
    "-pie",
    "-o",
    "x.o",
    "/usr/lib/Scrt1.o",
    "/usr/lib/crti.o",
    "/usr/lib/crtbeginS.o",
    "-L/usr/lib",
    "a.o",
    "b.o",
    "c.o",
    "-lm",
    "libz.a",
    "-lgcc",
    "--push-state",
    "--as-needed",
    "-lgcc_s",
    "--pop-state",
    "-lc",
    "/usr/lib/crtendS.o",
    "/usr/lib/crtn.o",
]


def permuted(arguments: list[str], seed: int) -> list[str]:
    return orders_of.permuted(arguments, orders_of.runs(arguments, lambda path: True), seed, "/")


def orders(arguments: list[str]) -> set[tuple[str, ...]]:
    return {tuple(permuted(arguments, seed)) for seed in range(200)}


def test_only_the_program_s_objects_change_places() -> None:
    found = orders(GCC)
    assert len(found) == 6
    first = GCC.index("a.o")
    for order in found:
        assert sorted(order[first : first + 3]) == ["a.o", "b.o", "c.o"]
        assert [*order[:first], "a.o", "b.o", "c.o", *order[first + 3 :]] == GCC


def test_every_order_is_as_likely() -> None:
    counts: dict[tuple[str, ...], int] = {}
    for seed in range(6000):
        order = tuple(permuted(["a.o", "b.o", "c.o"], seed))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    # chi-squared with 5 degrees of freedom, beyond its 99.9% quantile
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5


def test_what_is_added_moves_only_itself() -> None:
    names = [f"src/{letter}.o" for letter in "abcdefgh"]
    for seed in range(50):
        without = permuted(names, seed)
        more = permuted([*names[:3], "src/new.o", *names[3:]], seed)
        assert [name for name in more if name != "src/new.o"] == without
        assert permuted(names[::-1], seed) == without


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/a.o", "src/a.o"),
        ("/work/tree/src/a.o", "src/a.o"),
        ("/tmp/ccAb12xY.o", "cc.o"),
        ("/tmp/main-3fa2b1.o", "main.o"),
        ("/work/tree/target/deps/rustcAbC123/symbols.o", "target/deps/symbols.o"),
        ("/other/lib/a.o", "../../other/lib/a.o"),
        ("d/app-0123456789abcdef.app.fedcba9876543210-cgu.0.rcgu.o", "d/app-.app.-cgu.0.rcgu.o"),
        ("app.app.fa6670aed3e38-cgu.0.rcgu.o", "app.app.-cgu.0.rcgu.o"),
    ],
)
def test_names_without_what_is_random(path: str, name: str) -> None:
    assert stable_name(path, "/work/tree") == name


def test_equal_names_count_and_a_symbol_has_no_hashes() -> None:
    orders = {tuple(keyed_order(["cc.o", "cc.o", "cc.o"], seed)) for seed in range(100)}
    assert len(orders) == 6
    assert stable_symbol("_RNvNtCs1a2B3c_3app1a1f") == "_RNvNtC3app1a1f"
    assert stable_symbol("_ZN3app4main17h0123456789abcdefE") == "_ZN3app4main"


@pytest.mark.parametrize(
    "arguments",
    [
        "a.o liba.a b.o",
        "a.o -lm b.o",
        "a.o --start-group b.o --end-group",
        "--start-lib a.o b.o --end-lib",
        "-r a.o b.o",
        "-relocatable a.o b.o",
        "-T board.ld a.o b.o",
        "-Tboard.ld a.o b.o",
        "--script=board.ld a.o b.o",
        "-z muldefs a.o b.o",
        "--allow-multiple-definition a.o b.o",
        "--symbol-ordering-file=order a.o b.o",
        "--oformat=binary a.o b.o",
        "-b binary a.o b.o",
        "crt1.o crti.o libasan_preinit.o",
        "a.so b.so",
        "@missing.o @other.o",
        "",
    ],
)
def test_these_stay(arguments: str) -> None:
    assert orders(arguments.split()) == {tuple(arguments.split())}


def test_a_value_is_no_object_and_other_objects_move() -> None:
    # the value of an option, known or not
    for option in ("-o", "-new-option", "--Map"):
        found = orders([option, "a.o", "b.o", "c.o"])
        assert {order[:2] for order in found} == {(option, "a.o")}
        assert len(found) == 2
    valueless = "-L/usr/lib -lm --as-needed -Bstatic -soname=x -O1 --whole-archive --start-group"
    for option in valueless.split():
        assert len(orders([option, "a.o", "b.rcgu.o", "c.obj"])) == 6
    # runs are shuffled by themselves
    found = orders(["a.o", "b.o", "liba.a", "c.o", "d.o", "--end-lib", "e.o", "f.o"])
    assert len(found) == 8
    assert {order[2] for order in found} == {"liba.a"}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"\x7fELF\2\1\1" + bytes(9) + b"\1\0", True),
        (b"\x7fELF\2\1\1" + bytes(9) + b"\3\0", False),  # a shared library
        (b"\x7fELF\1\2\1" + bytes(9) + b"\0\1", False),  # of 32 bits, in another byte order
        (b"BC\xc0\xde" + bytes(20), True),
        (b"!<arch>\n" + bytes(20), False),
        (b"\x7fELF", False),
        (b"", False),
    ],
)
def test_what_is_an_object(tmp_path: Path, head: bytes, expected: bool) -> None:
    (tmp_path / "a.o").write_bytes(head)
    assert relocatable(str(tmp_path / "a.o")) is expected


def test_what_cannot_be_read_stays(tmp_path: Path) -> None:
    assert not relocatable(str(tmp_path / "a.o"))
    assert not relocatable(str(tmp_path))
    assert orders_of.runs(["a.o", "b.o"], relocatable) == []


def test_response_files(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("c.o\n\n  'd e.o'")
    outer.write_text(f'a.o b\\ b.o "q\\"q.o" "" @{inner}\n@missing')
    assert expanded(["-pie", f"@{outer}", "z.o"]) == [
        "-pie", "a.o", "b b.o", 'q"q.o', "", "c.o", "d e.o", "@missing", "z.o",
    ]  # fmt: skip
    endless = tmp_path / "endless"
    endless.write_text(f"a.o @{endless}")
    with pytest.raises(ValueError, match="nest"):
        expanded([f"@{endless}"])
    executable(tmp_path / "bin/ld", '#!/bin/sh\necho "$@"\n')
    shim = executable(tmp_path / "shims/collect-ld")
    environment = {"PATH": str(tmp_path / "bin"), "PERFGATE_SEED": "1"}
    command = [sys.executable, "-I", "-S", linker.__file__, str(shim), f"@{endless}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"@{endless}\n"


def real_linker(shim: Path, arguments: list[str], environment: dict[str, str]) -> str | None:
    found = resolved(str(shim), arguments, environment)
    return found[0] if found else None


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    executable(tmp_path / "shims/ld.lld")
    executable(tmp_path / "shims/ld")
    return executable(tmp_path / "shims/collect-ld")


def test_gcc_s_own_folders_come_before_path(tmp_path: Path, shim: Path) -> None:
    environment = {"PATH": str(tmp_path / "bin"), "COMPILER_PATH": f"{shim.parent}/:{tmp_path}/gcc/:{tmp_path}/late/"}
    assert real_linker(shim, ["a.o"], environment) is None
    on_path = executable(tmp_path / "bin/ld")
    assert real_linker(shim, ["a.o"], environment) == str(on_path)
    late = executable(tmp_path / "late/ld")
    assert real_linker(shim, ["a.o"], environment) == str(late)
    assert real_linker(shim, ["a.o", "-fuse-ld=lld"], environment) is None
    lld = executable(tmp_path / "gcc/ld.lld")
    assert real_linker(shim, ["a.o", "-fuse-ld=lld"], environment) == str(lld)
    # a folder named ld, or one without the right to execute it, is no linker
    (tmp_path / "gcc/ld").mkdir()
    assert real_linker(shim, ["a.o"], environment) == str(late)
    real = executable(tmp_path / "late/real-ld")
    assert real_linker(shim, ["-fuse-ld=lld"], environment) == str(real)


def test_which_linker_is_the_real_one(tmp_path: Path, shim: Path) -> None:
    # a cross compiler's own
    executable(tmp_path / "bin/ld")
    crossed = executable(tmp_path / "bin/aarch64-linux-gnu-ld")
    environment = {"PATH": str(tmp_path / "bin"), "COLLECT_GCC": "/usr/bin/aarch64-linux-gnu-gcc-12"}
    assert real_linker(shim, [], environment) == str(crossed)
    # the shim of another run is a linker like others
    outer = executable(tmp_path / "outer/collect-ld")
    environment = {"PATH": "", "COMPILER_PATH": f"{shim.parent}:{outer.parent}", "PERFGATE_SEED": "1"}
    assert resolved(str(shim), ["-fuse-ld=lld", "a.o"], environment) == (str(outer), ["-fuse-ld=lld", "a.o"])
    # only collect-ld is given the choice of a linker
    lld = executable(tmp_path / "bin/ld.lld")
    environment = {"PATH": f"{shim.parent}:{tmp_path}/bin", "PERFGATE_SEED": "1"}
    assert resolved(str(shim), ["-fuse-ld=lld", "a.o"], environment) == (str(lld), ["a.o"])
    assert resolved(str(shim.parent / "ld.lld"), ["a.o"], environment) == (str(lld), ["a.o"])
