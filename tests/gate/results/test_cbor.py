"""CBOR: examples of RFC 8949, appendix A, and what is none."""

import math
from typing import Any

import pytest

from gate.adapters.values import OutputError
from gate.results.parts.cbor import decode


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("00", 0), ("1864", 100), ("1a000f4240", 1000000), ("1bffffffffffffffff", 18446744073709551615), ("3903e7", -1000),
        ("f90001", 5.960464477539063e-08), ("f93e00", 1.5), ("fa47c35000", 100000.0), ("fb3ff199999999999a", 1.1),
        ("f97c00", math.inf), ("f4", False), ("f5", True), ("f6", None), ("4401020304", b"\1\2\3\4"), ("6449455446", "IETF"),
        ("63e6b0b4", "水"), ("83010203", [1, 2, 3]), ("a26161016162820203", {"a": 1, "b": [2, 3]}),
        ("5f42010243030405ff", b"\1\2\3\4\5"), ("7f657374726561646d696e67ff", "streaming"), ("9fff", []),
        ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}), ("c11a514b67b0", 1363896240),
    ],
)  # fmt: skip
def test_values(data: str, value: Any) -> None:
    assert decode(bytes.fromhex(data), "x") == value


@pytest.mark.parametrize(
    "data", ["", "18", "62c3", "62ffff", "8301", "a161", "1c", "9f01", "bf01ff", "ff" * 3, "81" * 99]
)
def test_what_is_none(data: str) -> None:
    with pytest.raises(OutputError, match="x is not as expected, or cut off"):
        decode(bytes.fromhex(data), "x")
