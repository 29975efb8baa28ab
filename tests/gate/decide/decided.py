"""A report over lines of measurements, by rules as a file has them."""

import datetime
import io
from collections.abc import Mapping, Sequence
from typing import Any

from gate.cli.main import main
from gate.config.config_text import from_tables, read_source
from gate.config.parse import parse
from gate.config.rules import Policy
from gate.decide import decide, look
from gate.evidence.gather import gather
from gate.model import Report
from tests.support.lines import located

TODAY = datetime.date(2026, 11, 20)


def policy_by(rules: Mapping[str, Any] | str, label: str | None = None) -> Policy:
    """Make a policy of tables, or of the text of a perfgate.toml."""
    source = read_source(rules, "perfgate.toml") if isinstance(rules, str) else from_tables(dict(rules), "test")
    return Policy(parse(source), "test", TODAY, label)


def decided(lines: Sequence[dict[str, Any]], rules: Mapping[str, Any] | str | None = None) -> Report:
    """Decide over lines of measurements; rules: None: those of the run line."""
    policy = policy_by((lines[0].get("config") or {}) if rules is None and lines else rules or "")
    return decide(gather(located(*lines), policy.config), policy)


def settled(lines: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Name what a look at lines, whose first is that of the run, leaves to measure no more."""
    policy = policy_by(lines[0]["config"])
    return look(gather(located(*lines), policy.config), policy)


def typed(*argv: str) -> tuple[int, str]:
    """Run a command line in process: its exit code, and what it writes; nothing to standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, out, err)
    assert not err.getvalue()
    return code, out.getvalue()
