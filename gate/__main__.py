"""`python -m gate` is `perfgate`."""

import gc
import os
import signal
import sys

# nearly all that a command makes lives until it ends: the collector would walk through it dozens of times
gc.set_threshold(200_000, 50, 100)
if "OPENBLAS_NUM_THREADS" not in os.environ:
    # numpy's and scipy's would start a thread a processor each, and those wait for work by spinning 30 ms at a time;
    # not in os.environ, by which the environment of a benchmark is made
    os.putenv("OPENBLAS_NUM_THREADS", "1")

try:
    from gate.cli.main import run

    if os.name != "nt":
        # perfgate.py has blocked it, since an interruption within an import may become another exception
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    run()
except KeyboardInterrupt:
    # a traceback would end with 1, which means regression
    sys.exit(130)
