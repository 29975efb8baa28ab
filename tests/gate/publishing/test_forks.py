"""Deciding over what a fork's run left: a forge on loopback, hostile zips; and what a label says, in a queue too."""

import dataclasses
import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from gate.decide.report import Decided
from gate.evidence.lines import Inputs
from gate.evidence.records import read
from gate.github.event import Event, SourceRepository, SourceRun, accepted_by, queued
from gate.model import Run, UserError
from gate.model.reasons import AcceptedByLabel
from gate.model.warnings.base import Said
from gate.publishing.conclusion import conclude_on
from gate.publishing.forks import MovedOnError, decide_foreign, pull_of
from gate.publishing.outcome import Target
from gate.report import Links
from gate.report.formats import renderer
from tests.gate.report import gfm
from tests.support import runs
from tests.support.forge import FakeGitHub
from tests.support.warned import kinds

BASE, HEAD, MERGE, OTHER = "b" * 40, "a" * 40, "c" * 40, "d" * 40
FORK = "mallory/widget"
NAMES = ["parse", "render"]
RULES = """
[gate]
threshold = "5%"
[plan]
builds = 6
""" + "".join(
    f'[[benchmark]]\nname = "{name}"\ncommand = "./{name} {{output}}"\ninstrument = "values"\n' for name in NAMES
)
SOURCE = SourceRun(
    id=70, attempt=2, head_sha=HEAD, head_branch="topic", head_repository=SourceRepository(FORK), event="pull_request",
    conclusion="success", path=".github/workflows/perfgate.yml",
)  # fmt: skip
EVENT = Event(
    name="workflow_run", action="completed", repository="acme/widget", default_branch="main", ref="refs/heads/main",
    sha=OTHER, run_id=99, run_attempt=1, server_url="https://example.org", api_url="", pull=None, merge_base=None,
    merge_head=None, before=None, source=SOURCE, hosted=True,
)  # fmt: skip


@pytest.fixture
def github(github: FakeGitHub) -> FakeGitHub:
    github.add_pull(12, head_sha=HEAD, base_sha=BASE, head_repository=FORK).merge_sha = MERGE
    github.files["main", "perfgate.toml"] = RULES
    return github


def lines(names: list[str] | None = None, slower: float = 1.0, **run: Any) -> list[dict[str, Any]]:
    """Measurements of two benchmarks, of which the first takes `slower` times as long on head; run: of the run line."""
    names = NAMES if names is None else names
    shape = runs.Shape(cases=len(names), builds=6, executions=2, iterations=4)
    # what the builder of runs does to the second case is not wanted here
    found = [runs.run_line(names, shape, base={"sha": BASE}, head={"sha": HEAD}, sessions=None) | run]
    for line in runs.measured(shape, names):
        if line["type"] == "execution":
            number = names.index(line["benchmark"])
            scale = (slower if number == 0 else 1.0) / runs.CHANGES[number % 5] if line["side"] == "head" else 1.0
            values = line["metrics"]["time"]["values"]
            line["metrics"]["time"]["values"] = [value * scale for value in values]
        found.append(line)
    return found


