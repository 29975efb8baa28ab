"""The comment: found again, updated, left alone, and what a forge may do in between."""

from typing import Any

import pytest

from gate.github.comment import Marker, publish_comment
from gate.github.transport import Problem, Transport
from tests.gate.github.test_stamp import stamp
from tests.support.forge import FakeGitHub

HEAD = "a" * 40
REST = "by=1.1 job=a.yml/b use=u"
BOT = "github-actions[bot]"
COMMENTS = "/repos/acme/widget/issues/12/comments"


def marker(run: int, job: str = "a.yml/b") -> Marker:
    return Marker("gate", HEAD, stamp(run, job=job))


def text(run: int) -> str:
    return f"{marker(run).text}\nbody of {run}"


@pytest.fixture
def github(github: FakeGitHub) -> FakeGitHub:
    github.add_pull(12)
    return github


def publish(github: FakeGitHub, run: int, attempt: int = 1, **more: Any) -> str:
    shown = Marker("gate", HEAD, stamp(run, attempt))
    return publish_comment(github.client(**more), 12, shown, f"body of {run}").did


def bodies(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments]


def sent(github: FakeGitHub) -> list[tuple[str, str]]:
    return [(one.method, one.path) for one in github.requests if one.method != "GET" and one.path != "/graphql"]


def test_a_marker_is_read_back() -> None:
    for one in (
        marker(1),
        Marker("a.b_C-9", "unknown", stamp(0, job="a%20b.yml/*")),
        Marker("x" * 100, "0" * 64, stamp(10**17, 999)),
    ):
        for body in (f"{one.text}\nbody", f"{one.text}\r\nbody\r\n", one.text):
            assert Marker.parse(body) == one
    shown = f"<!-- perfgate:gate head={HEAD} run=7 attempt=2 by=7.2 job=a.yml/b use=u -->"
    assert Marker("gate", HEAD, stamp(7, 2)).text == shown


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        f"> {marker(1).text}",
        f"hello\n{marker(1).text}",
        f"{marker(1).text} and more",
        f"<!-- perfgate:gate head={HEAD} run=-1 attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD} run=١ attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={'A' * 40} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:{'x' * 101} head={HEAD} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:a b head={HEAD} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD} run=1 attempt=1 by=1.1 job=a>b use=u -->",
        f"<!-- perfgate:gate head={HEAD} run=1 attempt=1 -->",
    ],
)
def test_what_is_no_marker(body: str) -> None:
    assert Marker.parse(body) is None


def test_one_comment_is_created_updated_and_left_alone(github: FakeGitHub) -> None:
    posted = publish_comment(github.client(), 12, marker(1), "body of 1")
    assert posted.did == "created"
    assert posted.url is not None and posted.url.endswith(f"#issuecomment-{github.comments[0]['id']}")
    assert bodies(github) == [text(1)]
    assert publish(github, 1) == "unchanged"
    assert publish(github, 2) == "updated"
    assert bodies(github) == [text(2)]
    assert publish(github, 2, attempt=2) == "updated"
    newest = bodies(github)
    assert publish(github, 2, attempt=1) == publish(github, 1, attempt=9) == "older"
    assert bodies(github) == newest
    patch = ("PATCH", f"/repos/acme/widget/issues/comments/{github.comments[0]['id']}")
    assert sent(github) == [("POST", COMMENTS), patch, patch]
    # the same run may say something else
    assert publish_comment(github.client(), 12, Marker("gate", HEAD, stamp(2, 2)), "accepted").did == "updated"
    assert bodies(github)[0].endswith("\naccepted")


def test_line_ends_of_a_forge_are_no_change(github: FakeGitHub) -> None:
    github.add_comment(12, f"{text(1)}\n".replace("\n", "\r\n"), BOT)
    assert publish(github, 1) == "unchanged"
    assert sent(github) == []


def test_what_others_wrote_is_not_ours(github: FakeGitHub) -> None:
    others = [
        (text(9), "mallory"),
        (text(9), "github-actions"),  # a person may be called so
        (f"> {text(9)}", BOT),
        (f"look:\n{text(9)}", BOT),
        (f"{Marker('another', HEAD, stamp(9)).text}\nbody", BOT),
    ]
    for body, login in others:
        github.add_comment(12, body, login)
    github.add_pull(13)
    github.add_comment(13, text(9), BOT)
    assert publish(github, 1) == "created"
    assert publish(github, 2) == "updated"
    assert bodies(github) == [*(body for body, _ in others), text(9), text(2)]


@pytest.mark.parametrize("graphql", [True, False])
def test_comments_of_ours_become_one(github: FakeGitHub, graphql: bool) -> None:
    github.graphql = graphql
    for run in (2, 1, 3):
        github.add_comment(12, text(run), BOT)
    github.add_comment(12, text(9), "mallory")
    assert publish(github, 4) == "updated"
    superseded = f"Superseded by {github.url}/web/acme/widget/pull/12#issuecomment-{github.comments[0]['id']}"
    assert bodies(github) == [text(4), superseded, superseded, text(9)]
    before = len(sent(github))
    assert publish(github, 4) == "unchanged"
    assert len(sent(github)) == before


def test_a_duplicate_that_cannot_be_changed_is_left(github: FakeGitHub) -> None:
    for run in (1, 2):
        github.add_comment(12, text(run), BOT)
    github.fail("PATCH", f"comments/{github.comments[1]['id']}", 403, times=None)
    assert publish(github, 3) == "updated"
    assert bodies(github) == [text(3), text(2)]


