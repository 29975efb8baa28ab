"""A result file of another tool: its beginning, its lines, its JSON; unpacked and decoded."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from gate.formats.parts.json_text import JsonPiece, closed, documents, is_cut_off, parse_json, parsed
from gate.formats.parts.output import OutputError
from gate.model import UserError
from gate.writing.phrases import unread
from gate.writing.plain import visible

T = TypeVar("T")
BEGINNING = 1 << 18
"""Bytes by which a format is recognised."""
_LONGEST = 200
"""Characters of what is wrong with a file."""
_SMALL = 1 << 26
"""Bytes of a file up to which documents are looked for in it."""
GZIP = b"\x1f\x8b"
"""The first bytes of what is packed."""
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Head:
    """The beginning of a file, by which its format is recognised."""

    def __init__(self, data: bytes, *, whole: bool) -> None:
        """Keep the beginning; whole: there is no more."""
        self.data, self.whole = data, whole

    @cached_property
    def text(self) -> str:
        """It as text, without a byte order mark and colours, with plain newlines; what is no text replaced."""
        text = _COLOUR.sub("", self.data.decode(_encoding(self.data), "replace"))
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """Its lines that are not blank; the last may be cut off."""
        return [line for line in self.text.split("\n") if line.strip()]

    @cached_property
    def json(self) -> Any:
        """The JSON document that it begins, as far as it goes; None where it is none, or JSON lines."""
        text = self.text.lstrip()
        if not text.startswith(("{", "[")) or self.json_lines:
            return None
        whole = parsed(text) if self.whole else None
        # a file that was cut off, by a crash or a full disk, is still one of its format
        return closed(text) if whole is None else whole

    def element(self, *keys: str) -> dict[str, Any]:
        """Give the first element of a list in the JSON, by the keys that lead there; {} where it is no object."""
        found = self.json
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        first = found[0] if isinstance(found, list) and found else None
        return first if isinstance(first, dict) else {}

    @cached_property
    def json_lines(self) -> list[dict[str, Any]]:
        """The objects of its lines, where each line is one and there are several; otherwise empty."""
        lines = self.lines
        # the last one may be cut off, here or in the file
        if not self.whole or (len(lines) > 1 and not lines[-1].rstrip().endswith("}")):
            lines = lines[:-1]
        if not lines or not lines[0].lstrip().startswith("{") or not lines[0].rstrip().endswith("}"):
            return []
        found = [parsed(line) for line in lines[:50]]
        several = len(self.lines) > 1 or not self.whole
        return found if several and all(isinstance(each, dict) for each in found) else []


class Source:
    """A file, or a folder of files that one tool wrote; a UserError says that it cannot be read or unpacked."""

    def __init__(
        self, name: str, path: Path | None, data: bytes | None = None, *, place: str = "", beginning: int | None = None
    ) -> None:
        """Name a file as the user did; data: what it holds, where it is no file (standard input, a git object).

        beginning: bytes by which it is recognised. place: in the file, such as "line 41"; "": it is the whole.
        """
        self.name = name
        self.full_name = f"{name}, from {place}" if place else name
        """For messages."""
        self.path = path
        self.taken_whole = False
        """Whether it was read as one JSON document, and not line by line."""
        self._data = data
        self._beginning = BEGINNING if beginning is None else beginning
        self.is_folder = data is None and path is not None and path.is_dir()
        self.unended = False
        """The line that was read last has no newline at its end, as that of a file that was cut off."""
        self._line: int | None = None
        """What is being read."""

    @property
    def at(self) -> str:
        """Where it is being read, for the beginning of a message: "line 12: "; "" where nobody knows."""
        return "" if self._line is None else f"line {self._line}: "

    @cached_property
    def head(self) -> Head:
        """Its beginning; of a folder nothing."""
        if self.is_folder:
            return Head(b"", whole=True)
        with self._open() as file:
            data = file.read(self._beginning + 1)
        return Head(data[: self._beginning], whole=len(data) <= self._beginning)

    def whole(self) -> bytes:
        """Read all of its bytes, unpacked."""
        with self._open() as file:
            return file.read()

    def bytes_lines(self) -> Iterator[bytes]:
        """Yield its lines in UTF-8, without their ends and colours; one after the other."""
        encoding = _encoding(self.head.data)
        if encoding != "utf-8":
            yield from (text.encode() for text in self.lines())
            return
        with self._open() as file:
            for raw in self._placed(file):
                line, self.unended = raw.rstrip(b"\r\n"), raw[-1:] != b"\n"
                if b"\x1b" in line:
                    line = _COLOUR.sub("", line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                yield line

    def lines(self) -> Iterator[str]:
        """Yield its lines as text, without their ends and colours; what is no text replaced."""
        with self._open() as file, io.TextIOWrapper(file, _encoding(self.head.data), "replace") as text:
            for line in self._placed(text):
                self.unended = line[-1:] != "\n"
                yield _COLOUR.sub("", line.rstrip("\n")) if "\x1b" in line else line.rstrip("\n")

    def _placed(self, lines: Iterable[T]) -> Iterator[T]:
        for self._line, line in enumerate(lines, 1):
            yield line
        self._line = None

    def raw_lines(self) -> Iterator[str]:
        """Yield its lines with their own ends, as the csv module wants them, and an XML parser takes them."""
        with self._open() as file, io.TextIOWrapper(file, _encoding(self.head.data), "replace", newline="") as text:
            yield from self._placed(text)

    def text(self) -> str:
        """Read all of it as text with plain newlines."""
        data = self.whole()
        return data.decode(_encoding(data), "replace").replace("\r\n", "\n").replace("\r", "\n")

    def documents(self) -> list[JsonPiece]:
        """Find the JSON documents of a file that is more than one; empty where it is one, has none, or is large.

        Raises: OutputError: what begins like a document is not valid, by its line.
        """
        size = self.path.stat().st_size if self._data is None and self.path is not None else len(self._data or b"")
        if self.is_folder or size > _SMALL:
            return []
        text = self.text()
        found = documents(text)
        return [] if [each.text for each in found] == [text.strip()] else found

    def document(self, shape: type[T], what: str) -> T:
        """Read it as one JSON document: of the shape only what it names, NaN and Infinity as Python writes them.

        Raises: OutputError: it is no JSON, or not of the shape, named as `what` it should be.
        """
        self.taken_whole = True
        is_plain = _encoding(self.head.data) == "utf-8"
        try:
            return msgspec.json.decode(self.whole() if is_plain else self.text(), type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            # an integer where the shape has a float beyond 64 bits, or text of NaN: the slow reader knows better
            first = error
        try:
            return msgspec.convert(parse_json(self.text()), shape, strict=False)
        except (ValueError, RecursionError) as error:
            shown = error if isinstance(error, msgspec.ValidationError) else first
            if isinstance(error, json.JSONDecodeError) and is_cut_off(self.text()):
                raise OutputError(f"{what} is cut off: copy the file again, or measure again") from None
            raise OutputError(f"{what} is not as expected: {visible(str(shown)).replace('`', '')}") from None

    def _open(self) -> IO[bytes]:
        self._line = None
        try:
            if self._data is None and self.path is None:
                self._data = sys.stdin.buffer.read()
            plain = self.path if self._data is None else None
            raw: IO[bytes] = plain.open("rb") if plain is not None else io.BytesIO(self._data or b"")
        except OSError as error:
            raise UserError(f"{self.name}: {unread(error)}") from None
        if not raw.seekable():
            raw.close()
            raise UserError(
                f"{self.name}: is a pipe, which can be read only once: write it to a file, or to standard input (-)"
            )
        if raw.read(2) != GZIP:
            raw.seek(0)
            return raw
        raw.seek(0)
        return io.BufferedReader(_Unpacked(self.name, raw))


def guarded(results: Iterable[T], source: Source) -> Iterator[T]:
    """Yield what a reader yields of a source; the bytes are of somebody else, so whatever they lead to is said of them.

    Raises:
        OutputError: the source cannot be read, with its line or place.
        UserError: it cannot be opened or unpacked.
        OSError: as the reader raises it.
    """
    try:
        yield from results
    except (UserError, OutputError, OSError, MemoryError):
        raise
    except Exception as error:
        if os.environ.get("PERFGATE_TRACEBACK") or isinstance(error.__cause__, KeyboardInterrupt):
            raise
        kind = "" if isinstance(error, (ValueError, csv.Error)) else f"{type(error).__name__}, "
        why = f"{kind}{visible(str(error))}"[:_LONGEST].replace("`", "")
        raise OutputError(f"{source.at}something in it is not as the tool writes it: {why}") from None


class _Unpacked(io.RawIOBase):
    """A gzip file, unpacked as it is read, whose errors name it."""

    def __init__(self, name: str, raw: IO[bytes]) -> None:
        self._name = name
        self._raw = raw
        self._file = gzip.GzipFile(fileobj=raw)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            data = self._file.read1(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise UserError(f"{self._name}: looks like a gzip file but cannot be unpacked: copy it again") from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _encoding(data: bytes) -> str:
    return next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), "utf-8")
