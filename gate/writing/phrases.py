"""Parts of sentences: names in a row, and how many more there are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from gate.writing.plain import clip, distinct, visible
from gate.writing.units import agree, plural

_NEAR = 0.7
"""How alike a name is at least that is likely meant."""


def listed(names: Sequence[str], most: int = 3, *, between: str = ", ") -> str:
    """Name so many at most: "a, b, c and 2 more"."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def none_of(given: str, known: Iterable[str]) -> str:
    """Say that a name or glob matches none, and what may be meant: "matches none of parse-a, parse-b and 58 more"."""
    from difflib import get_close_matches  # late: only a mistake needs it

    names = [*known]
    near = get_close_matches(given.strip("*"), names, 1, _NEAR)
    if near or not names:
        return f"matches nothing: {f'did you mean {near[0]}?' if near else 'there are none'}"
    return f"matches none of {most_alike(given, names)}"


def most_alike(given: str, known: Iterable[str], most: int = 5) -> str:
    """Name all that is known, or of much what is most like a word: "parse-a, parse-b and 58 more"."""
    from difflib import SequenceMatcher  # late: only a mistake needs it

    word, alike = given.strip("*").lower(), SequenceMatcher(autojunk=False)
    alike.set_seq2(word)

    def apart(name: str) -> tuple[bool, float]:
        alike.set_seq1(name.lower())
        return word not in name.lower(), -alike.ratio()

    names = list(dict.fromkeys(known))
    return listed(sorted(names, key=apart) if len(names) > most else names, most)


def unread(error: OSError | ValueError) -> str:
    """Say why a file cannot be read: "no such file", "is a folder, not a file", "cannot be read: it is not UTF-8"."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, ValueError):
        return "cannot be read: it is not UTF-8"
    return f"cannot be read: {visible(error.strerror or str(error)).lower()}"


def joined(names: Sequence[str], most: int = 4) -> str:
    """Name all, or of many the first few: "a, b and c", "a, b, c and 2 more"."""
    if len(names) > most:
        return listed(names, most - 1)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def more_are(count: int, noun: str = "") -> str:
    """Begin a sentence about what is left out: "1 more is", "3 more notes are"."""
    what = plural(count, f"more {noun}") if noun else f"{count:,} more"
    return f"{what} {agree(count, 'is', 'are')}"


def toml_text(value: object) -> str:
    """Write a text, a number, a list or a table as perfgate.toml has it, on one line; None: "(none)"."""
    if value is None:
        return "(none)"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{dotted([str(key)])} = {toml_text(own)}' for key, own in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_text, value))}]"
    # JSON's strings, numbers and words are TOML's, but JSON leaves DEL as it is
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_HOST, _NAME = 40, 60
"""Columns of names."""


def machine(session: int, host: str | None) -> str:
    """Name a machine: "session 0 (ci-arm-1)", "session 0" where its name is not known."""
    return f"session {session}{f' ({clip(visible(host), _HOST)})' if host else ''}"


def named(names: Sequence[str], most: int) -> str:
    """Name so many of a list at most: "a, b, c and 2 more"."""
    return listed(distinct([*map(visible, names)], _NAME), most)


def dotted(path: Sequence[str | int]) -> str:
    """Write a path as people do: benchmark[0].metric.latency."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            quoted = key if key.replace("-", "").replace("_", "").isalnum() else json.dumps(key, ensure_ascii=False)
            text += f".{quoted}" if text else quoted
    return text


def counted(words: Iterable[str], more: Collection[str] = ()) -> list[str]:
    """Count the words of verdicts, as they come: "2 regressions", "24 too noisy"; more: those shown already."""
    return [f"{count:,} {'more ' * (word in more)}{plural_of(word, count)}" for word, count in Counter(words).items()]


def plural_of(word: str, count: int) -> str:
    """Write the word of a verdict for so many: "regressions", "too noisy"."""
    return f"{word}{'s' * (count > 1 and word in ('regression', 'improvement'))}"
