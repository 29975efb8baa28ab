"""Text from elsewhere made safe for one line, for names and for whatever is shown."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Write what does not print as repr() would: "\n", "\x1b", "\u202e"; the result is one line.

    A byte of a file's name that is no text is written as git would: "\xff".
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if 0xDC80 <= ord(character) <= 0xDCFF:  # "surrogateescape" (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
