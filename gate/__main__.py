"""`python -m gate` is `perfgate`."""

import gc
import sys

# nearly all that a command makes lives until it ends: the collector would walk through it dozens of times
gc.set_threshold(200_000, 50, 100)

try:
    from gate.cli.main import run
except KeyboardInterrupt:
    # while it loads; a traceback would end with 1, which means regression
    sys.exit(130)

run()
