"""A stateful fake of GitHub's REST API on loopback; each request must fit GitHub's own OpenAPI description.

with FakeGitHub("acme/widget") as github:
    github.add_pull(12, head_sha="a" * 40, base_sha="b" * 40)
    ... a client with github.url and github.token ...
    assert github.comments[0]["body"] == "..."
    assert github.violations == []
"""

from tests.support.forge.server import FakeGitHub
from tests.support.forge.state import Artifact, Identity, Pull, Run, Seen

__all__ = ["Artifact", "FakeGitHub", "Identity", "Pull", "Run", "Seen"]
