"""Keys of values: what --by, --rows, --ignore, --group and --filter can name, and what a value says of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from gate.model import UserError
from gate.writing.plain import visible

Value = tuple[str | None, ...]
"""Of each key of --by what a value says."""
_FULL = ("benchmark", "fullname", ".fullname")
_SHORT = ("name", ".name")
FIXED = ("benchmark", "name", "file", "label", "side", "metric", "unit")
"""Keys that every value has."""
_ALIASES = {
    "time": ("sec/op", "ns/op", "s/op"), "memory": ("B/op", "bytes/op"), "throughput": ("B/s", "MB/s"),
}  # fmt: skip
"""What benchstat calls a metric."""
_PROCS = re.compile(r"-(\d+)$")
_MOST_NAMED = 30
_ONE = re.compile(
    r"\s*(?P<name>[^,@~\s]+)\s*(?:@(?:\((?P<values>[^()]*)\)|(?P<order>first|alpha|num)))?\s*(?P<end>,|~|$)"
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class Item(msgspec.Struct, frozen=True):
    """One value, or the values of one metric, as its keys see it."""

    benchmark: str
    labels: Mapping[str, Any]
    """What the file says of it, and its settings."""
    file: str = ""
    label: str = ""
    side: str = ""
    metric: str = ""
    unit: str = ""


class Key(msgspec.Struct, frozen=True):
    """A key as the user wrote it: "goos", "/format", ".name", or "benchmark~REGEXP" for a part of one."""

    text: str
    name: str
    pattern: re.Pattern[str] | None = None
    order: str = "first"
    """Of its values as columns: as they come ("first"), by their text ("alpha") or by their number ("num")."""
    wanted: tuple[str, ...] = ()
    """Those that are columns, in this order; (): all."""

    @property
    def of_name(self) -> bool:
        """Return whether it is a part of the benchmark's name, or all of it."""
        return self.name in (*_FULL, *_SHORT) or self.name.startswith("/")

    def values(self, item: Item) -> tuple[str, ...]:
        """Give what an item says of it, the usual word first; () where it says nothing."""
        found = _values(self.name, item)
        if self.pattern is None:
            return found
        matches = (match for each in found if (match := self.pattern.search(each)))
        # what its groups match, or all that it does where it has no group
        return tuple(" ".join(g for g in m.groups() if g is not None) if m.re.groups else m[0] for m in matches)

    def value(self, item: Item) -> str | None:
        """Give what an item says of it in one word; None: nothing."""
        return next(iter(self.values(item)), None)


def key_of(text: str) -> Key:
    """Read one key. Raises UserError: a regular expression that is none."""
    name, tilde, pattern = text.partition("~")
    if not tilde:
        return Key(text, text)
    try:
        return Key(text, name, re.compile(pattern))
    except re.error as error:
        raise UserError(f"{text}: not a regular expression: {error}") from None


def keys_of(text: str | None) -> tuple[Key, ...]:
    """Read keys with commas between them: "goos", "/format@(gob json)", "n@num"; a regular expression is the last one.

    Raises:
        UserError: a regular expression that is none, an empty key, or an order that is none.
    """
    found: list[Key] = []
    at, end = 0, len(text or "")
    while text and (at < end or text.endswith(",")):
        match = _ONE.match(text, at)
        if match is None:
            raise UserError(f"{text}: an empty key, or an order that is none: write KEY,KEY or KEY@(VALUE VALUE)")
        if match["end"] == "~":
            return (*found, key_of(text[match.start("name") :]))
        order, values = match["order"] or "first", match["values"]
        found.append(Key(match[0].strip(" ,"), match["name"], None, order, tuple((values or "").split())))
        at = match.end()
        if match["end"] != ",":
            break
    return tuple(found)


def ordered(values: Sequence[Value], keys: Sequence[Key]) -> list[Value]:
    """Put the values of some keys in the order that these ask for, without those that they do not want."""
    kept = [each for each in values if all(not k.wanted or v in k.wanted for v, k in zip(each, keys, strict=True))]
    first = [list(dict.fromkeys(own)) for own in zip(*kept, strict=True)]

    def place(value: str | None, key: Key, come: Sequence[str | None]) -> tuple[float, str]:
        if key.wanted:
            return key.wanted.index(value or ""), ""
        number = _NUMBER.search(value or "") if key.order == "num" else None
        if key.order == "first":
            return come.index(value), ""
        return (float(number[0]) if number else math.inf if key.order == "num" else 0.0), value or ""

    return sorted(kept, key=lambda each: [place(*own) for own in zip(each, keys, first, strict=True)])


def require_known(keys: Sequence[Key], items: Sequence[Item], option: str) -> None:
    """Refuse a key of which no value says anything. Raises UserError: it names the keys that there are."""
    for key in keys:
        if not any(_values(key.name, item) for item in items):
            raise UserError(f"{option} {visible(key.text)}: no value has this key; there are {', '.join(known(items))}")
        if key.pattern is not None and not any(key.values(item) for item in items):
            raise UserError(f"{option} {visible(key.text)}: the expression matches no {key.name}")


def known(items: Sequence[Item]) -> list[str]:
    """Name all keys that items have."""
    parts = {f"/{part}" for item in items for part in _sub_names(item.benchmark)}
    labels = {visible(name) for item in items for name in item.labels}
    found = [*FIXED, *sorted(parts), *sorted(labels - {*FIXED, *parts})]
    return found if len(found) <= _MOST_NAMED else [*found[:_MOST_NAMED], "..."]


