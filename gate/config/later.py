"""Tables of the configuration that the format names and this version does not have yet."""

from __future__ import annotations

from gate.config.source import Source


def refuse_later(source: Source) -> None:
    """Refuse what a later version brings, by that name rather than as an unknown key.

    Raises:
        ConfigError: "not in this version".
    """
    if "study" in source.tables:
        raise source.error(("study",), "not in this version of perfgate")
