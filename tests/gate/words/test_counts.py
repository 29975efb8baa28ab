"""Nouns and verbs agree with their counts: every sentence, rendered with counts of 1."""

import re
from typing import Any

import msgspec

from tests.gate.words.test_reasons import HEADLINES, REASONS
from tests.gate.words.warnings.test_warnings import EXAMPLES

_DISAGREES = re.compile(
    r"\b1 (?:more |planned |measured )?(?!is\b|lacks\b|was\b|has\b|lies\b|fits\b|s\b|this\b|less\b|us\b)[a-z]+s\b(?! at\b)|\b1 (?:are|were|have|fit)\b|there are 1\b"
)
"""A count of 1 with a noun or a verb of many."""


def with_ones(value: Any) -> Any:
    """Set every whole number of a sentence to 1."""
    if isinstance(value, msgspec.Struct):
        fields = {name: with_ones(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, (list, tuple)):
        return type(value)(map(with_ones, value))
    return 1 if type(value) is int else value


SENTENCES = [
    *[with_ones(warning).sentence() for examples in EXAMPLES.values() for warning, _ in examples],
    *[with_ones(reason).sentence() for reason, _ in (*REASONS, *HEADLINES)],
]


def test_a_count_of_one_has_a_noun_of_one() -> None:
    assert [sentence for sentence in SENTENCES if _DISAGREES.search(sentence)] == []
