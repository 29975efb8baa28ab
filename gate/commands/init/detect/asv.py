"""Python projects with a suite of airspeed velocity (asv)."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import replace
from pathlib import PurePosixPath

from gate.commands.init.detect.python import python
from gate.commands.init.detect.repetitions import Suite, amount, length_of_value
from gate.commands.init.detect.result import Found, Measured
from gate.commands.init.detect.tree import Tree

_FILE = "asv.conf.json"
_FOLDER = re.compile(r"^[^/\n]*\"benchmark_dir\"\s*:\s*\"([^\"]+)\"", re.MULTILINE)
_CASE = re.compile(r"^\s*def time_\w+\(|^\s*def Time\w+\(", re.MULTILINE)
_OVERHEAD = 0.5  # finding how often a value repeats takes about as long as two values
_START = 1.0
_MORE = "Longer if parameters yield many benchmarks or a call is slow."
_SCRIPT = """\
import itertools, json, os, sys
sys.path.insert(0, {parent})
from asv_runner.discovery import disc_benchmarks
count = int(os.environ["PERFGATE_ITERATIONS"]) + int(os.environ["PERFGATE_WARMUP"])
with open(os.environ["PERFGATE_OUTPUT"], "w") as out:
    for case in disc_benchmarks({name}):
        if case.type != "time":
            continue
        if (cache := case.do_setup_cache()) is not None:
            case.set_cache(cache)
        for place, values in enumerate(itertools.product(*case.params)):
            case.set_param_idx(place)
            if not case.do_setup():
                # do_setup reads them anew from the class
                case.repeat, case.sample_time = (count, count, 60), {length:g}
                for value in case.do_run()["samples"]:
                    metric = f"{{case.name}}({{', '.join(values)}})" if values else case.name
                    print(json.dumps({{"metric": metric, "value": value, "unit": "s"}}), file=out)
                case.do_teardown()
"""


def look(tree: Tree) -> Found | None:
    """Find an asv.conf.json and its benchmarks of times; None without them."""
    for path in tree.files:
        if PurePosixPath(path).name != _FILE:
            continue
        named = _FOLDER.search(tree.text(path))
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), named[1] if named else "benchmarks"))
        cases = sum(len(_CASE.findall(tree.text(file))) for file in tree.ending(".py", under=folder))
        if cases and not folder.startswith(".."):
            return _found(tree, path, folder, cases)
    return None


def _found(tree: Tree, path: str, folder: str, cases: int) -> Found:
    own = python(tree)
    suite = Suite(cases, _OVERHEAD, _START, _MORE)
    length = length_of_value(suite)
    parent, name = posixpath.split(folder)
    # one process without asv's environments: the build has made this side's code
    script = _SCRIPT.format(parent=json.dumps(parent or "."), name=json.dumps(name), length=length)
    command = f"{own.command(['-'], [])} <<'END'\n{script}END"
    comment = ["The suite of asv, run by its own runner in one process; every time_* becomes a metric."]
    files = list(tree.ending(".py", under=folder))
    return replace(
        own.found(
            "asv", f"{path}, {cases} benchmarks in {folder}", Measured("asv", command, comment, instrument="values")
        ),
        notes=own.notes(tree, "asv_runner", "asv_runner", files),
        amount=amount(suite, length),
    )
