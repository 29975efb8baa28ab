"""Decisions over the measurements of a fork's workflow run, which are not trusted."""

from __future__ import annotations

import datetime
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from gate.cli.groups import RulesOptions
from gate.config.config_text import from_tables, project_source
from gate.config.parse import parse
from gate.config.resolve import over, tables_of
from gate.config.rules import Policy
from gate.decide.report import Decided, decide_by
from gate.evidence.lines import Inputs, Located
from gate.evidence.records import MEASUREMENTS
from gate.github.client import ArtifactFacts, Forge, PullFacts
from gate.github.event import Event, SourceRun, accepted_by
from gate.model import Commit, RulesSource, Run, UserError
from gate.model.records import Choice, SideChoice
from gate.model.warnings.base import Said
from gate.planning.deciding import next_plan
from gate.publishing.outcome import LARGEST_STATUS, Status, parse_left
from gate.publishing.request import STATUS, TEXT
from gate.publishing.untrusted.read import ARTIFACT, LARGEST_ZIP, LIMITS, ArtifactTotals, member, read_untrusted, unpack
from gate.publishing.untrusted.sanitise import claims_of, refuse_unfinished, sanitise
from gate.writing.plain import clip, visible

MOST_PARTS = 64
"""Artifacts of one gate: more shards and sessions than this are not merged here."""


class MovedOnError(UserError):
    """The pull request is closed, or has another head by now: there is nothing to publish, and nothing wrong."""


class NothingLeftError(UserError):
    """A run left no measurements of a gate."""


_FOREIGN = Said(
    "the values come from the pull request's own workflow run, which its author can change: treat the verdict as "
    "advice",
    "foreign-values",
    "first",
)


def pull_of(forge: Forge, event: Event) -> tuple[SourceRun, PullFacts]:
    """Look up the run that a workflow_run event is about, and its pull request, whatever number its artifact may name.

    Raises:
        MovedOnError: no open pull request has the head that was measured.
        UserError: it was no run of a pull request, or of several.
        Problem: the forge cannot be asked.
    """
    source, found = event.source, list[PullFacts]()
    if source is None:
        raise UserError(f"command publish without runs: needs a workflow_run workflow, and this is {event.name}")
    if source.event != "pull_request":
        raise UserError(f"run {source.id} was started by {source.event}: only runs of pull_request are published")
    if source.conclusion is None:
        raise UserError(f"run {source.id} is not over: write `types: [completed]` below workflow_run")
    if source.head_repository and source.head_branch:
        found = forge.pulls_of(source.head_repository.full_name, source.head_branch)
    found = [pull for pull in found if pull.head.sha == source.head_sha]
    if not found:
        raise MovedOnError("the pull request has moved on or was closed; nothing is published")
    if len(found) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in found)
        raise UserError(
            f"pull requests {numbers} have the same head, so it is unclear which one to comment on: close the others"
        )
    return source, found[0]


def decide_foreign(
    forge: Forge, source: SourceRun, pull: PullFacts, folder: Path, gate: str, *, directory: str = ".",
    sets: Sequence[str] = (),
) -> Decided:  # fmt: skip
    """Decide again, by the rules of the target branch and from nothing but its measurements, over a run.

    Args:
        folder: gets the measurements as they were judged.
        gate: its id.
        directory: the project's in the repository, with slashes.
        sets: KEY=VALUE over the rules of the target branch.

    Raises:
        NothingLeftError: the run left no measurements.
        UserError: it left some that are not taken, or the target branch has no rules.
        Problem: the forge cannot be asked.
    """
    policy = _policy_of(forge, pull, directory, sets)
    records = fetch_records(forge, forge.artifacts_of_run(source.id), folder, gate)
    claims = claims_of(records)
    # a merge into what was the target then: the one that a pull request names is of now, and is made anew when the
    # target moves on, as it does while a benchmark runs
    if claims.head not in (pull.head.sha, pull.merge_sha) and (forge.parents(claims.head) or ())[1:] != (
        pull.head.sha,
    ):
        raise UserError(
            f"the artifact: measured another commit ({claims.head[:10]}) than the pull request's head "
            f"({pull.head.sha[:10]}); nothing of it is used"
        )
    merged = "" if claims.head == pull.head.sha else " merged into its target"
    known = Run(
        id=f"{source.id}-{source.attempt}",
        # a name of theirs could be a sentence
        base=Commit(ref=pull.base.ref, sha=claims.base),
        head=Commit(ref=f"#{pull.number}", sha=claims.head),
        choice=Choice(
            SideChoice("the commit that the fork's workflow run names"),
            SideChoice(f"the commit of #{pull.number}{merged}, confirmed by the forge"),
        ),
        whose=policy.whose or RulesSource("named", policy.source),
    )
    judged = sanitise(records, known, policy.config)
    inputs = Inputs(judged, [_FOREIGN], [write_records(judged, folder)])
    try:
        return decide_by(inputs, policy, RulesOptions(None, None, tuple(sets), ()), next_plan)
    except UserError as error:
        # such as the same execution twice, with the names that it has
        raise UserError(clip(visible(str(error)), 300)) from None
    except (ArithmeticError, ValueError) as error:
        raise UserError(f"the artifact: its values cannot be judged ({type(error).__name__})") from None


