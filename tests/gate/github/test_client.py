"""What is read of a repository and written there: pull requests, files, artifacts, statuses."""

import base64
from typing import Any

import msgspec
import pytest

from gate.github.transport import HttpAnswer, Problem, Transport
from tests.support.forge import FakeGitHub

HEAD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40
HOSTILE = ["a b", "größe/日本語", "a&state=closed", "a%26b+c=d", "x?y#z;w", "user:topic", "$(id)`id`"]


def test_a_pull_request(github: FakeGitHub) -> None:
    made = github.add_pull(12, HEAD, BASE, "topic", "next", labels=("bug", "perf-accepted"), head_repository="eve/fork")
    made.merge_sha = MERGE
    found = github.client().pull(12)
    assert (found.number, found.state, found.merge_sha) == (12, "open", MERGE)
    assert (found.head.sha, found.head.ref, found.head.repository) == (HEAD, "topic", "eve/fork")
    assert (found.base.sha, found.base.ref, found.base.repository) == (BASE, "next", "acme/widget")
    assert [label.name for label in found.labels] == ["bug", "perf-accepted"]
    assert found.pushed == "2026-01-01T00:00:00Z"
    made.state, made.head_repository, made.merge_sha, made.labels = "closed", None, None, []
    found = github.client().pull(12)
    assert (found.state, found.head.repository, found.merge_sha, found.labels) == ("closed", "", None, [])
    assert found.pushed == ""


@pytest.mark.parametrize("branch", HOSTILE)
def test_the_pull_requests_of_a_branch(github: FakeGitHub, branch: str) -> None:
    github.add_pull(1, head_ref=branch, head_repository="eve/widget")
    github.add_pull(2, head_ref="other", head_repository="eve/widget")
    github.add_pull(3, head_ref=branch, head_repository="eve/another-fork")
    github.add_pull(4, head_ref=branch)
    github.add_pull(5, head_ref=branch, head_repository="eve/widget").state = "closed"
    github.add_pull(6, head_ref=branch, head_repository=None)
    assert [one.number for one in github.client().pulls_of("eve/widget", branch)] == [1]
    assert [one.number for one in github.client().pulls_of("acme/Widget", branch)] == [4]
    assert github.requests[0].query["head"] == f"eve:{branch}"
    assert github.client().pulls_of("nobody/widget", branch) == []


def test_filters_that_are_not_heeded(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub takes a filter that it cannot read for none."""
    for number, branch in enumerate(("topic", "Topic", "topic2", "topic"), 1):
        github.add_pull(number, head_ref=branch)
    github.pulls[4].state = "closed"
    whole = Transport.call

    def call(self: Transport, task: Any, method: Any, path: str, **more: Any) -> HttpAnswer:
        more["parameters"] = {"state": "all"} if path.endswith("/pulls") else {}
        return whole(self, task, method, path, **more)

    monkeypatch.setattr(Transport, "call", call)
    assert [one.number for one in github.client().pulls_of("acme/widget", "topic")] == [1]


def test_a_file(github: FakeGitHub) -> None:
    github.files.update(
        {
            ("main", "perfgate.toml"): "größe = 1\r\n",
            (BASE, "a b/ü#?&%41;.toml"): "x",
            (BASE, "empty"): "",
            (BASE, "long"): "x" * 200,
        }
    )
    one = github.client()
    assert one.file_at("perfgate.toml", "main") == "größe = 1\r\n"
    assert one.file_at("a b/ü#?&%41;.toml", BASE) == "x"
    assert one.file_at("empty", BASE) == ""
    assert one.file_at("long", BASE) == "x" * 200
    assert one.file_at("perfgate.toml", BASE) is None
    assert github.requests[1].query == {"ref": BASE}


def test_a_commit_that_is_not_there_is_no_absent_file(github: FakeGitHub) -> None:
    with pytest.raises(Problem, match=r"cannot read perfgate.toml at d{40}: .*404"):
        github.client().file_at("perfgate.toml", "d" * 40)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "it is no file"),
        ({"type": "symlink", "target": "/etc/passwd"}, "it is no file"),
        ({"size": 1_000_001}, "it has 1,000,001 bytes, and perfgate reads 1,000,000"),
        ({"size": 5, "encoding": "none", "content": ""}, "it has 5 bytes, and perfgate reads"),
        ({"content": "abc"}, "it is not UTF-8 text"),
        ({"content": base64.b64encode(b"\xff\xfe").decode()}, "it is not UTF-8 text"),
        ({"type": 1}, "is not GitHub's"),
        ({"content": "eA==", "size": -1, "encoding": "base64"}, None),
    ],
)
def test_what_is_no_file(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch, content: Any, words: str | None) -> None:
    given = (
        content if content == [] else {"type": "file", "size": 1, "encoding": "base64", "content": "eA==", **content}
    )
    body = msgspec.json.encode(given).decode()
    monkeypatch.setattr(Transport, "call", lambda *words, **more: HttpAnswer(200, {}, body))
    one = github.client()
    if words is None:
        assert one.file_at("x", BASE) == "x"
        return
    with pytest.raises(Problem) as caught:
        one.file_at("x", BASE)
    assert words in caught.value.what


def test_the_parents_of_a_commit(github: FakeGitHub) -> None:
    github.add_pull(12, HEAD, BASE)
    github.state.parents[MERGE] = (BASE, HEAD)
    one = github.client()
    assert (one.parents(MERGE), one.parents("d" * 40)) == ((BASE, HEAD), None)


def test_the_artifacts_of_a_run(github: FakeGitHub) -> None:
    made = [github.add_artifact(7, f"part-{number}", b"") for number in range(130)]
    found = github.client().artifacts_of_run(7)
    assert [(one.id, one.name, one.expired) for one in found] == [(one.id, one.name, False) for one in reversed(made)]
