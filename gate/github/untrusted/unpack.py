"""Takes the measurements out of a zip file that anybody may have made; nothing in it is ever written."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path

from gate.model import UserError

MEASUREMENTS = "measurements.jsonl"
LARGEST_ZIP = 30_000_000
"""Bytes."""
LARGEST = 100_000_000
"""Bytes of the measurements."""
MOST_MEMBERS = 1000

_LOCAL, _CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
# the fixed part of a member's header
_HEADER = 30
_ENCRYPTED = 0x1
# what zipfile and zlib raise over a file that is broken, or was broken on purpose
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError,
    LookupError, OverflowError,
)  # fmt: skip


class UnpackError(UserError):
    """A zip file that is not taken."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the artifact: {why}; nothing of it is used")


def unpack(zip_file: Path) -> bytes:
    """Return the measurements.jsonl at the root of a zip file.

    Refused are: more than LARGEST_ZIP bytes or MOST_MEMBERS members; a member that is absolute, climbs out, is a link,
    is encrypted or shares its bytes with another; measurements that are there twice, compressed otherwise than by
    deflate, larger than LARGEST when unpacked whatever is declared, or not what their checksum says.

    Raises:
        UserError: it is refused.
    """
    found = member(zip_file, MEASUREMENTS, LARGEST)
    if found is None:
        raise UnpackError(f"holds {MEASUREMENTS} nowhere at its root")
    return found


def member(zip_file: Path, name: str, most: int) -> bytes | None:
    """Return a file at the root of a zip file, of so many bytes at most; None: it has none of this name.

    Raises:
        UserError: it is refused, see unpack.
    """
    try:
        with os.fdopen(os.open(zip_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnpackError("is no file")
            data = file.read(LARGEST_ZIP + 1)
    except OSError as error:
        raise UserError(f"{zip_file}: cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_ZIP:
        raise UnpackError(f"is larger than {LARGEST_ZIP / 1e6:.0f} MB")
    if not data.startswith(_LOCAL):
        raise UnpackError("is not a zip file")
    # before zipfile makes an object of each
    if data.count(_CENTRAL) > MOST_MEMBERS:
        raise UnpackError(f"has more than {MOST_MEMBERS:,} members")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            found = [each for each in _refuse_all_strange(opened, len(data)) if each.filename == name]
            if len(found) > 1:
                raise UnpackError(f"holds {name} {len(found)} times")
            return _unpacked(opened, found[0], most) if found else None
    except _BROKEN as error:
        raise UnpackError(f"cannot be unpacked ({type(error).__name__})") from None


def _refuse_all_strange(opened: zipfile.ZipFile, size: int) -> list[zipfile.ZipInfo]:
    members = opened.infolist()
    if len(members) > MOST_MEMBERS:
        raise UnpackError(f"has more than {MOST_MEMBERS:,} members")
    for each in members:
        name = each.orig_filename
        parts = name.split("/")
        if name != each.filename or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]:
            raise UnpackError("has a member whose name points outside it")
        kind = stat.S_IFMT(each.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise UnpackError("has a member that is a link or a device")
        if each.flag_bits & _ENCRYPTED:
            raise UnpackError("has an encrypted member")
    places = [*sorted((each.header_offset, each.compress_size) for each in members), (size, 0)]
    for (begin, packed), (end, _) in pairwise(places):
        if begin < 0 or begin + _HEADER + packed > end:
            raise UnpackError("has members that overlap")
    return members


def _unpacked(opened: zipfile.ZipFile, each: zipfile.ZipInfo, most: int) -> bytes:
    if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnpackError("is compressed by another method than deflate")
    too_large = UnpackError(f"{each.filename} in it is larger than {most / 1e6:.0f} MB")
    if each.file_size > most:
        raise too_large
    with opened.open(each) as file:
        # what is declared may be a lie: the end is where it ends
        found = file.read(most + 1)
    if len(found) > most:
        raise too_large
    if len(found) != each.file_size:
        raise UnpackError(f"{each.filename} in it is not as long as it says")
    return found
