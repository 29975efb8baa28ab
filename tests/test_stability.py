"""What docs/stability.md promises: nothing that a release had is taken away before version 2."""

import json
import re
from typing import get_args

from msgspec import NODEFAULT, to_builtins
from msgspec.structs import fields as fields_of

from gate import __version__
from gate.model import Record, records
from scripts.surface import KEPT, ROOT, surface


def test_nothing_that_was_there_is_gone() -> None:
    kept = set(KEPT.read_text(encoding="utf-8").splitlines())
    assert len(kept) > 900
    assert sorted(kept - surface()) == []


def test_the_promise_is_of_this_major_version() -> None:
    assert __version__.partition(".")[0] == "1"


def test_each_part_of_the_surface_is_found() -> None:
    known = {
        "perfgate check --base",
        "perfgate history trend --json",
        "perfgate report --format markdown",
        "exit code 5",
        'perfgate.toml gate.family = "holm"',
        "perfgate.toml benchmark[].metric.*.threshold",
        "report.json findings[].ratio.low",
        'report.json findings[].verdict = "no-sign"',
        'report.json reasons = "too-noisy"',
        "measurements.jsonl execution.benchmark",
        "action inputs command",
        "action outputs verdict",
    }
    assert known - surface() == set()


def test_the_keys_that_other_programs_may_write_are_those_of_the_lines() -> None:
    page = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8").partition("\n## Keys\n")[2]
    lines = {str(each.__struct_config__.tag): each for each in get_args(Record)}
    told: dict[str, set[str]] = {}
    for section in re.split(r"^### `?", page, flags=re.MULTILINE)[1:]:
        name = re.split(r"`?\n", section)[0]
        fields = {each.encode_name: each for each in fields_of(lines.get(name) or getattr(records, name))}
        told[name] = {*re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (`.*`): as of", section, re.MULTILINE)))}
        for key, default in re.findall(r"^- `(\w+)` \(.*; (required|otherwise `.*?`)\): ", section, re.MULTILINE):
            field, own = fields[key], default.removeprefix("otherwise ").strip("`")
            given = field.default if field.default_factory is NODEFAULT else field.default_factory()
            assert own == ("required" if field.required else json.dumps(to_builtins(given))), (name, key)
            told[name].add(key)
        assert told[name] <= {*fields}, name
    assert {"run", "build", "execution", "summary", "failure"} <= {*told}
    assert {"side", "build", "benchmark", "execution", "metrics"} <= told["execution"]
