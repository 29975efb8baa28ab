"""What a page looks like, asked in the page: what is lost, cut, empty or beyond the window."""

from pathlib import Path

LOOKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def asked(name: str) -> str:
    """Return what a page is asked by a function of looks.js."""
    return f"() => ({LOOKS.strip()}).{name}()"


OPEN_ALL = asked("openAll")
LOST = asked("lost")
SIDEWAYS = asked("sideways")
WRONG = asked("wrong")
OVERLAPPING = asked("overlapping")
NAMELESS = asked("nameless")
STRANGE = asked("strange")
MOVED = asked("moved")
