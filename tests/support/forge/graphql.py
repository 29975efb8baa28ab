"""The one question of GraphQL that REST has no answer to: who am I."""

from __future__ import annotations

import re

from tests.support.forge.answers import Answer
from tests.support.forge.routes import Call


def answer(call: Call) -> Answer:
    """Answer a query; call.body is its JSON."""
    query = call.body.get("query") if isinstance(call.body, dict) else None
    if not isinstance(query, str):
        return Answer(400, {"message": "A query attribute must be specified and must be a string."})
    if not re.search(r"\bviewer\b", query):
        # GraphQL refuses with status 200
        refused = {"type": "undefinedField", "message": "the fake of GitHub does not know this query"}
        return Answer(200, {"data": None, "errors": [refused]})
    return Answer(200, {"data": {"viewer": {"login": call.who.login}}})
