"""Keys of values: what --by, --rows, --ignore, --group and --filter can name, and what a value says of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gate.model import UserError
from gate.writing.plain import visible

Value = tuple[str | None, ...]
"""Of each key of --by what a value says."""
FULL = ("benchmark", "fullname", ".fullname")
"""How the whole name is called."""
_SHORT = ("name", ".name")
FIXED = ("benchmark", "name", "file", "label", "side", "metric", "unit")
"""Keys that every value has."""
_ALIASES = {
    "time": ("sec/op", "ns/op", "s/op"), "memory": ("B/op", "bytes/op"), "throughput": ("B/s", "MB/s"),
}  # fmt: skip
"""What benchstat calls a metric."""
_PROCS = re.compile(r"-(\d+)$")
_MOST_NAMED = 30


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


def keys_of(text: str | None) -> tuple[str, ...]:
    """Read keys with commas between them: "goos", "/format". Raises UserError: an empty one."""
    keys = tuple(key.strip() for key in text.split(",")) if text else ()
    if "" in keys:
        raise UserError(f"{text}: an empty key: write KEY,KEY")
    return keys


def is_of_name(key: str) -> bool:
    """Return whether a key is a part of the benchmark's name, or all of it."""
    return key in (*FULL, *_SHORT) or key.startswith("/")


def value_of(key: str, item: Item) -> str | None:
    """Give what an item says of a key in one word, the usual one; None: nothing."""
    return next(iter(_values(key, item)), None)


def ordered(values: Sequence[Value]) -> list[Value]:
    """Put columns in the order in which the values of their first key come, then of their second."""
    first = [list(dict.fromkeys(own)) for own in zip(*values, strict=True)]
    return sorted(values, key=lambda each: [come.index(value) for value, come in zip(each, first, strict=True)])


def require_known(keys: Sequence[str], items: Sequence[Item], option: str) -> None:
    """Refuse a key of which no value says anything. Raises UserError: it names the keys that there are."""
    for key in keys:
        if not any(_values(key, item) for item in items):
            raise UserError(f"{option} {visible(key)}: no value has this key; there are {', '.join(known(items))}")


def known(items: Sequence[Item]) -> list[str]:
    """Name all keys that items have."""
    parts = {f"/{part}" for item in items for part in _sub_names(item.benchmark)}
    labels = {visible(name) for item in items for name in item.labels}
    found = [*FIXED, *sorted(parts), *sorted(labels - {*FIXED, *parts})]
    return found if len(found) <= _MOST_NAMED else [*found[:_MOST_NAMED], "..."]


def without(benchmark: str, keys: Iterable[str]) -> str:
    """Take the parts of a name away that are columns, or are to be ignored: "/format=gob", "/gomaxprocs"."""
    names = {key[1:] for key in keys if key.startswith("/")}
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
    if name in FULL or name in _SHORT:
        called = item.benchmark if name in FULL else _PROCS.sub("", item.benchmark.partition("/")[0])
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


_QUOTED = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf'(?:{_QUOTED}|/(?:[^/\\]|\\.)*/|[^\s()":]+)'
_TERM = re.compile(
    rf'\s*(?:AND\s+)?(?P<without>-?)(?P<key>{_QUOTED}|[^\s()":*-][^\s()":]*):'
    rf"(?:\(\s*(?P<several>{_VALUE}(?:\s+OR\s+{_VALUE})*)\s*\)|(?P<one>{_VALUE}))(?=\s|$)"
)


class Filter(msgspec.Struct, frozen=True):
    """What must be so of an item, all of it."""

    text: str
    keys: tuple[str, ...]
    test: Callable[[Item], bool]
    """Whether an item is wanted."""


def filter_of(text: str) -> Filter:
    """Read terms KEY:VALUE with blanks between them. Raises UserError: one that is none; it says at which character."""
    keys: list[str] = []
    tests: list[Callable[[Item], bool]] = []
    at = 0
    while not keys or text[at:].strip():
        match = _TERM.match(text, at)
        if match is None:
            at = len(text) - len(text[at:].lstrip())
            wanted = "KEY:VALUE, KEY:/REGEXP/ or KEY:(A OR B)"
            raise UserError(f"--filter {text}: expected {wanted}, with - before it or without, at character {at + 1}")
        keys.append(_word(match["key"]))
        tests.append(_term(text, match, keys[-1]))
        at = match.end()
    return Filter(text, tuple(keys), lambda item: all(test(item) for test in tests))


def _term(text: str, match: re.Match[str], key: str) -> Callable[[Item], bool]:
    wanted: list[str | re.Pattern[str]] = []
    for value in re.findall(_VALUE, match["several"] or match["one"]):
        if len(value) > 1 and value[0] == value[-1] == "/":
            try:
                wanted.append(re.compile(value[1:-1].replace(r"\/", "/")))
            except re.error as error:
                raise UserError(f"--filter {text}: {value} is not a regular expression: {error}") from None
        elif value != "OR":
            wanted.append(_word(value))

    def test(item: Item) -> bool:
        # what nobody says is the empty word; an expression is of the whole value, as benchstat has it
        own = _values(key, item) or ("",)
        found = any(each == w if isinstance(w, str) else w.fullmatch(each) for each in own for w in wanted)
        return found != bool(match["without"])

    return test


def _word(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
