"""Where perfgate can measure."""

from gate.model import UserError
from harness.host import unsupported_platform


def require_measuring() -> None:
    """Refuse a platform that perfgate cannot measure on.

    Raises:
        UserError: it cannot, and what to do.
    """
    why = unsupported_platform()
    if why is not None:
        raise UserError(why)
