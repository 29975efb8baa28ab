"""Five machines that each show a change, as five files of five jobs: decided together, in every format."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.gate.typed import run
from tests.support.lines import builds, text

HOSTS = ("ci-amd-1", "ci-amd-2", "ci-arm-1", "ci-intel-1", "ci-intel-2")
SPEEDS = (1.0, 1.1, 1.9, 0.8, 0.85)
RATIOS = (1.12, 1.12, 1.13, 1.38, 1.40)
NAMES = ("encode", "parse", "render")


def files(folder: Path, gate: dict[str, Any], *, rounds: tuple[int, ...] = (5,) * 5) -> list[str]:
    """Write what five jobs measured: parse is 12 to 40% slower on each machine, the others are as they were."""
    paths = []
    for session, (host, speed, ratio, count) in enumerate(zip(HOSTS, SPEEDS, RATIOS, rounds, strict=True)):
        rng = np.random.default_rng(session)
        header = {
            "type": "run", "session": session, "sessions": 5, "base": {"sha": "a" * 40}, "head": {"sha": "b" * 40},
            "host": {"hostname": host, "fingerprint": f"{session}" * 8},
            "config": {"gate": {"threshold": "5%"} | gate, "plan": {"builds": 5, "sessions": 5}},
            "benchmarks": {"base": [*NAMES], "head": [*NAMES]},
        }  # fmt: skip
        lines = [header]
        for name in NAMES:
            for side, change in (("base", 1.0), ("head", ratio if name == "parse" else 1.0)):
                values = 0.1 * speed * change * rng.normal(1, 0.01, (count, 1, 1)) * rng.normal(1, 0.005, (count, 2, 3))
                lines += builds(side, values.tolist(), benchmark=name, session=session)
        path = folder / f"{session}.jsonl"
        path.write_text(text(lines))
        paths.append(str(path))
    return paths


def test_five_machines_show_what_a_sample_of_five_hides(tmp_path: Path) -> None:
    measured = files(tmp_path, {})
    code, random, _ = run("decide", *measured)
    assert code == 0 and random.startswith("◆ Too noisy: parse is ")
    code, fixed, _ = run("decide", *measured, "--set", "gate.sessions=fixed")
    assert code == 1
    assert re.match(r"✖ Regression: parse is 22\.\d% slower \(at least 2\d\.\d%\), threshold 5%\n", fixed)
    # the rules of the run say it as well as an option
    assert run("decide", *files(tmp_path, {"sessions": "fixed"}))[0] == 1


def test_files_that_disagree_about_sessions_are_refused(tmp_path: Path) -> None:
    fixed = files(tmp_path, {"sessions": "fixed"})
    (tmp_path / "others").mkdir()
    other = files(tmp_path / "others", {})
    code, out, err = run("decide", *fixed[:4], other[4])
    assert (code, out) == (2, "")
    assert err == (
        f"perfgate: {fixed[0]}:1 and {other[4]}:1: the runs differ in their rules; decide runs of one design together\n"
    )
    # the default is no difference
    written = files(tmp_path / "others", {"sessions": "random"})
    assert run("decide", *files(tmp_path, {})[:4], written[4])[0] == 0
    fixed = files(tmp_path, {"sessions": "fixed"})
    first, second = (json.loads(run("decide", *order, "--json", "-")[1]) for order in (fixed, fixed[::-1]))
    assert first["findings"] == second["findings"]


def test_shards_of_machines_are_one_gate(tmp_path: Path) -> None:
    """Each machine measured its benchmarks in two jobs, and so in two files."""
    parts = []
    for path in files(tmp_path, {"sessions": "fixed"}):
        header, *lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
        for number, own in ((1, ("encode", "render")), (2, ("parse",))):
            head = header | {"shard": f"{number}/2", "benchmarks": {"base": [*own], "head": [*own]}}
            part = Path(path).with_suffix(f".{number}.jsonl")
            part.write_text(text([head, *(line for line in lines if line["benchmark"] in own)]))
            parts.append(str(part))
    code, shown, _ = run("decide", *parts, "--json", "-")
    found = json.loads(shown)["findings"]
    verdicts = {f["benchmark"]: f["verdict"] for f in found}
    assert (code, verdicts) == (1, {"encode": "unchanged", "render": "unchanged", "parse": "regression"})
    assert [len(f["sessions"]) for f in found] == [5, 5, 5]
