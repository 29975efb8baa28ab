"""A file of the repository at a commit, without a checkout."""

from __future__ import annotations

import base64
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from gate.github.problems import Problem, Task
from gate.github.transport import Transport

LARGEST_FILE = 1_000_000
"""Bytes; GitHub leaves out the content of what is larger than 1 MB."""
_KINDS = {"dir": "a directory", "symlink": "a symbolic link", "submodule": "a submodule"}


class _Content(msgspec.Struct):
    type: str
    size: int
    content: str = ""
    encoding: str = ""
    url: str = ""


def file_at(transport: Transport, repository: str, path: str, ref: str) -> str | None:
    """Read a text file at a commit, branch or tag; None when there is no such file.

    path: of the repository. A link to a file is read as the file.

    Raises:
        Problem: there is no such ref, it is no text file of up to 1 MB, or it cannot be read.
    """
    task = Task(f"read {path} at {ref[:40]}", "contents: read")
    parts = path.split("/")
    if not ref or any(part in ("", ".", "..") for part in parts):
        raise task.failed("write the path from the top of the repository, and the commit")
    where = f"/repos/{repository}/contents/{quote(path)}"
    try:
        answer = transport.call(task, "GET", where, parameters={"ref": ref})
    except Problem as problem:
        if problem.status == 404 and "No commit found" not in problem.what:
            return None
        raise
    if answer.body.lstrip().startswith("["):
        raise task.failed("it is a directory")
    found = transport.decode(task, answer, _Content)
    if found.type != "file":
        raise task.failed(f"it is {_KINDS.get(found.type, 'no file')}")
    return _text(task, found, ref)


def _text(task: Task, found: _Content, ref: str) -> str:
    # PyGithub follows a redirection without its parameters, so that the default branch would answer
    if parse_qs(urlsplit(found.url).query).get("ref", [ref]) != [ref]:
        raise task.failed("GitHub answers with another commit's: was the repository renamed?")
    if found.size > LARGEST_FILE or (found.size and found.encoding != "base64"):
        raise task.failed(f"it has {found.size:,} bytes, and perfgate reads {LARGEST_FILE:,}")
    try:
        data = base64.b64decode(found.content)
        return data.decode()
    except ValueError:
        raise task.failed("it is no text in UTF-8") from None
