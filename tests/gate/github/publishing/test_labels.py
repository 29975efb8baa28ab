"""Which pull request a merge group is for, so that its label counts in the queue too; and what a label says."""

import dataclasses
import io
import zipfile

import pytest

from gate.evidence.records import Inputs, read
from gate.github.event import accepted_by, queued
from gate.github.publishing.conclusion import conclude_on
from gate.github.publishing.outcome import Target
from tests.gate.github.publishing.test_forks import EVENT, HEAD, lines, packed
from tests.support.forge import FakeGitHub


@pytest.mark.parametrize(
    ("name", "ref", "number"),
    [
        ("merge_group", f"refs/heads/gh-readonly-queue/main/pr-12-{'a' * 40}", 12),
        ("merge_group", f"refs/heads/gh-readonly-queue/release/1.x/pr-7-{'a' * 40}", 7),
        ("merge_group", "refs/heads/gh-readonly-queue/main/pr-12-zzz", None),
        ("merge_group", f"refs/heads/topic/pr-12-{'a' * 40}", None),
        # anybody may push a branch of such a name
        ("push", f"refs/heads/gh-readonly-queue/main/pr-12-{'a' * 40}", None),
    ],
)
def test_a_merge_group_names_its_pull_request(name: str, ref: str, number: int | None) -> None:
    assert queued(dataclasses.replace(EVENT, name=name, ref=ref)) == number


@pytest.mark.parametrize(
    ("wanted", "labels", "words"),
    [
        ("perf-accepted", ("bug", "Perf-Accepted"), "the label perf-accepted of #12"),
        ("PERF", ("perf",), "the label PERF of #12"),
        ("perf-accepted", ("perf-accepted!", "perf"), None),
        ("", ("",), None),
    ],
)
def test_a_label_is_known_in_whatever_case(wanted: str, labels: tuple[str, ...], words: str | None) -> None:
    assert accepted_by(wanted, 12, labels) == words


@pytest.fixture
def inputs() -> Inputs:
    """A run with a regression."""
    with zipfile.ZipFile(io.BytesIO(packed(lines(slower=1.2)))) as archive:
        return Inputs(read("measurements.jsonl", archive.read("measurements.jsonl")).records, [], [])


OWN = Target(12, HEAD, 1, 1)


@pytest.mark.parametrize(
    ("target", "comment", "warnings"),
    [
        (OWN, True, 0),
        (OWN, False, 1),
        # nobody comments on these
        (Target(12, HEAD, 1, 1, fork=True), True, 1),
        (Target(None, HEAD, 1, 1), True, 1),
    ],
    ids=["comment", "none wanted", "fork", "queue"],
)
def test_one_missing_permission_is_told_once(inputs: Inputs, target: Target, comment: bool, warnings: int) -> None:
    queue = f"refs/heads/gh-readonly-queue/main/pr-12-{'a' * 40}"
    with FakeGitHub("acme/widget") as github:
        github.add_pull(12, head_sha=HEAD, labels=("PERF-accepted",))
        asking = dataclasses.replace(EVENT, name="merge_group", ref=queue, api_url=github.url, source=None)
        environment = {"GITHUB_TOKEN": github.token}
        accepted = conclude_on(inputs, asking, target, environment, comment=comment)
        assert (accepted.outcome.verdict, accepted.warnings) == ("pass", ())
        del github.permissions["pull-requests"]
        refused = conclude_on(inputs, asking, target, environment, comment=comment)
        assert refused.outcome.verdict == "regression"
        assert len(refused.warnings) == warnings
        for warning in refused.warnings:
            assert warning.startswith("the labels of #12 cannot be read: ")
            assert warning.endswith("; add `pull-requests: write` below `permissions:` of this job")
        # another cause is told in any case
        github.fail("GET", "/pulls/12", 404)
        assert len(conclude_on(inputs, asking, target, environment, comment=comment).warnings) == 1
