"""The order of the functions of real Go programs."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from functools import partial
from pathlib import Path

import pytest

from gate.walking import open_beneath
from harness.build import functions
from harness.build.functions import layout_of

SOURCE = 'package main\n\nfunc one() { println("one") }\n\nfunc main() { one() }\n'
go = pytest.mark.skipif(shutil.which("go") is None, reason="no go here")


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


def test_other_files_have_none(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text\n")
    (tmp_path / "torn").write_bytes(Path("/bin/sh").read_bytes()[:100])
    assert layout_of(partial(open_beneath, tmp_path), []) is None
    assert layout_of(partial(open_beneath, tmp_path), ["folder", "text", "torn", "absent"]) is None


def test_a_table_of_another_version_is_not_read() -> None:
    with pytest.raises(ValueError, match="another version"):
        list(functions._of_table(struct.pack("<I4x8Q", 0xFFFFFFFA, *range(8))))


def test_a_table_of_the_other_byte_order() -> None:
    names, header = b"main.a\0main.b\0", 8 + 8 * 4
    place = header + len(names)
    words = (2, 0, 0, header, 0, 0, 0, place)
    table = struct.pack(">IBBBB8I", 0xFFFFFFF1, 0, 0, 1, 4, *words) + names
    table += struct.pack(">IIII", 0, 16, 32, 24) + struct.pack(">Ii", 0, 7) + struct.pack(">Ii", 32, 0)
    assert list(functions._of_table(table)) == [b"main.b", b"main.a"]
