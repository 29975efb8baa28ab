"""Zip files as nobody's tools make them: nothing but the measurements is taken, or one line says why not."""

import functools
import io
import os
import random
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from gate.model import UserError
from gate.publishing.untrusted.read import MEASUREMENTS, unpack
from gate.publishing.untrusted.read import member as beside

LINE = b'{"type":"run"}\n'
ZIP64 = struct.pack("<HHQ", 1, 8, 2**62)
"""The field that says how large a member is: more than there is on earth."""


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def linked(name: str, mode: int = stat.S_IFLNK | 0o777) -> bytes:
    buffer = io.BytesIO(zipped({MEASUREMENTS: LINE}))
    with zipfile.ZipFile(buffer, "a") as file:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        file.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def twice() -> bytes:
    buffer = io.BytesIO(zipped({MEASUREMENTS: LINE}))
    with zipfile.ZipFile(buffer, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr(MEASUREMENTS, LINE)
    return buffer.getvalue()


def member(
    name: bytes, data: bytes, *, stored: bytes | None = None, size: int | None = None, method: int = 8, flags: int = 0,
    crc: int | None = None, local_name: bytes | None = None, offset: int = 0, extra: bytes = b"",
) -> tuple[bytes, bytes]:  # fmt: skip
    """A member's own bytes and its entry in the directory, with whatever lies are wanted."""
    if stored is None:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        stored = packer.compress(data) + packer.flush() if method == 8 else data
    sums = (zlib.crc32(data) if crc is None else crc, len(stored), len(data) if size is None else size)
    shown = name if local_name is None else local_name
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, flags, method, 0, 33, *sums, len(shown), 0) + shown + stored
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, flags, method, 0, 33, *sums, len(name), len(extra), 0, 0, 0, 0, offset
    )
    return local, entry + name + extra


def raw(*pairs: tuple[bytes, bytes]) -> bytes:
    body, directory = b"".join(local for local, _ in pairs), b"".join(entry for _, entry in pairs)
    count = len(pairs)
    return body + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)


class Stream(io.BytesIO):
    """What can only be written on, as an upload is."""

    def tell(self) -> int:
        raise io.UnsupportedOperation


@functools.cache
def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()


def shared() -> bytes:
    """Two members that are the same bytes: a bomb grows so."""
    local, entry = member(MEASUREMENTS.encode(), LINE)
    other = member(b"other.jsonl", LINE)[1]
    return raw((local, entry), (b"", other))


def test_the_measurements_are_taken_and_nothing_is_written(tmp_path: Path) -> None:
    members = {MEASUREMENTS: LINE, "report.json": b"{}", "run/measurements.jsonl": b"no", "status.json": b"{}"}
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        (tmp_path / "data.zip").write_bytes(zipped(members, compression))
        assert unpack(tmp_path / "data.zip") == LINE
    assert [path.name for path in tmp_path.rglob("*")] == ["data.zip"]


def test_a_small_file_beside_them_is_read_and_a_large_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "data.zip"
    for members, found in (
        ({"status.json": b"{}", MEASUREMENTS: LINE}, b"{}"),
        ({MEASUREMENTS: LINE}, None),
        ({"run/status.json": b"{}"}, None),
    ):
        file.write_bytes(zipped(members))
        assert beside(file, "status.json", 10) == found
    file.write_bytes(zipped({"status.json": b"x" * 11}))
    with pytest.raises(UserError, match=r"status.json in it is larger than"):
        beside(file, "status.json", 10)