def test_a_person_and_an_app_of_ones_own_find_their_comments(github: FakeGitHub) -> None:
    github.add_token("ghp_person", "Alice")
    github.add_token("ghs_app", "our-app[bot]", dict(github.permissions))
    for token in ("ghp_person", "ghs_app"):
        assert publish(github, 1, token=token) == "created"
        assert publish(github, 2, token=token) == "updated"
    assert [one["user"] for one in github.comments] == ["Alice", "our-app[bot]"]


def test_a_person_is_no_app_of_the_same_name(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """GraphQL may call an app by its bare name."""
    monkeypatch.setattr(Transport, "viewer", lambda *_: "GitHub-Actions")
    github.add_comment(12, text(1), "github-actions[bot]")
    github.add_comment(12, text(9), "octocat[bot]")
    assert publish(github, 2) == "updated"
    github.comments.clear()
    monkeypatch.setattr(Transport, "viewer", lambda *_: BOT)
    github.add_comment(12, text(1), "github-actions")
    assert publish(github, 2) == "created"


@pytest.mark.parametrize(
    ("what", "methods"),
    [
        ("cut-after", "GET POST GET"),
        ("cut-half", "GET POST GET"),
        # not carried out, which nobody can know: looked for before the second one
        ("cut", "GET POST GET POST"),
        (502, "GET POST GET POST"),
        ("garbage", "GET POST GET POST"),
        # refused for certain
        (429, "GET POST POST"),
        ("secondary", "GET POST POST"),
    ],
)
def test_no_comment_is_doubled(github: FakeGitHub, what: int | str, methods: str) -> None:
    github.fail("POST", COMMENTS, what)
    assert publish(github, 1) == "created"
    assert bodies(github) == [text(1)]
    assert " ".join(one.method for one in github.requests if one.path == COMMENTS) == methods


@pytest.mark.parametrize("what", ["cut", "cut-after", 502, 503, 429, "secondary"])
def test_an_update_is_sent_again(github: FakeGitHub, what: int | str) -> None:
    github.add_comment(12, text(1), BOT)
    github.fail("PATCH", "comments", what)
    assert publish(github, 2) == "updated"
    assert bodies(github) == [text(2)]


def test_a_comment_deleted_meanwhile_is_created_anew(github: FakeGitHub) -> None:
    github.add_comment(12, text(1), BOT)
    github.fail("PATCH", "comments", 404)

    def delete() -> None:
        if any(one.method == "PATCH" for one in github.requests):
            github.comments.clear()
            github.after = None

    github.after = delete
    assert publish(github, 2) == "created"
    assert bodies(github) == [text(2)]


def problem(github: FakeGitHub, run: int = 1) -> Problem:
    with pytest.raises(Problem) as caught:
        publish(github, run)
    return caught.value


def test_what_never_works_ends(github: FakeGitHub) -> None:
    github.fail("POST", COMMENTS, 502, times=None)
    found = problem(github)
    assert (found.what, found.status) == ("cannot write a comment on #12: GitHub answers with 502", 502)
    assert github.comments == []
    github.add_comment(12, text(1), BOT)
    github.fail("PATCH", "comments", 404, times=None)
    assert "cannot write the comment" in problem(github, 2).what


def test_a_missing_permission_is_named_and_a_locked_conversation_is_none(github: FakeGitHub) -> None:
    said = "the token lacks the permission (403: Resource not accessible by integration)"
    for permission in ("read", "none"):
        github.permissions["pull-requests"] = permission
        found = problem(github)
        assert (found.permission, found.status) == ("pull-requests: write", 403)
        assert permission != "read" or found.what == f"cannot write a comment on #12: {said}"
    github.permissions["pull-requests"] = "write"
    github.pulls[12].locked = True
    found = problem(github)
    assert "issue is locked" in found.what and found.permission is None


# --- another job's ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "theirs",
    [
        marker(5, "a.yml/b/mac"),
        Marker("gate", HEAD, stamp(5, use="v")),
        marker(9, "nightly.yml/b"),
        marker(4, "nightly.yml/b"),
        Marker("gate", "b" * 40, stamp(5, job="a.yml/lint")),
    ],
)
def test_another_job_s_comment_is_left_as_it_is(github: FakeGitHub, theirs: Marker) -> None:
    github.add_comment(12, f"{theirs.text}\nred", BOT)
    for create in (True, False):
        posted = publish_comment(github.client(), 12, marker(5), "green", create=create)
        assert (posted.did, posted.by) == ("taken", theirs.stamp)
    assert bodies(github) == [f"{theirs.text}\nred"]
    assert sent(github) == []


def test_a_job_that_was_renamed_since_the_last_commit_goes_on_with_its_comment(github: FakeGitHub) -> None:
    before = Marker("gate", "b" * 40, stamp(4, job="a.yml/old"))
    github.add_comment(12, f"{before.text}\nred", BOT)
    assert publish(github, 5) == "updated"
    assert bodies(github) == [text(5)]


def test_a_comment_that_is_not_wanted_is_only_updated(github: FakeGitHub) -> None:
    posted = publish_comment(github.client(), 12, marker(5), "plain", create=False)
    assert (posted.did, posted.url) == ("absent", None)
    assert bodies(github) == []
    publish(github, 4)
    assert publish_comment(github.client(), 12, marker(5), "plain", create=False).did == "updated"
    assert bodies(github) == [f"{marker(5).text}\nplain"]
