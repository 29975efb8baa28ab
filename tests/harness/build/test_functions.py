"""The order of functions: which change places, by which linkers, and that of Go; real objects and real programs."""

import os
import shutil
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from gate.walking import open_beneath
from harness.build import functions
from harness.build.functions import layout_of, ordering, section_names
from harness.build.perturb import build_environment, make_shims
from tests.support.project import executable

go = pytest.mark.skipif(shutil.which("go") is None, reason="no go here")
pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(sys.platform != "linux", reason="functions are put in order on Linux only"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was compiled)"),
    pytest.mark.skipif(shutil.which("nm") is None, reason="absent: nm (no order of symbols was read)"),
]

NAMES = [f"function_{letter}" for letter in "abcdefgh"]


def source(names: list[str]) -> str:
    functions = "".join(
        f"__attribute__((noinline)) int {name}(int x) {{ return x * {len(name)} + 1; }}\n" for name in names
    )
    calls = " + ".join(f"{name}(count)" for name in names)
    cold = "__attribute__((cold, noinline)) int frozen(int x) { return x; }\n"
    return (
        f"{functions}{cold}int main(int count, char **words) {{ (void)words; return {calls} + frozen(count) < 0; }}\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.c").write_text(source(NAMES))
    subprocess.run(["gcc", "-O2", "-ffunction-sections", "-c", "one.c"], cwd=tmp_path, check=True)
    make_shims(tmp_path / "shims", {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}, go=False)
    return tmp_path


