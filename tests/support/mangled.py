"""Files cut off and garbled: whoever reads them reads them or refuses them in one line, and never a traceback."""

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gate.commands.import_.command import lines as encoded
from gate.evidence.foreign import Placed, lines
from gate.evidence.lines import Inputs, Located
from gate.evidence.records import read as read_lines
from gate.formats.parts.reading import columns, named_alike, read, recognised
from gate.formats.parts.source import Source
from gate.model import UserError
from tests.support.foreign import files

TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\b(?:true|false|null)\b')
STRANGE = (
    b"-1", b"0", b"-0.0", b"1_000", b"nan", b"NaN", b"-inf", b"-Infinity", b"1e300", b"1e-320", b"1e999", b"9" * 40,
    b"1" + b"0" * 400, b"1" * 5000, b"true", b"null", b'""', b'"x"', b'"\\ud800"', b'"1e400"', b"[]", b"{}", b"[[]]",
    b'{"a":1}', b"", b"\0", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", "\u2028\u0661".encode(), b"\x1b[31m",
    b'"', b"{", b"[" * 20_000, b'{"a":' * 20_000, b"[" * 200 + b"]" * 200, b"\n", b"\r", b"\t", b": ", b",", b";",
    b"PASS\n", b"FAIL\n", b"Benchmark", b"goos: x\n", b"Unit\t\n", b"totals: ",
)  # fmt: skip
"""Bytes in place of a number, a text or a part."""
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**30, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "9" * 400, [], [None],
    ["x"], [[]], [{}], {}, {"a": {}},
)  # fmt: skip
"""In place of a value of JSON."""


def mangled(data: bytes, rounds: int, seed: object = 1) -> Iterator[bytes]:
    """Yield a file with its JSON changed, and with one to three of its bytes, numbers, texts, parts or lines."""
    draw = random.Random(str(seed))
    for _ in range(rounds):
        changed = _restructured(data, draw)
        if changed is not None:
            yield changed
        changed = data
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            changed = _garbled(changed, draw)
        yield changed


def _garbled(data: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(data) + 1), draw.choice((0, 1, 5, 50))
    kind = draw.randrange(7)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + draw.choice((*STRANGE, data[at : at + length] * 2)) + data[at + length :]
    if kind == 2:
        rows = data.split(b"\n")
        row = rows.pop(draw.randrange(len(rows)))
        # left out, or there twice
        rows[at % (len(rows) + 1) : 0] = [row, row] if at % 2 else []
        return b"\n".join(rows)
    if kind == 3:
        own = bytearray(data)
        for place in draw.choices(range(len(own)), k=5 if own else 0):
            own[place] = draw.choice((own[place] ^ 1 << draw.randrange(8), *b'"{}[],:;|<>/\0\xff e-0'))
        return bytes(own)
    found = list(TOKEN.finditer(data))
    token = draw.choice(found) if found else None
    return data[: token.start()] + draw.choice(STRANGE) + data[token.end() :] if token else data


def _restructured(data: bytes, draw: random.Random) -> bytes | None:
    """Give a JSON document, or one line of JSON lines, with another value at some key; None: it is none."""
    rows = data.split(b"\n") if data[:1] == b"{" and b"\n{" in data else [data]
    place = draw.randrange(len(rows))
    try:
        document = json.loads(rows[place])
    except (ValueError, RecursionError):
        return None
    # a key of all elements of a list is one place: most of a file is a few long lists
    places: dict[tuple[object, ...], list[tuple[Any, Any]]] = {}
    _find(document, (), places)
    for _ in range(draw.choice((1, 1, 2)) if places else 0):
        inside, key = draw.choice(places[draw.choice(list(places))])
        inside[key] = draw.choice(VALUES)
    rows[place] = json.dumps(document).encode()
    return b"\n".join(rows)


def _find(value: Any, where: tuple[object, ...], places: dict[tuple[object, ...], list[tuple[Any, Any]]]) -> None:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in parts:
        at = (*where, key if isinstance(value, dict) else 0)
        places.setdefault(at, []).append((value, key))
        _find(each, at, places)


def read_or_refuse(name: str, rounds: int, seed: int = 1) -> int:
    """Read what becomes of a format's files, whatever their content says; return how many were read, not refused."""
    count = 0
    with TemporaryDirectory() as folder:
        for number, (file, root) in enumerate(_alone(name, Path(folder))):
            whole = file.read_bytes()
            for place, each in enumerate(mangled(whole, rounds, (seed, file.name))):
                source = Source("x", None, each) if root is None else Source("x", root)
                if root is not None:
                    file.write_bytes(each)
                refused = ""
                try:
                    _measure(source, name if (number + place) % 3 else None)
                except UserError as error:
                    refused = str(error)
                assert refused.isprintable()
                assert len(refused) < 700
                count += not refused
            if root is not None:
                file.write_bytes(whole)
    return count


def _alone(name: str, copies: Path) -> Iterator[tuple[Path, Path | None]]:
    """Give a format's files, and those of a copy of each folder, with the folder: of many alike one."""
    for each in files(name):
        if each.is_file():
            yield each, None
            continue
        copy = copies / each.name
        shutil.copytree(each, copy)
        inside = {file.name: file for file in sorted(copy.rglob("*")) if file.is_file()}
        yield from ((file, copy) for file in inside.values())


def _measure(source: Source, wanted: str | None) -> None:
    """Read a result file, as lines of measurements that are read again."""
    recognised(source)
    reading = named_alike([read(source, wanted)])[0]
    for measured in reading.measured:
        assert measured.metrics
        assert all(len(metric.values) for metric in measured.metrics.values())
    for _, column in columns(reading):
        files: list[Placed] = [("base", column), ("head", column)]
        records = [Located(record, "x", 1) for part in lines(files) for record in part]
        read_lines("x", "".join(encoded(Inputs(records, [], []))).encode())
