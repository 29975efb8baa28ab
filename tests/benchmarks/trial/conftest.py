"""The source distribution has the tests without the benchmarks."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("benchmarks") else ["test_*.py"]