def _policy_of(forge: Forge, pull: PullFacts, directory: str, sets: Sequence[str]) -> Policy:
    place = PurePosixPath(directory)
    if place.is_absolute() or ".." in place.parts:
        raise UserError(f"input working-directory: {directory!r:.200} is not a folder inside the repository")
    whose = RulesSource("target", pull.base.ref)
    own, shared = (forge.file_at(str(place / name), pull.base.ref) for name in ("perfgate.toml", "pyproject.toml"))
    source = project_source(own, shared, str(whose))
    if source is None:
        raise UserError(
            f"{whose} has no {place / 'perfgate.toml'}, nor [tool.perfgate] in {place / 'pyproject.toml'}: its rules "
            "decide over forks, so add it there first (`perfgate init` writes it)"
        )
    config = parse(over(source, from_tables(tables_of(sets), "--set")))
    if not config.benchmark:
        raise UserError(f"{source.name} has no [[benchmark]]: there is nothing to decide for the pull request")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    judged = msgspec.structs.replace(whose, sets=tuple(sets))
    label = accepted_by(config.gate.accept_label, pull.number, [label.name for label in pull.labels])
    return Policy(config, str(judged), today, label, whose=judged)


# --- measurements -----------------------------------------------------------------------------------------------------


_ARTIFACT = re.compile(r"perfgate-(?P<gate>[A-Za-z0-9._-]{1,60})-data(?:-(?P<part>shard\d+of\d+-session\d+))?")


def part_of(artifact: ArtifactFacts, gate: str) -> str | None:
    """Tell which part of a gate an artifact holds: "" all of it, "shard1of2-session0" some; None: it is another's."""
    match = _ARTIFACT.fullmatch(artifact.name)
    return (match["part"] or "") if match and match["gate"] == gate else None


def fetch_records(forge: Forge, artifacts: Sequence[ArtifactFacts], folder: Path, gate: str) -> list[Located]:
    """Read the measurements of a gate, see fetch.

    Raises:
        UserError: there are none, they are not taken, or a job did not measure to its end.
        Problem: they cannot be downloaded.
    """
    records, jobs, _ = fetch(forge, artifacts, folder, gate)
    if any(job.code for job in jobs):
        # why is said in words of the job, which may be a fork's
        raise NothingLeftError("it did not measure to its end, as its own log and summary say")
    return records


def fetch(
    forge: Forge, artifacts: Sequence[ArtifactFacts], folder: Path, gate: str, *, measures: bool = True
) -> tuple[list[Located], list[Status], bytes | None]:
    """Read the measurements of a gate, whole where they are merged already and no part is newer, else of all parts.

    Returns them, none where a job did not measure to its end; what each job said of itself; and a job's answer in
    their place.

    Args:
        artifacts: of one run, the newest first.
        measures: whether measurements are wanted, or a text.

    Raises:
        UserError: there are none, or they are not taken.
        Problem: they cannot be downloaded.
    """
    parts: dict[str, ArtifactFacts] = {}
    for artifact in artifacts:
        part = part_of(artifact, gate)
        if part is not None and not artifact.expired:
            # the newest comes first
            parts.setdefault(part, artifact)
    if not parts:
        raise NothingLeftError(f"the run left no artifact perfgate-{gate}-data, or it has expired: measure again")
    # what was merged before the newest part was made is of an earlier attempt
    merged = next(iter(parts)) == ""
    chosen = {part: one for part, one in sorted(parts.items()) if (part == "") == merged}
    if len(chosen) > MOST_PARTS:
        raise UserError(f"the artifact: comes in {len(chosen)} parts, and at most {MOST_PARTS} are merged here")
    seen, jobs, text = ArtifactTotals(), list[Status](), None
    records: list[Located] = []
    folder.mkdir(parents=True, exist_ok=True)
    for part, artifact in chosen.items():
        with tempfile.TemporaryDirectory(prefix="artifact-", dir=folder) as scratch:
            packed = Path(scratch, "data.zip")
            forge.download(artifact.id, packed, LARGEST_ZIP)
            jobs.append(parse_left(member(packed, STATUS, LARGEST_STATUS)))
            if jobs[-1].code:
                continue
            if not measures:
                text = member(packed, TEXT, LARGEST_STATUS) or b""
                continue
            name = f"{ARTIFACT} {part}" if part else ARTIFACT
            records.extend(read_untrusted(unpack(packed), LIMITS, seen, name))
    if any(job.code for job in jobs):
        return [], jobs, None
    if measures:
        refuse_unfinished(records)
    return records, jobs, text


def write_records(records: Sequence[Located], folder: Path) -> Path:
    """Write the measurements as they are judged: whoever downloads them has nothing that was not looked at.

    Raises: UserError: they cannot be written.
    """
    file = folder / MEASUREMENTS
    encoder = msgspec.json.Encoder()
    try:
        with file.open("xb") as opened:
            opened.writelines(encoder.encode(each.record) + b"\n" for each in records)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None
    return file
