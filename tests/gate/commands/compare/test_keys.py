"""Keys and filters: what --by, --rows, --ignore and --filter understand, and what they say of what they do not."""

import pytest

from gate.commands.compare.keys import Item, filter_of, keys_of, ordered, value_of, without
from gate.model import UserError

NAME = "BenchmarkEncode/format=json/512-8"
LABELS = {"goos": "linux", "pkg": "example.com/a", "n": 10}
ITEM = Item(NAME, LABELS, file="old.txt", label="old", side="head", metric="time", unit="s")


def test_a_key_gives_what_a_value_says() -> None:
    wanted = {"goos": "linux", "n": "10", "file": "old.txt", "label": "old", "side": "head", "metric": "time"}
    wanted |= {".unit": "s", "benchmark": NAME, ".fullname": NAME, ".name": "BenchmarkEncode"}
    wanted |= {"/format": "json", "/2": "512-8", "/gomaxprocs": "8"}
    assert {key: value_of(key, ITEM) for key in wanted} == wanted
    assert [value_of(key, ITEM) for key in ("goarch", "/size")] == [None] * 2


def test_keys_stand_with_commas_between_them_and_columns_come_in_the_order_of_their_values() -> None:
    assert keys_of("goos, /format") == ("goos", "/format")
    assert keys_of(None) == ()
    for wrong in ("goos,,pkg", ",x"):
        with pytest.raises(UserError, match="an empty key"):
            keys_of(wrong)
    values = [("b", "10"), ("a", "9"), ("a", "10"), ("b", "9")]
    assert ordered(values) == [("b", "10"), ("b", "9"), ("a", "10"), ("a", "9")]


def test_parts_of_names_that_are_columns_leave_the_row() -> None:
    assert without("Encode/format=json/512-8", keys_of("/format")) == "Encode/512-8"
    assert without("Encode/format=json/512-8", keys_of("/gomaxprocs")) == "Encode/format=json/512"
    assert without("Encode/format=json/512-8", keys_of("/2")) == "Encode/format=json-8"
    assert without("Encode/format=json-8", keys_of("/format")) == "Encode-8"
    assert without("Encode/format=json", keys_of("goos")) == "Encode/format=json"


# of golang.org/x/perf/benchproc/syntax: key:value, key:"value", key:/regexp/, key:(a OR b), -, AND
@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        (True, ["goos:linux", "-goos:darwin", "goos:(darwin OR linux)", 'goos:("linux")', '"goos":linux']),
        (True, ["goos:linux AND n:10", ".name:Encode", ".name:BenchmarkEncode", ".name:/Enc.*/", "/format:json"]),
        (True, ["pkg:/example.com\\/./", ".unit:s", ".unit:sec/op", ".unit:ns/op", ".file:old.txt"]),
        # an expression is of the whole value; what a value does not say is the empty word
        (True, ['goarch:""']),
        (False, ["goos:darwin", "goos:linux n:11", ".name:/Enc/", ".unit:B/op", '-goarch:""']),
    ],
)
def test_a_filter_is_read_as_benchstat_reads_it(wanted: bool, texts: list[str]) -> None:
    assert {text: filter_of(text).test(ITEM) for text in texts} == dict.fromkeys(texts, wanted)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", 1), ("goos", 1), ("goos:", 1), ("goos:(a", 1), ("goos:(a b)", 1), ('goos:"a', 1), ("(goos:a)", 1),
        ("goos:a)", 1), ("goos:a OR n:10", 8), ("goos:a AND", 8), ("*", 1),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_says_where(text: str, at: int) -> None:
    with pytest.raises(UserError) as caught:
        filter_of(text)
    assert str(caught.value).startswith(f"--filter {text}: expected KEY:VALUE")
    assert str(caught.value).endswith(f"at character {at}")


def test_a_filter_with_a_wrong_expression_is_refused() -> None:
    with pytest.raises(UserError, match="--filter goos:/\\(/: /\\(/ is not a regular expression"):
        filter_of("goos:/(/")