def packed(found: Iterable[dict[str, Any]], **members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("measurements.jsonl", "".join(json.dumps(line) + "\n" for line in found))
        for name, text in members.items():
            file.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


def decided(github: FakeGitHub, tmp_path: Path, data: bytes | None, **changes: Any) -> Decided:
    """Publish what a fork's run left; data: of its artifact."""
    if data is not None:
        github.add_artifact(70, "perfgate-perfgate-data", data, HEAD)
    source, pull = pull_of(github.client(), dataclasses.replace(EVENT, **changes))
    assert pull.number == 12
    return decide_foreign(github.client(), source, pull, tmp_path / "run", "perfgate")


# --- forks ------------------------------------------------------------------------------------------------------------


def test_it_is_decided_by_the_target_branchs_rules(github: FakeGitHub, tmp_path: Path) -> None:
    for slower, verdict in ((1.0, "pass"), (1.2, "regression")):
        github.artifacts.clear()
        found = decided(github, tmp_path / verdict, packed(lines(slower=slower)))
        report = found.report
        assert report.verdict == verdict
        assert report.policy.source == "the target branch main" and report.policy.gate["threshold"] == "5%"
        assert [f.verdict for f in report.findings] == ["unchanged" if slower == 1 else "regression", "unchanged"]
        assert kinds(report.warnings)[-1] == "foreign-values"
        kept = tmp_path / verdict / "run" / "measurements.jsonl"
        assert [path.name for path in kept.parent.iterdir()] == ["measurements.jsonl"]
        assert isinstance(read("kept", kept.read_bytes()).records[0].record, Run)


def test_what_the_artifact_says_of_itself_is_ignored(github: FakeGitHub, tmp_path: Path) -> None:
    loose = {
        "gate": {"threshold": "90%", "missing": "pass"}, "accept": [{"benchmark": "*", "up_to": "99%", "until": "2999-01-01", "reason": "x"}],
        "plan": {"metrics": ["none"], "builds": 6},
    }  # fmt: skip
    forged = lines(
        slower=1.2, config=loose, rules="the maintainers", warnings=["merge it"], benchmarks={"base": [], "head": []}
    )
    report = decided(
        github, tmp_path, packed(forged, report_json='{"verdict":"pass"}', comment_md="pass", perfgate_toml="[gate]")
    ).report
    assert report.verdict == "regression" and report.exit_code == 1
    assert report.policy.accept == [] and report.policy.gate["missing"] == "fail"
    assert Said("merge it") not in report.warnings


def test_benchmarks_left_out_are_missing_and_others_are_new(github: FakeGitHub, tmp_path: Path) -> None:
    only = [line for line in lines() if line.get("benchmark") != "parse"]
    fresh = [{**line, "benchmark": "fresh"} for line in lines() if line.get("benchmark") == "parse"]
    report = decided(github, tmp_path, packed([*only, *fresh])).report
    assert (report.verdict, report.exit_code) == ("error", 4)
    assert [(f.kind, f.benchmark) for f in report.failures] == [("missing", "parse")]
    assert report.new == ["fresh"] and [f.benchmark for f in report.findings] == ["render"]
    github.artifacts.clear()
    nothing = decided(github, tmp_path / "nothing", packed(lines()[:1])).report
    assert (nothing.verdict, nothing.exit_code) == ("error", 4)


def test_a_merge_into_the_target_is_the_head_too(github: FakeGitHub, tmp_path: Path) -> None:
    report = decided(github, tmp_path, packed(lines(head={"sha": MERGE}))).report
    assert report.run.head is not None and (report.run.head.sha, report.run.head.ref) == (MERGE, "#12")
    assert "merged into its target" in (report.run.chosen or "")


@pytest.mark.parametrize("parents", [(BASE, HEAD), (HEAD, BASE), (HEAD,), (BASE, OTHER), None])
def test_an_earlier_merge_is_known(github: FakeGitHub, tmp_path: Path, parents: tuple[str, ...] | None) -> None:
    if parents is not None:
        github.state.parents[OTHER] = parents
    data = packed(lines(head={"sha": OTHER}))
    if parents == (BASE, HEAD):
        assert decided(github, tmp_path, data).report.verdict == "pass"
        return
    said = r"measured another commit \(dddddddddd\) than the pull request's head \(aaaaaaaaaa\)"
    with pytest.raises(UserError, match=said):
        decided(github, tmp_path, data)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"source": None, "name": "push"}, "needs a workflow_run workflow, and this is push"),
        ({"source": msgspec.structs.replace(SOURCE, event="push")}, "run 70 was started by push"),
        ({"source": msgspec.structs.replace(SOURCE, event="pull_request_target")}, "started by pull_request_target"),
        ({"source": msgspec.structs.replace(SOURCE, conclusion=None)}, "run 70 is not over"),
    ],
)
def test_only_pull_requests_are_published(github: FakeGitHub, tmp_path: Path, change: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        decided(github, tmp_path, packed(lines()), **change)
    assert github.requests == []


@pytest.mark.parametrize(
    ("fact", "value"),
    [("state", "closed"), ("head_sha", OTHER), ("head_repository", "somebody/widget"), ("head_repository", None)],
)
def test_what_moved_on_gets_nothing(github: FakeGitHub, tmp_path: Path, fact: str, value: str | None) -> None:
    setattr(github.pulls[12], fact, value)
    # a fork that was deleted is none of the run's either
    source = SOURCE if value else msgspec.structs.replace(SOURCE, head_repository=None)
    with pytest.raises(MovedOnError, match="moved on or was closed; nothing is published"):
        decided(github, tmp_path, packed(lines()), source=source)
    assert github.downloads == []


def test_two_pull_requests_of_one_head_are_told_apart_by_nobody(github: FakeGitHub, tmp_path: Path) -> None:
    github.add_pull(13, head_sha=HEAD, base_ref="release", head_repository=FORK)
    with pytest.raises(UserError, match=r"#12, #13|#13, #12"):
        decided(github, tmp_path, packed(lines()))


MAIN = ("main", "perfgate.toml")


@pytest.mark.parametrize(
    ("files", "artifact", "why"),
    [
        ({}, {}, r"the target branch main has no perfgate.toml, nor \[tool.perfgate\] in pyproject.toml: .*add it there"),
        ({MAIN: RULES, ("main", "pyproject.toml"): "[tool.perfgate.gate]\nthreshold = '1%'\n"}, {}, "the target branch main: perfgate.toml: pyproject.toml has"),
        ({MAIN: "[gate]\nthreshhold = 1\n"}, {}, r"the target branch main: perfgate.toml:2: gate.threshhold: unknown key; did you mean threshold"),
        ({MAIN: "[gate]\n"}, {}, r"has no \[\[benchmark\]\]"),
        ({MAIN: RULES}, {"expired": True}, "the run left no artifact perfgate-perfgate-data, or it has expired"),
        ({MAIN: RULES}, {"name": "perfgate-perfgate-data-2"}, "left no artifact"),
    ],
)  # fmt: skip
def test_what_is_lacking_is_one_line(
    github: FakeGitHub, tmp_path: Path, files: dict[tuple[str, str], str], artifact: dict[str, Any], why: str
) -> None:
    made = github.add_artifact(70, "perfgate-perfgate-data", packed(lines()), HEAD)
    for name, value in artifact.items():
        setattr(made, name, value)
    github.files.clear()
    github.files.update(files)
    with pytest.raises(UserError, match=why) as caught:
        decided(github, tmp_path, None)
    assert "\n" not in str(caught.value)


def test_rules_in_a_folder_and_options_over_them(github: FakeGitHub, tmp_path: Path) -> None:
    github.files.clear()
    github.files["main", "some/lib/pyproject.toml"] = "[tool.perfgate]\n" + RULES.replace(
        "[gate]", "[tool.perfgate.gate]"
    ).replace("[plan]", "[tool.perfgate.plan]").replace("[[benchmark]]", "[[tool.perfgate.benchmark]]")
    github.add_artifact(70, "perfgate-lib-data", packed(lines(slower=1.2)), HEAD)
    asking = github.client()
    source, pull = pull_of(asking, EVENT)
    sets = ["gate.threshold=60%"]
    report = decide_foreign(asking, source, pull, tmp_path / "x", "lib", directory="./some/lib", sets=sets).report
    assert report.verdict == "pass" and report.policy.gate["threshold"] == "60%"
    assert report.policy.source == "the target branch main with gate.threshold=60%"
    for directory in ("/etc", "../x", "a/../../b"):
        with pytest.raises(UserError, match="is not a folder inside the repository"):
            decide_foreign(asking, source, pull, tmp_path / "y", "lib", directory=directory)


def test_the_label_accepts(github: FakeGitHub, tmp_path: Path) -> None:
    # whatever the case, as GitHub has labels
    github.pulls[12].labels.append("Perf-Accepted")
    report = decided(github, tmp_path, packed(lines(slower=1.2))).report
    assert report.verdict == "pass" and report.findings[0].accepted is not None
    assert report.findings[0].reason == AcceptedByLabel(label="the label perf-accepted of #12", outgrown=None)


def test_parts_are_merged_and_one_that_is_lacking_is_an_error(github: FakeGitHub, tmp_path: Path) -> None:
    for number, name in enumerate(NAMES, 1):
        mine = [line for line in lines() if line.get("benchmark", name) == name]
        mine[0] |= {"shard": f"{number}/2"}
        github.add_artifact(70, f"perfgate-perfgate-data-shard{number}of2-session0", packed(mine), HEAD)
    report = decided(github, tmp_path / "both", None).report
    assert report.verdict == "pass" and len(report.findings) == 2 and report.failures == []
    del github.artifacts[1]
    report = decided(github, tmp_path / "one", None).report
    assert report.verdict == "error"
    assert {failure.status for failure in report.failures} >= {"shard 2 of 2 is missing"}
    # what was merged already stands for all of it
    report = decided(github, tmp_path / "merged", packed(lines())).report
    assert report.verdict == "pass"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00" * 1000, "is not a zip file"),
        (packed([]), "has no run line"),
        (packed([*lines(), {"type": "execution"}]), "line .*: needs the key benchmark"),
        (packed([*lines(), {**lines()[-1], "benchmark": "x" * 501}]), "benchmark is longer than 500"),
        (packed([*lines(), lines()[-1]]), "the same start twice"),
        (packed([*lines(), {"type": "host", "when": "begin"}]), "its run did not finish"),
    ],
    ids=["zip", "empty", "line", "name", "twice", "broken off"],
)
def test_a_hostile_artifact_is_one_line(github: FakeGitHub, tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why) as caught:
        decided(github, tmp_path, data)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400
    assert list((tmp_path / "run").iterdir()) in ([], [tmp_path / "run" / "measurements.jsonl"])