NAME = MEASUREMENTS.encode()
REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not a zip file"),
    "no zip": (LINE, "not a zip file"),
    "a beginning alone": (b"PK\x03\x04" + bytes(100), "cannot be unpacked"),
    "nothing in it": (zipped({}), "not a zip file"),
    "in a folder": (zipped({"run/measurements.jsonl": LINE}), "nowhere at its root"),
    "compressed": (zipped({"measurements.jsonl.gz": LINE}), "nowhere at its root"),
    "capital": (zipped({"Measurements.jsonl": LINE}), "nowhere at its root"),
    "dot": (zipped({"./measurements.jsonl": LINE}), "nowhere at its root"),
    "climbs": (zipped({MEASUREMENTS: LINE, "../evil": b"x"}), "points outside"),
    "climbs later": (zipped({MEASUREMENTS: LINE, "a/../../evil": b"x"}), "points outside"),
    "absolute": (zipped({MEASUREMENTS: LINE, "/etc/evil": b"x"}), "points outside"),
    "drive": (raw(member(b"C:\\evil", b"x"), member(NAME, LINE, offset=38)), "points outside"),
    "ends early": (raw(member(b"measurements.jsonl\0.txt", LINE)), "points outside"),
    "symbolic link": (linked("link"), "link or a device"),
    "device": (linked("device", stat.S_IFCHR | 0o666), "link or a device"),
    "twice": (twice(), "2 times"),
    "many members": (zipped({MEASUREMENTS: LINE, **{f"f{i}": b"" for i in range(1000)}}), "more than 1,000 members"),
    "lzma": (zipped({MEASUREMENTS: LINE}, zipfile.ZIP_LZMA), "by another method than deflate"),
    "bzip2": (zipped({MEASUREMENTS: LINE}, zipfile.ZIP_BZIP2), "by another method than deflate"),
    "unknown method": (raw(member(NAME, LINE, method=77, stored=LINE)), "by another method than deflate"),
    "encrypted": (raw(member(NAME, LINE, flags=1)), "encrypted"),
    "wrong sum": (raw(member(NAME, LINE, crc=7)), "cannot be unpacked (BadZipFile)"),
    "another name inside": (raw(member(NAME, LINE, local_name=b"other-name-of-it-.")), "cannot be unpacked (BadZipFile)"),
    "declared short": (raw(member(NAME, LINE, size=3)), "cannot be unpacked (BadZipFile)"),
    "declared long": (raw(member(NAME, LINE, size=2_000_000)), "not as long as it says"),
    "declared huge": (raw(member(NAME, LINE, size=0xFFFFFFFE)), "larger than 100 MB"),
    "zip64 without sizes": (raw(member(NAME, LINE, size=0xFFFFFFFF)), "larger than 100 MB"),
    "zip64 with lies": (raw(member(NAME, LINE, size=0xFFFFFFFF, extra=ZIP64)), "larger than 100 MB"),
    "zip64 cut": (raw(member(NAME, LINE, size=0xFFFFFFFF, extra=ZIP64[:7])), "cannot be unpacked (BadZipFile)"),
    "no deflate": (raw(member(NAME, b"", stored=b"\xff" * 40, size=5)), "cannot be unpacked (error)"),
    "lies elsewhere": (raw(member(NAME, LINE, offset=0xFFFFFFF0)), "overlap"),
    "shared bytes": (shared(), "overlap"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "why"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_in_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "data.zip").write_bytes(data)
    with pytest.raises(UserError) as caught:
        unpack(tmp_path / "data.zip")
    assert why in str(caught.value)
    assert str(caught.value).startswith("the artifact: ")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["data.zip"], "nothing was written, anywhere"


def test_a_zip_file_that_was_streamed_is_taken(tmp_path: Path) -> None:
    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("status.json", MEASUREMENTS):
            with file.open(name, "w", force_zip64=True) as part:
                part.write(LINE)
    (tmp_path / "data.zip").write_bytes(stream.getvalue())
    assert unpack(tmp_path / "data.zip") == LINE


@pytest.mark.parametrize("declared", [None, 1000, 99_000_000], ids=["honest", "small", "just small enough"])
def test_a_bomb_is_never_unpacked_whole(tmp_path: Path, declared: int | None) -> None:
    stored = bomb(101_000_000)
    assert len(stored) < 400_000
    size = 101_000_000 if declared is None else declared
    (tmp_path / "data.zip").write_bytes(raw(member(MEASUREMENTS.encode(), b"", stored=stored, size=size)))
    with pytest.raises(UserError, match="larger than 100 MB" if declared is None else "BadZipFile"):
        unpack(tmp_path / "data.zip")


def test_what_is_larger_than_declared_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.publishing.untrusted.read.LARGEST", 100_000)
    (tmp_path / "data.zip").write_bytes(zipped({MEASUREMENTS: bytes(100_001)}))
    with pytest.raises(UserError, match="larger than 0 MB"):
        unpack(tmp_path / "data.zip")
    (tmp_path / "fits.zip").write_bytes(zipped({MEASUREMENTS: bytes(100_000)}))
    assert len(unpack(tmp_path / "fits.zip")) == 100_000


def test_a_zip_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "data.zip").open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(5_000_000_000)
    with pytest.raises(UserError, match="larger than 30 MB"):
        unpack(tmp_path / "data.zip")


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(zipped({MEASUREMENTS: LINE}))
    (tmp_path / "link").symlink_to(tmp_path / "data.zip")
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("link", "link: cannot be read"),
        ("pipe", "is no file"),
        ("missing", "missing: cannot be read: No such"),
    ):
        with pytest.raises(UserError, match=why):
            unpack(tmp_path / name)


def test_damage_at_any_place_is_one_line_or_the_very_bytes(tmp_path: Path) -> None:
    good = zipped({MEASUREMENTS: LINE * 20, "status.json": b"{}"})
    rng = random.Random(6)
    outcomes = set()
    for number in range(500):
        data = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 5))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        (tmp_path / "data.zip").write_bytes(data[: rng.choice((len(data), len(data), rng.randrange(len(data))))])
        try:
            assert unpack(tmp_path / "data.zip") == LINE * 20, number
            outcomes.add("same")
        except UserError as error:
            outcomes.add("refused" if "\n" not in str(error) else "refused in lines")
    assert outcomes == {"same", "refused"}
