"""`python -m gate` is `perfgate`."""

import sys

try:
    from gate.cli.main import run
except KeyboardInterrupt:
    # while it loads; a traceback would end with 1, which means regression
    sys.exit(130)

run()