def linked(folder: Path, linker: str, seed: int, *inputs: str) -> list[str]:
    """Link, run the program, and list its functions by address."""
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"absent: ld.{linker} (functions were not put in order by it)")
    added = build_environment(["link-order"], seed, {}, folder / "shims")
    environment = {**os.environ, **added, "PERFGATE_SEED": str(seed)}
    subprocess.run(["gcc", f"-fuse-ld={linker}", *inputs, "-o", "app"], cwd=folder, env=environment, check=True)
    subprocess.run(["./app"], cwd=folder, check=True)
    done = subprocess.run(["nm", "-n", "app"], cwd=folder, capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    return [name for name in names if name.startswith("function_") or name in ("main", "frozen")]


def test_functions_with_sections_of_their_own(folder: Path) -> None:
    assert sorted(section_names(str(folder / "one.o"))) == [f".text.{name}" for name in NAMES]
    subprocess.run(["ar", "rcs", "lib.a", "one.o"], cwd=folder, check=True)
    (folder / "odd").write_text("odd")
    subprocess.run(["ar", "rcs", "lib.a", "odd"], cwd=folder, check=True)
    assert sorted(section_names(str(folder / "lib.a"))) == [f".text.{name}" for name in NAMES]
    subprocess.run(["gcc", "-O2", "-c", "one.c"], cwd=folder, check=True)
    assert section_names(str(folder / "one.o")) == []


@pytest.mark.parametrize("linker", ["lld", "gold"])
def test_an_order_by_name(folder: Path, linker: str) -> None:
    orders = {seed: [n for n in linked(folder, linker, seed, "one.o") if n in NAMES] for seed in range(1, 7)}
    assert all(sorted(order) == NAMES for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) >= 5
    # the groups of compilers stay together
    whole = linked(folder, linker, 1, "one.o")
    places = [whole.index(name) for name in NAMES]
    assert max(places) - min(places) == len(NAMES) - 1
    # what is added or removed moves only itself
    (folder / "one.c").write_text(source(["function_new", *NAMES[1:]]))
    subprocess.run(["gcc", "-O2", "-ffunction-sections", "-c", "one.c"], cwd=folder, check=True)
    for seed in orders:
        changed = linked(folder, linker, seed, "one.o")
        assert [n for n in changed if n in NAMES] == [n for n in orders[seed] if n != NAMES[0]]


@pytest.mark.parametrize("linker", ["lld", "gold"])
def test_functions_of_an_archive(folder: Path, linker: str) -> None:
    for name in NAMES:
        (folder / f"{name}.c").write_text(f"int {name}(int x) {{ return x; }}\n")
    (folder / "main.c").write_text(
        "".join(f"int {name}(int);\n" for name in NAMES)
        + f"int main(void) {{ return {' + '.join(f'{name}(0)' for name in NAMES)}; }}\n"
    )
    members = [f"{name}.c" for name in NAMES]
    subprocess.run(["gcc", "-ffunction-sections", "-c", "main.c", *members], cwd=folder, check=True)
    objects = [f"{name}.o" for name in NAMES]
    subprocess.run(["ar", "rcs", "libcore.a", *objects], cwd=folder, check=True)
    for inputs in (["main.o", "libcore.a"], ["main.o", "-L.", "-lcore"]):
        assert len({tuple(linked(folder, linker, seed, *inputs)) for seed in (1, 2, 3)}) == 3


def test_mold_can_only_shuffle(folder: Path) -> None:
    assert len({tuple(linked(folder, "mold", seed, "one.o")) for seed in (1, 2, 3)}) == 3
    assert linked(folder, "mold", 1, "one.o") == linked(folder, "mold", 1, "one.o")
    one = str(folder / "one.o")
    # a shuffle would undo the order of objects
    assert ordering("/usr/bin/ld.mold", [one], 1, str, True) == ([], "")
    assert ordering("/usr/bin/ld.mold", [one], 5, str, False) == (["--shuffle-sections=5"], "shuffled")


@pytest.mark.parametrize(
    ("version", "takes"),
    [
        ("GNU ld (GNU Binutils) 2.43", True),
        ("GNU ld (GNU Binutils for Ubuntu) 2.42", False),
        ("GNU ld version 2.43.1-5.fc42", True),
        ("GNU ld (GNU Binutils for Debian) 2.40", False),
        ("something else", False),
    ],
)
def test_gnu_ld_knows_it_from_2_43_on(folder: Path, version: str, takes: bool) -> None:
    linker = executable(folder / "ld.bfd", f"#!/bin/sh\necho '{version}'\n")
    options, what = ordering(str(linker), [str(folder / "one.o")], 1, str, False)
    assert what == ("functions" if takes else "")
    if takes:
        text = Path(options[0].removeprefix("--section-ordering-file=")).read_text()
        lines = text.splitlines()
        assert (lines[0], lines[-1]) == (".text : {", "}")
        assert sorted(lines[1:-1]) == [f"*(.text.{name})" for name in NAMES]


@pytest.mark.parametrize(
    "own", ["--symbol-ordering-file=x", "--section-ordering-file=x", "--shuffle-sections=.text=1", "-r"]
)
def test_an_order_of_one_s_own_stays(folder: Path, own: str) -> None:
    assert ordering("/usr/bin/ld.lld", [own, str(folder / "one.o")], 1, str, False) == ([], "")


def test_a_linker_that_refuses_the_order(folder: Path) -> None:
    executable(
        folder / "own" / "ld.lld",
        '#!/bin/sh\ncase "$*" in *ordering*) echo "what is that?" >&2; exit 1;; esac\necho x >> linked\nexec ld "$@"\n',
    )
    added = build_environment(["link-order"], 1, {}, folder / "shims")
    done = subprocess.run(
        ["gcc", f"-B{folder}/own/", "-fuse-ld=lld", "one.o", "-o", "app"],
        cwd=folder, env={**os.environ, **added, "PERFGATE_SEED": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert (folder / "linked").read_text() == "x\n"
    subprocess.run(["./app"], cwd=folder, check=True)


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", b"!<arch>\nshort", b"\x7fELF\2\1\1" + b"\xff" * 80])
def test_a_file_that_is_not_what_it_seems(folder: Path, damage: bytes) -> None:
    (folder / "bad.o").write_bytes(damage)
    options, what = ordering("/usr/bin/ld.lld", [str(folder / "one.o"), str(folder / "bad.o")], 1, str, False)
    assert what in ("", "functions")
    assert bool(options) is bool(what)


# --- Go ---------------------------------------------------------------------------------------------------------------

SOURCE = 'package main\n\nfunc one() { println("one") }\n\nfunc main() { one() }\n'


def built(folder: Path, name: str, *options: str, source: str = SOURCE) -> str:
    (folder / "main.go").write_text(source)
    (folder / "go.mod").write_text("module example.org/x\n\ngo 1.22\n")
    subprocess.run(["go", "build", "-o", name, *options, "."], cwd=folder, check=True)
    return name


@go
def test_the_order_is_of_the_seed_and_of_the_functions(tmp_path: Path) -> None:
    first = built(tmp_path, "first", "-ldflags=-randlayout=1")
    stripped = built(tmp_path, "stripped", "-ldflags=-randlayout=1 -s -w")
    aligned = built(tmp_path, "aligned", "-ldflags=-randlayout=1 -funcalign=64")
    second = built(tmp_path, "second", "-ldflags=-randlayout=2")
    said = built(tmp_path, "said", "-ldflags=-randlayout=1", source=SOURCE.replace('"one"', '"uno"'))
    more = SOURCE.replace("func main() {", "//go:noinline\nfunc two() { println(2) }\n\nfunc main() { two();")
    longer = built(tmp_path, "longer", "-ldflags=-randlayout=1", source=more)
    orders = {
        name: layout_of(partial(open_beneath, tmp_path), [name])
        for name in (first, stripped, aligned, second, said, longer)
    }
    assert str(orders[first]).startswith("sha256:")
    assert orders[first] == orders[stripped] == orders[aligned] == orders[said]
    assert len({orders[first], orders[second], orders[longer]}) == 3


@go
def test_the_functions_are_those_that_go_lists(tmp_path: Path) -> None:
    path = tmp_path / built(tmp_path, "program", "-ldflags=-randlayout=7")
    listed = subprocess.run(["go", "tool", "nm", "-n", path], capture_output=True, text=True, check=True).stdout
    symbols = [line.split(maxsplit=2) for line in listed.splitlines()]
    names = [
        name.removesuffix(".abi0") for _, kind, name in (each for each in symbols if len(each) == 3) if kind in "Tt"
    ]
    found = [name.decode() for name in functions._functions(os.open(path, os.O_RDONLY))]
    # what begins and ends a part of the text, and what the linker wrote into the table itself, is in one of both only
    common = set(names) & set(found)
    assert [name for name in names if name in common] == [name for name in found if name in common]
    assert len(common) > 1000
    assert len(set(names) - common) < 10 > len(set(found) - common)


def test_what_holds_no_table_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text\n")
    (tmp_path / "torn").write_bytes(Path("/bin/sh").read_bytes()[:100])
    assert layout_of(partial(open_beneath, tmp_path), []) is None
    assert layout_of(partial(open_beneath, tmp_path), ["folder", "text", "torn", "absent"]) is None
    with pytest.raises(ValueError, match="another version"):
        list(functions._of_table(struct.pack("<I4x8Q", 0xFFFFFFFA, *range(8))))