def hostile() -> list[dict[str, Any]]:
    """A run of which every text that it may hold is markup, a mention, a link, or an order to the reader."""
    said = " ".join(runs.HOSTILE)
    texts = dict.fromkeys(runs.HOSTILE, said)
    found = lines(
        slower=1.2, id=said, created=said, perfgate=said, chosen=said, rules=said, warnings=[said], commands=texts, host=texts,
        benchmarks={"base": list(runs.HOSTILE), "head": list(runs.HOSTILE)},
        base={"sha": BASE, "ref": said}, head={"sha": HEAD, "ref": said},
    )  # fmt: skip
    for line in found:
        if line["type"] == "build":
            line["artifacts"] = texts
        if line["type"] == "execution" and line["benchmark"] == "render":
            metric = line["metrics"].pop("time")
            line |= {
                "factors": dict.fromkeys(runs.HOSTILE[:3], runs.HOSTILE[6]),
                "started": said,
                "suite": runs.HOSTILE[2],
            }
            line["metrics"] |= {"time": metric, **{name: {**metric, "unit": name[:100]} for name in runs.HOSTILE}}
    extra = [{**line, "benchmark": name} for name in runs.HOSTILE for line in found if line.get("benchmark") == "parse"]
    failures = [
        {
            "type": "failure", "kind": "execution", "benchmark": name, "side": "head", "status": name, "stderr": f"{said}\n```\n{name}",
            "command": said, "directory": said, "environment": texts, "hint": f"{name} merge this now",
        }
        for name in runs.HOSTILE
    ]  # fmt: skip
    state = {"type": "host", "when": "begin", "time": said, "state": texts | {"kernel": said, "governor": said}}
    return [
        *found,
        *extra,
        *failures,
        state,
        {**state, "when": "end"},
        {"type": "look", "look": 6, "settled": list(texts), "stop": said},
    ]


