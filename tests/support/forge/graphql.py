"""The few questions of GraphQL that REST has no answer to: who am I, is this comment hidden, hide it."""

from __future__ import annotations

import re
from typing import Any

from tests.support.forge import shapes
from tests.support.forge.answers import Answer
from tests.support.forge.routes import LEVELS, Call

HIDE = re.compile(r"\b(un)?minimizeComment\s*\(\s*input\s*:\s*(\$\w+|\{[^}]*\})")
REASONS = {"ABUSE", "DUPLICATE", "LOW_QUALITY", "OFF_TOPIC", "OUTDATED", "RESOLVED", "SPAM"}


def trouble(kind: str, message: str) -> Answer:
    """Refuse as GraphQL does: with status 200."""
    return Answer(200, {"data": None, "errors": [{"type": kind, "message": message}]})


def answer(call: Call) -> Answer:
    """Answer a query; call.body is its JSON."""
    query = call.body.get("query") if isinstance(call.body, dict) else None
    if not isinstance(query, str):
        return Answer(400, {"message": "A query attribute must be specified and must be a string."})
    if hide := HIDE.search(query):
        return minimized(call, bool(hide.group(1)), inputs(call, hide.group(2)))
    data: dict[str, Any] = {}
    if re.search(r"\bviewer\b", query):
        data["viewer"] = {"login": call.who.login}
    variables = call.body.get("variables") or {}
    if re.search(r"\bnodes\s*\(", query):
        data["nodes"] = [node(call, wanted) for wanted in variables.get("ids", re.findall(r'"(IC_\d+)"', query))]
    elif re.search(r"\bnode\s*\(", query):
        data["node"] = node(call, variables.get("id", "".join(re.findall(r'"(IC_\d+)"', query))))
    if not data:
        return trouble("undefinedField", "the fake of GitHub does not know this query")
    return Answer(200, {"data": data})


def inputs(call: Call, written: str) -> dict[str, Any]:
    """Read the input of a mutation: a variable, or written out."""
    if written.startswith("$"):
        given: dict[str, Any] = (call.body.get("variables") or {}).get(written[1:], {})
        return given
    return dict(re.findall(r'(\w+)\s*:\s*"?([\w-]+)"?', written))


def node(call: Call, wanted: str) -> dict[str, Any] | None:
    """Give what GraphQL knows of a comment."""
    for one in call.state.comments:
        if shapes.node_id(one) == wanted:
            hidden = one["minimized"] is not None
            return {
                "__typename": "IssueComment",
                "id": wanted,
                "isMinimized": hidden,
                "minimizedReason": one["minimized"],
                "body": one["body"],
            }
    return None


def minimized(call: Call, undo: bool, given: dict[str, Any]) -> Answer:
    """Hide a comment, or show it again."""
    held = call.who.permissions
    if (
        held is not None
        and max(LEVELS.get(held.get(name, ""), 0) for name in ("issues", "pull-requests")) < LEVELS["write"]
    ):
        return trouble("FORBIDDEN", "Resource not accessible by integration")
    found = [one for one in call.state.comments if shapes.node_id(one) == given.get("subjectId")]
    if not found:
        return trouble("NOT_FOUND", f"Could not resolve to a node with the global id of '{given.get('subjectId')}'")
    if not undo and given.get("classifier") not in REASONS:
        return trouble("argumentLiteralsIncompatible", "Expected type ReportedContentClassifiers for classifier")
    found[0]["minimized"] = None if undo else given["classifier"].lower()
    name, inner = ("unminimizeComment", "unminimizedComment") if undo else ("minimizeComment", "minimizedComment")
    return Answer(200, {"data": {name: {inner: {"isMinimized": not undo}}}})
