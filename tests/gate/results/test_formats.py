"""Every format: recognised by its content alone, by one adapter only, whatever the file's encoding and line ends."""

import gzip
from pathlib import Path

import msgspec
import pytest

from gate.results.formats import adapter, names
from gate.results.reading import Reading, read, recognised
from gate.results.source import Source

DATA = Path(__file__).parents[2] / "data" / "results"
# README.md of a folder names the tool's version and the command; what begins with "_" is read as a part of a folder
FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.name != "README.md")
BINARY = {".bin", ".gz"}


def ids(file: Path) -> str:
    return f"{file.parent.name}-{file.name}"


def said(reading: Reading) -> bytes:
    return msgspec.json.encode([reading.measured, reading.aggregates, reading.failed, reading.about], enc_hook=list)


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_one_adapter_recognises_a_file_by_its_content(file: Path, tmp_path: Path) -> None:
    source = Source("x", file) if file.is_dir() else Source("x", None, file.read_bytes())
    assert [name for name in names() if adapter(name).recognises(source)] == [file.parent.name]


@pytest.mark.parametrize("file", [f for f in FILES if f.is_file() and f.suffix not in BINARY], ids=ids)
def test_encodings_and_line_ends_change_nothing(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    expected = said(read(Source("x", None, data)))
    text = data.decode()
    changes = {
        "gz": gzip.compress(data),
        "bom": b"\xef\xbb\xbf" + data,
        "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"),
        "utf-16-be": text.encode("utf-16-be"),
    }
    path = tmp_path / "unnamed"
    for change, changed in changes.items():
        path.write_bytes(changed)
        source = Source("x", path)
        assert recognised(source) == file.parent.name, change
        assert said(read(source)) == expected, change


def test_each_format_has_a_real_file() -> None:
    assert {folder.name for folder in DATA.iterdir()} == set(names())
    assert all((folder / "README.md").exists() for folder in DATA.iterdir())


def test_nothing_else_is_recognised() -> None:
    for data in (b"", b"hello\n", b"{}", b"[]", b'{"a": 1}', b"a,b\n1,2\n", b"\0\1\2", b'{"results": []}'):
        assert recognised(Source("x", None, data)) is None