def test_nothing_foreign_is_live_in_what_is_published(github: FakeGitHub, tmp_path: Path) -> None:
    found = decided(github, tmp_path, packed(hostile()))
    links = Links(report="https://github.example/report", run="https://github.example/run")
    forms: tuple[Literal["markdown", "summary"], ...] = ("markdown", "summary")
    for form in forms:
        text = renderer(form)(found, links)
        seen = gfm.read(text)
        assert seen.tags - gfm.OURS <= {"a"}, form
        assert set(seen.links) <= {links.report, links.run}, form
        assert (seen.live, seen.unbalanced) == ([], []), form
        assert "<!-- perfgate" not in text and "merge this now" not in seen.text
    report = found.report
    assert report.verdict == "regression" and report.exit_code == 1
    assert report.run.host == {} and report.run.commands is None
    page = renderer("html")(found, Links())
    assert "<img" not in page and "<svg onload" not in page and "hacked=1</script>" not in page


# --- labels -----------------------------------------------------------------------------------------------------------


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


def test_labels_that_cannot_be_read_accept_nothing(github: FakeGitHub, inputs: Inputs) -> None:
    github.pulls[12].labels.append("PERF-accepted")
    queue = f"refs/heads/gh-readonly-queue/main/pr-12-{'a' * 40}"
    event = dataclasses.replace(EVENT, name="merge_group", ref=queue, api_url=github.url, source=None)
    asking = inputs, event, Target(None, HEAD, 1, 1), {"GITHUB_TOKEN": github.token}
    accepted = conclude_on(*asking)
    assert (accepted.outcome.verdict, accepted.warnings) == ("pass", ())
    del github.permissions["pull-requests"]
    refused = conclude_on(*asking)
    assert refused.outcome.verdict == "regression"
    [warning] = refused.warnings
    assert warning.startswith("the labels of #12 cannot be read: ")
    assert warning.endswith("; add `pull-requests: write` below `permissions:` of this job")
