"""A command line, run in process."""

import io

from gate.cli.main import main


def run(*argv: str) -> tuple[int, str, str]:
    """Return the exit code, and what it writes to standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    return main(argv, out, err), out.getvalue(), err.getvalue()
