"""Runs the time_* benchmarks of a suite of asv by asv's own runner, in one process: python -m perfgate_asv FOLDER.

A file of its own for the project's interpreter, standard library and asv_runner only, for Python 3.8 and later. It
writes what pytest-benchmark's JSON holds of benchmarks.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
import traceback
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


_DISCOVERY = "asv_runner.discovery"


def _run(case: Any, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what comes of a benchmark with each of its parameters."""
    for place, values in enumerate(itertools.product(*case.params)):
        name = f"{case.name}({', '.join(values)})" if values else case.name
        if options.bench is not None and not re.search(options.bench, name):
            continue
        if options.list:
            sys.stdout.write(f"{name}\n")
            continue
        try:
            case.set_param_idx(place)
            # it reads them anew from the class
            if case.do_setup():
                continue
            case.repeat, case.sample_time = (options.samples, options.samples, 60), options.sample_time
            if case.warmup_time < 0:
                case.warmup_time = options.sample_time
            done = case.do_run()
            case.do_teardown()
            yield {"fullname": name, "stats": {"iterations": done["number"], "data": done["samples"]}}
        except Exception:  # noqa: BLE001 - of one benchmark, which fails alone
            traceback.print_exc()
            yield {"fullname": name, "stats": None}


def main() -> None:
    """Run what is named, and write the file."""
    # of the folder beside this one's, and of the project's environment: nothing that perfgate itself depends on
    discovery = import_module(_DISCOVERY)
    parser = argparse.ArgumentParser(prog="perfgate_asv")
    parser.add_argument("folder")
    parser.add_argument("--bench", metavar="REGEX")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sample-time", type=float, default=0.02)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--output", default=os.devnull)
    options = parser.parse_args()
    folder = Path(options.folder).resolve()
    sys.path.insert(0, str(folder.parent))
    found: list[dict[str, Any]] = []
    for case in discovery.disc_benchmarks(folder.name):
        if case.type == "time":
            cache = None if options.list else case.do_setup_cache()
            if cache is not None:
                case.set_cache(cache)
            found += _run(case, options)
    Path(options.output).write_text(json.dumps({"machine_info": {}, "benchmarks": found}), encoding="utf-8")
    sys.exit(not all(each["stats"] for each in found))


if __name__ == "__main__":
    main()
