"""What every end-to-end test shares: the reports that it leaves are valid by the schema that is shipped."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from gate.report.json import schema


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema()))


def _refuse(token: str) -> float:
    raise AssertionError(f"{token} is no JSON")


@pytest.fixture(autouse=True)
def _reports_are_valid(request: pytest.FixtureRequest) -> Iterator[None]:
    """Validate every report.json below the folders that a test was given."""
    yield
    folders = [value for value in getattr(request.node, "funcargs", {}).values() if isinstance(value, Path)]
    for file in {file for folder in folders if folder.is_dir() for file in folder.rglob("report.json")}:
        report = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
        # some tests write what is no report
        if isinstance(report, dict) and "findings" in report and report.get("schema") == 2:
            wrong = [f"{error.json_path}: {error.message:.200}" for error in _validator().iter_errors(report)]
            assert not wrong, f"{file} does not match gate/report.schema.json: {wrong[:5]}"
