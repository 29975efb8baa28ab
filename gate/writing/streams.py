"""What a stream can show, the same for every command: colour, and the glyphs that its encoding lacks."""

from __future__ import annotations

import codecs
import contextlib
import os
from typing import TextIO

_ERROR = "1;31"


def colored(stream: TextIO) -> bool:
    """Return whether a stream gets colour: NO_COLOR forbids it, FORCE_COLOR asks for it, otherwise a terminal has it.

    Both count where they are set and not empty; FORCE_COLOR=0 asks for nothing. TERM=dumb is a terminal without colour.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal."""
    with contextlib.suppress(AttributeError, ValueError):
        return stream.isatty()
    return False


def paint(text: str, style: str) -> str:
    """Wrap a text in an SGR code; an empty code leaves it as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def prefix(stream: TextIO, program: str = "perfgate") -> str:
    """Give what a message begins with that ends a command: "perfgate:", in red where there is colour."""
    return paint(f"{program}:", _ERROR if colored(stream) else "")


# --- where an encoding lacks our glyphs -------------------------------------------------------------------------------

ASCII_ONLY = "perfgate-ascii"
"""The name of the way to write what a stream's encoding lacks: `reconfigure(errors=ASCII_ONLY)`."""
_PLAIN = str.maketrans(
    "✖✔◆■★●○≡░│┼├┤─━◄►…→×·–−‘’“”⁰¹²³⁴⁵⁶⁷⁸⁹±\u00a0",
    "x+?=*oo=.||[]-#<>~>x.--''\"\"0123456789~ ",
)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Write each of our glyphs as one ASCII character, so that tables stay aligned, and any other character escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(_PLAIN)
    return lacking.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error(ASCII_ONLY, _in_ascii)
