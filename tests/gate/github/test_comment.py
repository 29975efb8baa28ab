"""The comment: found again, updated, left alone, and what a forge may do in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gate.github.client import Forge
from gate.github.comment import Marker, publish_comment
from gate.github.problems import Problem
from gate.github.stamp import Stamp
from tests.support.forge import FakeGitHub
from tests.support.forge.clock import hurried

HEAD = "a" * 40
REST = "by=1.1 job=perfgate.yml/bench use=u"
BOT = "github-actions[bot]"
COMMENTS = "/repos/acme/widget/issues/12/comments"


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    with FakeGitHub("acme/widget") as github:
        hurried(monkeypatch, github)
        github.add_pull(12)
        yield github
        assert github.violations == []


def forge(github: FakeGitHub, **more: Any) -> Forge:
    given = {"api_url": github.url, "token": github.token, "repository": "acme/widget", "patience": 600.0, **more}
    return Forge(**given)


def stamp(run: int, attempt: int = 1, job: str = "perfgate.yml/bench", use: str = "u") -> Stamp:
    return Stamp(run=run, attempt=attempt, by_run=run, by_attempt=attempt, job=job, use=use)


def marker(run: int, attempt: int = 1, gate: str = "gate", **more: str) -> Marker:
    return Marker(gate, HEAD, stamp(run, attempt, **more))


def text(run: int, attempt: int = 1) -> str:
    return f"{marker(run, attempt).text}\nbody of {run}.{attempt}"


def publish(github: FakeGitHub, run: int, attempt: int = 1, **more: Any) -> str:
    return publish_comment(forge(github, **more), 12, marker(run, attempt), f"body of {run}.{attempt}").did


def bodies(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments]


def sent(github: FakeGitHub, *methods: str) -> list[tuple[str, str]]:
    return [(one.method, one.path) for one in github.requests if one.method in methods and one.path != "/graphql"]


def test_a_marker_is_read_back() -> None:
    for one in (
        marker(1),
        Marker("a.b_C-9", "unknown", stamp(0, job="a%20b.yml/*")),
        Marker("x" * 100, "0" * 64, stamp(10**17, 999)),
    ):
        assert Marker.parse(f"{one.text}\nbody") == one
        assert Marker.parse(f"{one.text}\r\nbody\r\n") == one
        assert Marker.parse(one.text) == one
    assert marker(7, 2).text == (
        f"<!-- perfgate:gate head={HEAD} run=7 attempt=2 by=7.2 job=perfgate.yml/bench use=u -->"
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        f"> {marker(1).text}",
        f" {marker(1).text}",
        f"hello\n{marker(1).text}",
        f"\n{marker(1).text}",
        f"{marker(1).text} and more",
        f"{marker(1).text}{marker(1).text}",
        f"<!-- perfgate:gate head={HEAD} run=-1 attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD} run=١ attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD} run={'9' * 19} attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD[:39]} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={'A' * 40} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate: head={HEAD} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:{'x' * 101} head={HEAD} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:a b head={HEAD} run=1 attempt=1 {REST} -->",
        f"<!-- perfgate:gate head={HEAD} run=1 attempt=1 by=1 job=a use=u -->",
        f"<!-- perfgate:gate head={HEAD} run=1 attempt=1 by=1.1 job=a>b use=u -->",
        f"<!-- perfgate:gate head={HEAD} run=1 attempt=1 -->",
        f"<!--perfgate:gate head={HEAD} run=1 attempt=1 {REST}-->",
    ],
)
def test_what_is_no_marker(body: str) -> None:
    assert Marker.parse(body) is None


@pytest.mark.parametrize(
    ("gate", "head", "run", "job"),
    [
        *(("", HEAD, 1, "a"), ("a b", HEAD, 1, "a"), ("a-->", HEAD, 1, "a"), ("a", "HEAD", 1, "a")),
        *(("a", HEAD, -1, "a"), ("a", HEAD, 1, "a b"), ("a", HEAD, 1, "-->")),
    ],
)
def test_a_marker_that_could_not_be_read_is_not_made(gate: str, head: str, run: int, job: str) -> None:
    with pytest.raises(ValueError, match="no marker can be made"):
        Marker(gate, head, stamp(run, job=job))


def test_one_comment_is_created_updated_and_left_alone(github: FakeGitHub) -> None:
    posted = publish_comment(forge(github), 12, marker(1), "body of 1.1")
    assert posted.did == "created"
    assert posted.url is not None and posted.url.endswith(f"#issuecomment-{github.comments[0]['id']}")
    assert bodies(github) == [text(1)]
    assert publish(github, 1) == "unchanged"
    assert publish(github, 2) == "updated"
    assert bodies(github) == [text(2)]
    assert publish(github, 2, attempt=2) == "updated"
    assert publish(github, 2, attempt=1) == "older"
    assert publish(github, 1, attempt=9) == "older"
    assert bodies(github) == [text(2, 2)]
    assert sent(github, "POST", "PATCH") == [
        ("POST", COMMENTS),
        *[("PATCH", f"/repos/acme/widget/issues/comments/{github.comments[0]['id']}")] * 2,
    ]


def test_the_same_run_may_say_something_else(github: FakeGitHub) -> None:
    publish(github, 1)
    assert publish_comment(forge(github), 12, marker(1), "accepted").did == "updated"
    assert bodies(github) == [f"{marker(1).text}\naccepted"]


def test_after_an_update_those_may_write_who_had_read_before(
    github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(github, 1)
    clock = hurried(monkeypatch, github)
    assert (publish(github, 2), clock.slept) == ("updated", [1.0])


def test_line_ends_of_a_forge_are_no_change(github: FakeGitHub) -> None:
    github.add_comment(12, f"{text(1)}\n".replace("\n", "\r\n"), BOT)
    assert publish(github, 1) == "unchanged"
    assert sent(github, "PATCH", "POST") == []


def test_what_others_wrote_is_not_ours(github: FakeGitHub) -> None:
    others = [
        (text(9), "mallory"),
        (text(9), "github-actions"),  # a person may be called so
        (f"> {text(9)}", BOT),
        (f"look:\n{text(9)}", BOT),
        (f"{marker(9, gate='another').text}\nbody", BOT),
    ]
    for body, login in others:
        github.add_comment(12, body, login)
    github.add_pull(13)
    github.add_comment(13, text(9), BOT)
    assert publish(github, 1) == "created"
    assert publish(github, 2) == "updated"
    assert bodies(github) == [*(body for body, _ in others), text(9), text(2)]


def test_a_comment_on_another_page_is_found(github: FakeGitHub) -> None:
    for number in range(230):
        github.add_comment(12, f"comment {number}")
    github.add_comment(12, text(1), BOT)
    assert publish(github, 2) == "updated"
    assert len(github.comments) == 231
    assert github.comments[-1]["body"] == text(2)
    pages = [one.query for one in github.requests if one.path == COMMENTS][:3]
    assert pages == [{"page": str(page), "per_page": "100"} for page in (1, 2, 3)]


def test_comments_of_ours_become_one(github: FakeGitHub) -> None:
    for run in (2, 1, 3):
        github.add_comment(12, text(run), BOT)
    assert publish(github, 4) == "updated"
    first, *others = github.comments
    assert first["body"] == text(4)
    for one in others:
        assert one["body"] == f"Superseded by {github.url}/web/acme/widget/pull/12#issuecomment-{first['id']}"
    before = len(github.requests)
    assert publish(github, 4) == "unchanged"
    assert {one.method for one in github.requests[before:] if one.path != "/graphql"} == {"GET"}


def test_the_newest_of_ours_is_moved_to_the_oldest(github: FakeGitHub) -> None:
    for run in (1, 7, 3):
        github.add_comment(12, text(run), BOT)
    assert publish(github, 4) == "older"
    assert [one["body"] for one in github.comments if not one["body"].startswith("Superseded")] == [text(7)]
    assert github.comments[0]["body"] == text(7)


def test_without_graphql_everything_works(github: FakeGitHub) -> None:
    github.graphql = False
    for run in (1, 2):
        github.add_comment(12, text(run), BOT)
    github.add_comment(12, text(9), "mallory")
    assert publish(github, 3) == "updated"
    assert bodies(github)[0] == text(3)
    assert bodies(github)[1].startswith("Superseded by http")
    assert bodies(github)[2] == text(9)


def test_a_person_and_an_app_of_ones_own_find_their_comments(github: FakeGitHub) -> None:
    github.add_token("ghp_person", "Alice")
    github.add_token("ghs_app", "our-app[bot]", dict(github.permissions))
    for token in ("ghp_person", "ghs_app"):
        assert publish(github, 1, token=token) == "created"
        assert publish(github, 2, token=token) == "updated"
    assert [one["user"] for one in github.comments] == ["Alice", "our-app[bot]"]


def test_a_person_is_no_app_of_the_same_name(github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """GraphQL may call an app by its bare name."""
    monkeypatch.setattr("gate.github.comment.login", lambda *_: "GitHub-Actions")
    github.add_comment(12, text(1), "github-actions[bot]")
    github.add_comment(12, text(9), "octocat[bot]")
    assert publish(github, 2) == "updated"
    github.comments.clear()
    monkeypatch.setattr("gate.github.comment.login", lambda *_: BOT)
    github.add_comment(12, text(1), "github-actions")
    assert publish(github, 2) == "created"


def test_who_we_are_is_asked_only_where_it_matters(github: FakeGitHub) -> None:
    github.add_comment(12, "hello")
    publish(github, 1)
    assert [one.path for one in github.requests if one.path in ("/user", "/graphql")] == []


@pytest.mark.parametrize(
    ("what", "methods"),
    [
        ("cut-after", "GET POST GET"),
        ("cut-half", "GET POST GET"),
        # not carried out, which nobody can know: looked for before the second one
        ("cut", "GET POST GET POST GET"),
        (502, "GET POST GET POST GET"),
        ("garbage", "GET POST GET POST GET"),
        # refused for certain
        (429, "GET POST POST GET"),
        ("secondary", "GET POST POST GET"),
    ],
)
def test_no_comment_is_doubled(github: FakeGitHub, what: int | str, methods: str) -> None:
    github.fail("POST", COMMENTS, what)
    assert publish(github, 1) == "created"
    assert bodies(github) == [text(1)]
    assert " ".join(one.method for one in github.requests if one.path == COMMENTS) == methods


def test_a_creation_that_never_works_ends(github: FakeGitHub) -> None:
    github.fail("POST", COMMENTS, 502, times=None)
    with pytest.raises(Problem, match=r"^cannot write a comment on #12: GitHub answers with 502$") as caught:
        publish(github, 1)
    assert caught.value.status == 502
    assert github.comments == []


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
        if any(one.method == "GET" and "/issues/comments/" in one.path for one in github.requests):
            github.comments.clear()
            github.after = None

    github.after = delete
    assert publish(github, 2) == "created"
    assert bodies(github) == [text(2)]


def test_a_comment_that_cannot_be_edited_nor_created_ends(github: FakeGitHub) -> None:
    github.add_comment(12, text(1), BOT)
    github.fail("PATCH", "comments", 404, times=None)
    with pytest.raises(Problem, match="cannot write the comment"):
        publish(github, 2)


def test_trouble_after_writing_is_no_trouble(github: FakeGitHub) -> None:
    def fail() -> None:
        if sent(github, "POST"):
            github.fail("GET", COMMENTS, 500, times=None)

    github.after = fail
    assert publish(github, 1) == "created"


def test_a_duplicate_that_cannot_be_changed_is_left(github: FakeGitHub) -> None:
    for run in (1, 2):
        github.add_comment(12, text(run), BOT)
    github.fail("PATCH", f"comments/{github.comments[1]['id']}", 403, times=None)
    assert publish(github, 3) == "updated"
    assert bodies(github) == [text(3), text(2)]


def test_a_missing_permission_is_named(github: FakeGitHub) -> None:
    github.permissions["pull-requests"] = "read"
    with pytest.raises(Problem) as caught:
        publish(github, 1)
    assert caught.value.permission == "pull-requests: write"
    assert caught.value.status == 403
    assert caught.value.what == (
        "cannot write a comment on #12: the token lacks the permission (403: Resource not accessible by integration)"
    )
    del github.permissions["pull-requests"]
    with pytest.raises(Problem) as caught:
        publish(github, 1)
    assert caught.value.permission == "pull-requests: write"


def test_a_locked_conversation_is_no_missing_permission(github: FakeGitHub) -> None:
    github.pulls[12].locked = True
    with pytest.raises(Problem, match="issue is locked") as caught:
        publish(github, 1)
    assert caught.value.permission is None


def test_a_comment_that_is_too_long_is_not_sent(github: FakeGitHub) -> None:
    room = 65_536 - len(marker(1).text) - 1
    with pytest.raises(Problem, match=r"it has 65,537 characters, and GitHub takes 65,536") as caught:
        publish_comment(forge(github), 12, marker(1), "x" * (room + 1))
    assert caught.value.status == 422
    assert sent(github, "POST") == []
    assert publish_comment(forge(github), 12, marker(1), "x" * room).did == "created"


# --- another job's ----------------------------------------------------------------------------------------------------


def other(run: int, job: str = "perfgate.yml/bench/mac", use: str = "u") -> Marker:
    return Marker("gate", HEAD, stamp(run, job=job, use=use))


@pytest.mark.parametrize(
    "theirs",
    [
        other(5),
        other(5, "perfgate.yml/bench", use="v"),
        other(9, "nightly.yml/bench"),
        other(4, "nightly.yml/bench"),
        Marker("gate", "b" * 40, stamp(5, job="perfgate.yml/lint")),
    ],
)
def test_another_job_s_comment_is_left_as_it_is(github: FakeGitHub, theirs: Marker) -> None:
    github.add_comment(12, f"{theirs.text}\nred", BOT)
    for create in (True, False):
        posted = publish_comment(forge(github), 12, marker(5), "green", create=create)
        assert (posted.did, posted.by) == ("taken", theirs.stamp)
    assert bodies(github) == [f"{theirs.text}\nred"]
    assert sent(github, "POST", "PATCH") == []


def test_a_job_that_was_renamed_since_the_last_commit_goes_on_with_its_comment(github: FakeGitHub) -> None:
    before = Marker("gate", "b" * 40, stamp(4, job="perfgate.yml/old"))
    github.add_comment(12, f"{before.text}\nred", BOT)
    assert publish(github, 5) == "updated"
    assert bodies(github) == [text(5)]


def test_a_comment_that_is_not_wanted_is_only_updated(github: FakeGitHub) -> None:
    posted = publish_comment(forge(github), 12, marker(5), "plain", create=False)
    assert (posted.did, posted.url) == ("absent", None)
    assert bodies(github) == []
    publish(github, 4)
    assert publish_comment(forge(github), 12, marker(5), "plain", create=False).did == "updated"
    assert bodies(github) == [f"{marker(5).text}\nplain"]
