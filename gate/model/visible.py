"""Text from elsewhere made safe for one line, for names and for whatever is shown."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Write what does not print as repr() would: "\n", "\x1b", "\u202e"; the result is one line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii") for c in text)
