"""`python -m gate` is `perfgate`."""

from gate.cli import run

run()
