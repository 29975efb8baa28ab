"""What a report warns of and gives for reasons, by kind."""

from collections.abc import Iterable

from gate.model.reasons import Because
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.writing.sentences import Sentence


def kind(said: Sentence) -> str:
    return said.what if isinstance(said, Said | Because) else str(type(said).__struct_config__.tag)


def kinds(warnings: Iterable[AnyWarning]) -> list[str]:
    return [kind(each) for each in warnings]


def texts(warnings: Iterable[AnyWarning], of: str) -> list[str]:
    """The sentences of one kind."""
    return [each.sentence() for each in warnings if kind(each) == of]
