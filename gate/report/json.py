"""Report <-> report.json."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from gate.codes import Exit
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.evidence.lines import OLDER
from gate.model import REPORT_SCHEMA, Finding, MemoryUse, Report, ReportVerdict, Unproved, UserError
from gate.model.bounds import beyond
from gate.model.reasons import WITHOUT_NUMBERS, Because
from gate.model.study import StudyReport
from gate.model.warnings import known
from gate.model.warnings.base import Said
from gate.writing.sentences import Sentence

EXIT_CODES: dict[ReportVerdict, tuple[Exit, ...]] = {
    "pass": (Exit.PASS,),
    "regression": (Exit.REGRESSION,),
    "inconclusive": (Exit.PASS, Exit.INCONCLUSIVE),
    "error": (Exit.ERROR,),
}
"""That go with a verdict."""
_UNMEASURED = dict.fromkeys(Finding.__struct_fields__) | {
    "sessions": [], "warnings": [], "variance": {"base": [], "head": []}, "beside": [],
}  # fmt: skip
"""The keys of a finding that was not measured."""
_SCHEMA = Path(__file__).parent.parent / "report.schema.json"


class ReportError(ValueError):
    """A text that is no report of this version; its message is one line."""


def schema() -> str:
    """Return the JSON Schema of report.json, of which `make docs` makes a table."""
    return _SCHEMA.read_text(encoding="utf-8")


def render(report: Report) -> str:
    """Write report.json: keys in the order of gate.model.Report, what does not exist as null, a final newline.

    What follows from a report is written with it, and not read again: what to do `next`, the sentence of each finding.
    """
    # a report that is only read needs neither
    from gate.decide.next_steps import next_step
    from gate.words.findings import conclusion

    tables: dict[str, Any] = plain(report)
    for table, finding in zip(tables["findings"], report.findings, strict=True):
        for own, view in zip([table, *table["beside"]], finding.views, strict=True):
            own["text"] = plain(conclusion(view))
    for table, proved in zip(tables.pop("identical"), report.identical, strict=True):
        tables["findings"].append(_UNMEASURED | table | {"text": plain(proved.reason.sentence())})
    step = next_step(report)
    tables["next"] = step and {"kind": step.kind, "text": plain(step.text), "details": plain(step.details)}
    # how it was asked for is no part of it: command lines hold paths
    del tables["run"]["again"], tables["run"]["typed"]
    return _encoded(tables, [*tables["failures"], *tables["run"]["builds"]])


def render_study(report: StudyReport) -> str:
    """Write study.json: keys in the order of gate.model.study, otherwise as report.json."""
    tables: dict[str, Any] = plain(report)
    return _encoded(tables, tables["failures"])


def _encoded(tables: dict[str, Any], lines: Iterable[dict[str, Any]]) -> str:
    for line in lines:
        if not line.get("factors", True):
            del line["factors"]
    return text_of(tables)


def text_of(value: Any) -> str:
    """Write JSON for people and programs: what it has no word for as `plain` says, a final newline."""
    return msgspec.json.format(msgspec.json.encode(plain(value)), indent=2).decode() + "\n"


def plain(value: Any) -> Any:
    """Give what JSON has for a value; a sentence is its kind, its text and, as details, what it is made of."""
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        # another tag belongs to the lines of measurements.jsonl
        table = {"kind": config.tag} if config.tag_field == "kind" else {}
        fields = {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        if isinstance(value, Because):
            return {"kind": value.what, "text": plain(value.text), "details": {}}
        if isinstance(value, Said):
            details = {"place": value.place} if value.place != "middle" else {}
            return {"kind": value.what, "text": plain(value.text), "details": details}
        if isinstance(value, Sentence):
            return table | {"text": plain(value.sentence()), "details": fields}
        return table | fields | ({"text": plain(value.sentence())} if isinstance(value, (MemoryUse, Unproved)) else {})
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        # a path that is not UTF-8 comes with surrogates, which no JSON reader takes
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def read(text: str | bytes) -> Report:
    """Read report.json.

    Raises: ReportError: not JSON, not a report, of another schema, or with a value of the wrong type.
    """
    try:
        tables = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ReportError(f"not valid JSON: {error}") from None
    if not isinstance(tables, dict) or not {"schema", "verdict", "findings"} <= tables.keys():
        raise ReportError("not a report of perfgate: it lacks schema, verdict or findings")
    schema = tables["schema"]
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise ReportError(f"not a report of perfgate: its schema is {schema!r:.40}")
    if schema != REPORT_SCHEMA:
        what = "upgrade perfgate" if schema > REPORT_SCHEMA else "decide its measurements again with `perfgate decide`"
        raise ReportError(f"its schema is {schema}, and this perfgate reads schema {REPORT_SCHEMA}: {what}")
    if why := beyond(tables):
        raise ReportError(f"not a report of perfgate: {why}")
    try:
        report = msgspec.convert(_restore(_flat(tables)), Report)
        # what rules hold is read by their keys; the floor may be of several instruments, in words
        gate = {key: value for key, value in report.policy.gate.items() if key != "floor"}
        parse(from_tables({**(report.run.settings or {}), "gate": gate}, "its rules"), lenient=True, checked=False)
    except (msgspec.ValidationError, UserError) as error:
        cure = f"{OLDER}: decide its measurements again with `perfgate decide`"
        raise ReportError(f"not a report of perfgate as it is: {error}; {cure}") from None
    if report.exit_code not in EXIT_CODES[report.verdict]:
        raise ReportError(f'its exit code {report.exit_code} does not go with its verdict "{report.verdict}"')
    return report


def _flat(value: Any) -> Any:
    """Put the details of a sentence beside its kind, where its type has them."""
    if isinstance(value, list):
        return [_flat(each) for each in value]
    if not isinstance(value, dict):
        return value
    table = {key: _flat(each) for key, each in value.items()}
    if isinstance(warnings := table.get("warnings"), list):
        table["warnings"] = [known(each) for each in warnings]
    if "warning" in table:
        table["warning"] = known(table["warning"])
    for key in ("reason", "why"):
        if isinstance(table.get(key), dict) and (because := WITHOUT_NUMBERS.get(table[key].get("kind"))) is not None:
            table[key] = {"kind": "because", "what": because.what, "text": because.text, "end": because.end}
    # metrics of a perfgate.toml, in the settings, may have these names, too: then both are tables
    is_sentence = isinstance(table.get("kind"), str) and isinstance(table.get("details"), dict)
    details = table.pop("details") if is_sentence else {}
    return {**details, **table}


def _restore(tables: dict[str, Any]) -> dict[str, Any]:
    # render() writes a side's NaN as null; the type has a number there
    cases = [each for key in ("findings", "recorded") for each in _list(tables.get(key))]
    for case in cases:
        cases += _list(case.get("beside"))
        for side in (case.get("base"), case.get("head")):
            if isinstance(side, dict) and "value" in side and side["value"] is None:
                side["value"] = math.nan
    found = tables.get("findings")
    tables["identical"] = []
    if isinstance(found, list):
        tables["identical"] = [each for each in found if _is_identical(each)]
        tables["findings"] = [each for each in found if not _is_identical(each)]
    return tables


def _list(cases: Any) -> list[dict[str, Any]]:
    return [each for each in cases if isinstance(each, dict)] if isinstance(cases, list) else []


def _is_identical(finding: Any) -> bool:
    return isinstance(finding, dict) and finding.get("verdict") == "identical"