def without(benchmark: str, keys: Iterable[Key]) -> str:
    """Take the parts of a name away that are columns, or are to be ignored: "/format=gob", "/gomaxprocs"."""
    names = {key.name[1:] for key in keys if key.name.startswith("/")}
    if not names:
        return benchmark
    # the number of processors belongs to the whole name, not to its last part
    procs = _PROCS.search(benchmark)
    first, *parts = (benchmark[: procs.start()] if procs else benchmark).split("/")
    called = ((part.partition("=")[0] if "=" in part else str(place), part) for place, part in enumerate(parts, 1))
    kept = [part for name, part in called if name not in names]
    end = procs[0] if procs and "gomaxprocs" not in names else ""
    return "/".join([first, *kept]) + end


def _values(name: str, item: Item) -> tuple[str, ...]:
    if name in _FULL or name in _SHORT:
        called = item.benchmark if name in _FULL else _PROCS.sub("", item.benchmark.partition("/")[0])
        # benchstat names Go's benchmarks without the word
        return tuple(dict.fromkeys((called, called.removeprefix("Benchmark"))))
    if name in ("unit", ".unit"):
        return tuple(dict.fromkeys(filter(None, (item.unit, item.metric, *_ALIASES.get(item.metric, ())))))
    fixed = {".file": item.file, "file": item.file, "label": item.label, "side": item.side, "metric": item.metric}
    if name in fixed:
        return tuple(filter(None, (fixed[name],)))
    if name.startswith("/"):
        own = _sub_names(item.benchmark).get(name[1:])
        if own is not None or name != "/gomaxprocs":
            return () if own is None else (own,)
        name = "gomaxprocs"
    return (str(item.labels[name]),) if name in item.labels else ()


def _sub_names(benchmark: str) -> dict[str, str]:
    """Read the parts behind the first of a name: "/format=gob" by its key, others by their place from 1."""
    found: dict[str, str] = {}
    _, *parts = benchmark.split("/")
    procs = _PROCS.search(benchmark)
    for place, part in enumerate(parts, 1):
        own = _PROCS.sub("", part) if procs and place == len(parts) and "=" in part else part
        name, equals, value = own.partition("=")
        found[name if equals else str(place)] = value if equals else own
    if procs:
        found.setdefault("gomaxprocs", procs[1])
    return found


Test = Callable[[Item], bool]
_ENDS = r'(?![^\s()":])'
_AND, _OR = rf"AND{_ENDS}", rf"OR{_ENDS}"
_QUOTED, _WORD = r'"(?P<quoted>(?:[^"\\]|\\.)*)"', r'(?P<word>[^\s()":*][^\s()":]*)'
_KEY = rf"{_QUOTED}|(?!(?:AND|OR){_ENDS}){_WORD}"
_VALUE = rf"{_QUOTED}|/(?P<regexp>(?:[^/\\]|\\.)*)/|{_WORD}"


class Filter(msgspec.Struct, frozen=True):
    """An expression, and the keys that it names."""

    text: str
    keys: tuple[Key, ...]
    test: Test
    """Whether an item is wanted."""


def filter_of(text: str) -> Filter:
    """Read an expression. Raises UserError: it cannot be read; the message says at which character."""
    reader = _Reader(text)
    test = reader.either()
    if text[reader.at :].strip():
        reader.fail("a key or the end")
    return Filter(text, tuple(reader.keys), test)


def _word(match: re.Match[str]) -> str:
    return str(match["word"]) if match["quoted"] is None else re.sub(r"\\(.)", r"\1", match["quoted"])


class _Reader:
    """Reads an expression from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: list[Key] = []

    def either(self) -> Test:
        tests = [self.all_of()]
        while self.take(_OR):
            tests.append(self.all_of())
        return lambda item: any(test(item) for test in tests)

    def all_of(self) -> Test:
        tests = [self.one()]
        while self.text[self.at :].strip() and not self.take(rf"(?=\)|{_OR})"):
            self.take(_AND)
            tests.append(self.one())
        return lambda item: all(test(item) for test in tests)

    def one(self) -> Test:
        if self.take(r"-(?=[^\s-])"):
            test = self.one()
            return lambda item: not test(item)
        if self.take(r"\*"):
            return lambda _: True
        if self.take(r"\("):
            inner = self.either()
            self.need(r"\)", '")"')
            return inner
        name = _word(self.need(_KEY, "a key"))
        key = key_of(name)
        self.need(":", '":" after the key')
        self.keys.append(key)
        several = self.take(r"\(")
        tests = [self.value()]
        while several and not self.take(r"\)"):
            if not self.take(_OR):
                self.need(_VALUE, '"OR" or ")"')
                raise UserError(f'--filter {self.text}: write "OR" between the values in parentheses: {name}:(A OR B)')
            tests.append(self.value())
        # what nobody says is the empty word
        return lambda item: any(test(value) for value in key.values(item) or ("",) for test in tests)

    def value(self) -> Callable[[str], bool]:
        match = self.need(_VALUE, "a value")
        if match["regexp"] is None:
            wanted = _word(match)
            return lambda text: text == wanted
        try:
            pattern = re.compile(match["regexp"].replace(r"\/", "/"))
        except re.error as error:
            raise UserError(f"--filter {self.text}: {match[0]} is not a regular expression: {error}") from None
        # from the beginning to the end of the value, as benchstat has it
        return lambda text: pattern.fullmatch(text) is not None

    def take(self, pattern: str) -> re.Match[str] | None:
        """Go over a pattern, and the blanks before it, if it stands here."""
        match = re.compile(rf"\s*(?:{pattern})").match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def need(self, pattern: str, wanted: str) -> re.Match[str]:
        match = self.take(pattern)
        if match is None and self.text[self.at :].lstrip().startswith('"'):
            self.at, wanted = len(self.text), "a closing quote"
        return match or self.fail(wanted)

    def fail(self, wanted: str) -> NoReturn:
        raise UserError(f"--filter {self.text}: expected {wanted} at character {self.at + 1}")
