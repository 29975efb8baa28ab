"""The binary simulation.log of Gatling 3.12 and later, as its LogFileDataWriter writes it.

Integers are of 4 bytes, big-endian, and times relative to the start of the run. A text is its length, its bytes and a
coder: 0 for Latin-1, 1 for UTF-16; an empty one is only its length. A cached text is a new index with the text, or the
negative of an index that was there before.
"""

from __future__ import annotations

import re
from struct import Struct, error, unpack_from

from gate.adapters.values import OutputError
from gate.results.parts.gatling_records import GROUP_SEPARATOR, Run
from gate.results.source import Source

_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_BEGINS = re.compile(rb"\0\0\0\0[\x05-\x1e][0-9]+\.[0-9]+[.0-9A-Za-z-]*\0")
_CHUNK = 1 << 20
_ENOUGH = 1 << 16
"""Bytes that a record rarely needs more of."""
# no group, a cached name, start, end, OK or KO, a cached message: nearly all requests
_COMMON = Struct(">iiiiBi")
_USER_BYTES = 9
_UNENDED = -(1 << 31)


def begins(data: bytes) -> bool:
    """Return whether a file begins like such a log: with a run's record and the version of Gatling."""
    return _BEGINS.match(data) is not None


def run(source: Source) -> Run:
    """Read a log; what is cut off at its end is left out.

    Raises:
        OutputError: its first record is cut off, or one is of a kind that is not known.
    """
    reader = _Reader(source)
    reader.read()
    return reader.run


class _Reader:
    def __init__(self, source: Source) -> None:
        self.run = Run()
        self._source = source
        self._texts: dict[int, bytes] = {}
        self._data = b""
        self._at = 0

    def read(self) -> None:
        """Read record after record, from as much of the file as is needed."""
        with self._source.bytes_file() as file:
            ended = False
            place = 0
            while True:
                if not ended and len(self._data) - self._at < _ENOUGH:
                    more = file.read(_CHUNK)
                    ended = not more
                    self._data, self._at, place = self._data[self._at :] + more, 0, place + self._at
                if ended and self._at >= len(self._data):
                    break
                begin = self._at
                try:
                    self._record(place)
                except (error, IndexError):
                    self._at = begin
                    # a long text may need more than there was
                    more = b"" if ended else file.read(_CHUNK)
                    if not more:
                        break
                    self._data += more
        if not self.run.version:
            raise OutputError("the record of the run at its beginning is cut off")

    def _record(self, place: int) -> None:
        kind = self._data[self._at]
        self._at += 1
        if kind == _REQUEST:
            self._request()
        elif kind == _USER:
            self._skip(_USER_BYTES)
        elif kind == _GROUP:
            self._group()
        elif kind == _ERROR:
            self._cached()
            self._skip(4)
        elif kind == _RUN and not self.run.version:
            self._begin()
        else:
            raise OutputError(
                f"a record of kind {kind} at byte {place + self._at - 1}, which this perfgate does not know: "
                "use js/stats.json of the report, or the values of another tool"
            )

    def _begin(self) -> None:
        version = self._text()
        self._text()
        (start,) = unpack_from(">q", self._data, self._at)
        self._at += 8
        self._text()
        for _ in range(self._integer()):
            self._text()
        for _ in range(self._integer()):
            self._skip(self._integer())
        self.run.start, self.run.version = start, version.decode("utf-8", "replace")

    def _request(self) -> None:
        groups, name, start, end, ok, message = _COMMON.unpack_from(self._data, self._at)
        if groups == 0 and name < 0 and message < 0:
            self._at += _COMMON.size
            key = b"", self._texts[-name] if -name in self._texts else self._missing(name)
        else:
            path = self._path()
            key = path, self._cached()
            start, end, ok = unpack_from(">iiB", self._data, self._at)
            self._at += 9
            self._cached()
        # an end of the least number: the answer never came
        self.run.request(key, start, start if end == _UNENDED else end, ok=bool(ok) and end != _UNENDED)

    def _group(self) -> None:
        path = self._path()
        start, end, cumulated, ok = unpack_from(">iiiB", self._data, self._at)
        self._at += 13
        self.run.group(path, start, end, cumulated, ok=bool(ok))

    def _path(self) -> bytes:
        return GROUP_SEPARATOR.join(self._cached().replace(GROUP_SEPARATOR, b" ") for _ in range(self._integer()))

    def _cached(self) -> bytes:
        index = self._integer()
        if index >= 0:
            text = self._texts[index] = self._text()
            return text
        return self._texts[-index] if -index in self._texts else self._missing(index)

    def _missing(self, index: int) -> bytes:
        raise OutputError(f"text {-index} is used before it is written: the file is damaged")

    def _text(self) -> bytes:
        length = self._integer()
        if length == 0:
            return b""
        if length < 0:
            raise OutputError("a text of a negative length: the file is damaged")
        data = self._data[self._at : self._at + length]
        self._at += length
        coder = self._data[self._at]
        self._at += 1
        # the order of the bytes of UTF-16 is the machine's, and all that Gatling runs on are little-endian
        return data.decode("utf-16-le" if coder else "latin-1", "replace").encode()

    def _integer(self) -> int:
        value: int = unpack_from(">i", self._data, self._at)[0]
        self._at += 4
        return value

    def _skip(self, count: int) -> None:
        if count < 0:
            raise OutputError("a length below 0: the file is damaged")
        self._at += count
        if self._at > len(self._data):
            raise IndexError
