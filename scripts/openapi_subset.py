"""Cuts GitHub's own OpenAPI description down to what perfgate uses of it: tests/data/github/openapi.json.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    .venv/bin/python -m scripts.openapi_subset package/generated/api.github.com.json

What stays: the paths and methods below, the successful answers, and what these refer to. What goes: words for people
(descriptions, examples, links), the other answers and GitHub's own extensions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "tests" / "data" / "github" / "openapi.json"
REPO = "/repos/{owner}/{repo}"
USED: dict[str, tuple[str, ...]] = {
    f"{REPO}/pulls": ("get",),
    f"{REPO}/pulls/{{pull_number}}": ("get",),
    f"{REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPO}/issues/comments/{{comment_id}}": ("patch",),
    f"{REPO}/statuses/{{sha}}": ("post",),
    f"{REPO}/commits/{{ref}}/statuses": ("get",),
    f"{REPO}/git/commits/{{commit_sha}}": ("get",),
    f"{REPO}/contents/{{path}}": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/artifacts": ("get",),
    f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ("get",),
}
FOR_PEOPLE = {"description", "summary", "externalDocs", "example", "examples", "tags", "title"}


def plain(node: Any, names: bool = False) -> Any:
    """Take the words for people out of a part of the description; names: its keys are names, not keywords."""
    if isinstance(node, list):
        return [plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if names or not (key in FOR_PEOPLE or key.startswith("x-"))}
    made = {key: plain(value, names=not names and key == "properties") for key, value in kept.items()}
    # GitHub sends null for these, such as the conclusion of a check run in progress, and its own description forgets it
    if not names and made.get("nullable") and None not in made.get("enum", [None]):
        made["enum"] = [*made["enum"], None]
    return made


def operation(node: dict[str, Any]) -> dict[str, Any]:
    """Keep the parameters, the body and the successful answers of one method."""
    answers = {status: answer for status, answer in node["responses"].items() if status.startswith("2")}
    # OpenAPI wants at least one answer; the download of an artifact only knows a redirection
    answers = answers or {status: {} for status in node["responses"] if status.startswith("3")}
    kept: dict[str, Any] = {
        key: plain(node[key]) for key in ("operationId", "parameters", "requestBody") if key in node
    }
    return {**kept, "responses": {status: {**plain(answer), "description": ""} for status, answer in answers.items()}}


def references(node: Any) -> Iterator[str]:
    """Give each reference below a node, as "#/components/schemas/x"."""
    if isinstance(node, list):
        for one in node:
            yield from references(one)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)


def subset(full: dict[str, Any]) -> dict[str, Any]:
    """Cut the description down to the paths in USED and everything that they refer to."""
    paths = {path: {method: operation(full["paths"][path][method]) for method in USED[path]} for path in USED}
    components: dict[str, dict[str, Any]] = {}
    waiting = list(references(paths))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name in components.setdefault(kind, {}):
            continue
        part = plain(full["components"][kind][name])
        components[kind][name] = {**part, "description": ""} if kind == "responses" else part
        waiting.extend(references(part))
    info = {"title": "GitHub's REST API, what perfgate uses of it", "version": full["info"]["version"]}
    servers = [{"url": "/"}]  # the path of the fake; GitHub's own host is no business of the tests
    ordered = {kind: dict(sorted(components[kind].items())) for kind in sorted(components)}
    return {"openapi": full["openapi"], "info": info, "servers": servers, "paths": paths, "components": ordered}


def main() -> None:
    """Read the full description named in argv and write the subset."""
    full = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    cut = json.dumps(subset(full), ensure_ascii=False, indent=None, separators=(",", ":"))
    # in lines, so that a later version can be compared with this one
    lines = cut.replace('},"', '},\n"') + "\n"
    assert json.loads(lines) == json.loads(cut)  # noqa: S101  (a text of the description could hold the same signs)
    TARGET.write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
