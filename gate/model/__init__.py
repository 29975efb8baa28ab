"""The nouns of perfgate: frozen types with the sentences that are told of them, without I/O.

From the lines of measurements.jsonl (what passes from harness to gate) to the Report whose fields are the keys of
report.json. A module is imported with the first of its nouns: the command line needs next to none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gate.model.evidence import *  # noqa: F403
    from gate.model.names import *  # noqa: F403
    from gate.model.reasons import Accepted as Accepted
    from gate.model.records import *  # noqa: F403
    from gate.model.report import *  # noqa: F403
    from gate.model.sameness import Proof as Proof
    from gate.model.sameness import Unproved as Unproved
    from gate.model.sameness import UnprovedKind as UnprovedKind

_MODULES = ("names", "sameness", "records", "evidence", "reasons", "report")
"""From light to heavy, each with what the ones after it are made of."""


def __getattr__(name: str) -> Any:
    # nouns are written with a capital, modules are not
    for module in _MODULES if name[:1].isupper() else ():
        noun = getattr(import_module(f"{__name__}.{module}"), name, None)
        if noun is not None:
            globals()[name] = noun
            return noun
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
