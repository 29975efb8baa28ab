"""GitHub's own OpenAPI description: which requests fit it, which answers do, and what an answer must hold."""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DESCRIPTION = Path(__file__).parent.parent.parent / "data" / "github" / "openapi.json"
# Parameters in a path that hold slashes as they are; the description says so only in GitHub's own extension.
WITH_SLASHES = {"path", "ref", "basehead"}
HOST = "http://127.0.0.1"


class Place(NamedTuple):
    """A path of the description and what a request has in place of its parameters."""

    template: str
    parameters: dict[str, str]


@functools.cache
def description() -> dict[str, Any]:
    """Read the description."""
    found: dict[str, Any] = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    return found


@functools.cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Make a pattern of each path."""

    def part(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"(?P<{name}>{'.+' if name in WITH_SLASHES else '[^/]+'})"

    # the longest first: "/pulls/{n}" before "/{anything}"
    paths = sorted(description()["paths"], key=len, reverse=True)
    return {path: re.compile(re.sub(r"\{(\w+)\}", part, path)) for path in paths}


def find(path: str) -> Place | None:
    """Find the path of the description that a request's path (not yet unquoted) fits."""
    for template, pattern in patterns().items():
        if match := pattern.fullmatch(path):
            return Place(template, match.groupdict())
    return None


@functools.cache
def checker() -> Any:
    """Load the validator, once a process: it takes half a second, and as long again if it checked the description."""
    from openapi_core import Config, OpenAPI

    return OpenAPI.from_dict(description(), config=Config(spec_validator_cls=None))  # type: ignore[arg-type]  # None: none


class Asked:
    """A request as openapi-core wants it."""

    def __init__(self, method: str, place: Place, query: Sequence[tuple[str, str]], body: bytes, kind: str) -> None:
        from openapi_core.datatypes import RequestParameters
        from werkzeug.datastructures import ImmutableMultiDict

        self.host_url = HOST
        self.path = self.path_pattern = place.template
        self.method = method.lower()
        self.body = body or None
        self.content_type = kind.lower()
        self.parameters = RequestParameters(path=dict(place.parameters), query=ImmutableMultiDict(query))


class Answered:
    """An answer as openapi-core wants it."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status_code = status
        self.content_type = "application/json"
        self.headers: Mapping[str, Any] = {}
        self.data = body


@functools.lru_cache(1000)
def request_problems(
    method: str, path: str, query: tuple[tuple[str, str], ...], body: bytes, kind: str
) -> Sequence[str]:
    """Say what in a request does not fit the description; kind: its Content-Type."""
    place = find(path)
    operation = description()["paths"].get(place.template, {}).get(method.lower()) if place else None
    if place is None or operation is None:
        return ["perfgate's description of GitHub has no such path and method"]
    asked = Asked(method, place, query, body, kind)
    problems = [words(error) for error in checker().iter_request_errors(asked)]
    known = {resolve(one)["name"] for one in operation.get("parameters", []) if resolve(one)["in"] == "query"}
    problems += [f"unknown query parameter {name!r}" for name, _ in query if name not in known]
    if body and "requestBody" not in operation:
        problems.append("a body where none belongs")
    return problems + unknown_keys(operation, body)


def unknown_keys(operation: dict[str, Any], body: bytes) -> list[str]:
    """Name the keys of a body that the description does not know: GitHub drops them in silence."""
    try:
        sent = json.loads(body or b"{}")
    except ValueError:
        return []  # openapi-core has said so
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    known = resolve(schema).get("properties")
    if known is None or not isinstance(sent, dict):
        return []
    return [f"unknown key {key!r} in the body" for key in sent if key not in known]


def answer_problems(method: str, path: str, status: int, body: bytes) -> list[str]:
    """Say what in one of our own answers does not fit the description."""
    place = find(path)
    assert place is not None, path
    asked = Asked(method, place, [], b"", "application/json")
    return [words(error) for error in checker().iter_response_errors(asked, Answered(status, body))]


def words(error: BaseException) -> str:
    """Say an error of openapi-core in a line, with what lies behind it."""
    behind = getattr(error, "schema_errors", None) or getattr(error.__cause__, "schema_errors", None) or []
    more = [f"{'/'.join(str(step) for step in one.absolute_path)}: {one.message}" for one in behind]
    return " ".join(("; ".join(more) or str(error)).split())[-2000:]


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference."""
    while "$ref" in node:
        _, _, kind, name = node["$ref"].split("/")
        node = description()["components"][kind][name]
    return node


def complete(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Add to an answer what its schema requires and nothing here cares about: nulls, zeros and empty texts."""
    made: dict[str, Any] = filled({"$ref": f"#/components/schemas/{name}"}, given)
    return made


def filled(schema: dict[str, Any], given: Any) -> Any:
    """Complete a value by its schema, as deep as objects go."""
    schema = resolve(schema)
    for several in ("allOf", "oneOf", "anyOf"):
        if several in schema:
            return filled(schema[several][0], given)
    if not isinstance(given, dict) or "properties" not in schema:
        return given
    made = dict(given)
    for name, part in schema["properties"].items():
        if name in made:
            made[name] = filled(part, made[name])
        elif name in schema.get("required", []):
            made[name] = empty(part)
    return made


EMPTY_TEXTS = {"date-time": "2026-11-20T09:00:00Z", "uri": f"{HOST}/unused"}
EMPTY_VALUES: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0, "array": [], "string": ""}


def empty(schema: dict[str, Any]) -> Any:
    """Make the least value that a schema allows."""
    schema = resolve(schema)
    if schema.get("nullable"):
        return None
    for several in ("allOf", "oneOf", "anyOf"):
        if several in schema:
            return empty(schema[several][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return filled(schema, {})
    return EMPTY_TEXTS.get(schema.get("format", ""), EMPTY_VALUES[schema.get("type", "string")])
