"""The fake as a process: prints its address, and writes what it knows to a file after each request.

    python -m tests.support.forge --port 8080 --state state.json --pull 12

It ends when its standard input does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from tests.support.forge.server import TOKEN, FakeGitHub


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.forge")
    parser.add_argument("--repository", default="acme/widget")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--token", default=os.environ.get("FORGE_TOKEN", TOKEN))
    parser.add_argument("--pull", type=int, action="append", default=[], help="open this pull request")
    options = parser.parse_args()
    with FakeGitHub(options.repository, token=options.token, port=options.port) as github:
        for number in options.pull:
            github.add_pull(number)
        if options.state:
            github.after = lambda: save(github, options.state)
            github.after()
        sys.stdout.write(f"{github.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


def save(github: FakeGitHub, file: Path) -> None:
    """Write what the fake knows, whole or not at all."""
    known = {**github.state.dump(), "violations": github.violations}
    known["requests"] = [[seen.method, seen.path] for seen in github.requests]
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(known, indent=1), encoding="utf-8")
    beside.replace(file)


if __name__ == "__main__":
    main()
