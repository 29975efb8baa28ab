"""Starts perfgate isolated: neither PYTHONPATH nor a project's own gate/ and harness/ folders can get in the way.

A second start and not a cleaned sys.path: processes that perfgate starts by itself take `-I` from this one's flags, and
what PYTHONPATH shadows may have run already. Only modules that every start loads are imported here.
"""

import os
import site
import sys

if os.name != "nt":
    # signal.py itself loads enum
    import _signal  # type: ignore[import-not-found]  # built in

    # gate/__main__.py handles an interruption; until then Python would answer with a traceback
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT})


def run() -> None:
    """Replace this process by `python -I -m gate` with the same arguments; the entry point of the console script."""
    command = [sys.executable, _isolation(), "-m", "gate", *sys.argv[1:]]
    if os.name == "nt":
        import subprocess

        # there execv starts a second process and does not wait for it
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)  # noqa: S606  # no shell is wanted


def _isolation() -> str:
    # -I leaves the user's site-packages out, where `pip install --user` puts perfgate itself
    of_user = site.ENABLE_USER_SITE and __file__.startswith(os.path.join(site.getusersitepackages(), ""))  # noqa: PTH118
    return "-EP" if of_user else "-I"


if __name__ == "__main__":
    run()
