"""The memory of a check: where it is, what is recalled from it before measuring, and what is added afterwards.

A history that cannot be used never fails a check: it becomes a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from gate.cli.groups import RulesOptions
from gate.decide.estimates import asked_of
from gate.decide.policy import policy_of
from gate.evidence.gather import gather
from gate.evidence.lines import of_this_run
from gate.evidence.sameness import are_two_programs
from gate.github.event import may_write_history, read_event
from gate.model import SIDES, FindingMemory, Memory, Record, Run, UserError
from gate.model.case import CaseId, case_id
from gate.model.names import HISTORY_REF
from gate.model.warnings import AnyWarning
from gate.model.warnings.base import Said
from gate.run.project import Project
from gate.stats.levels import of_rounds
from gate.stats.prior import nu_of
from gate.store.history_records import FolderStore, proof_of
from gate.store.learning import learn, setup_of, setups_of
from gate.store.memory import HistoryError, Learned, Session, Sessions, Setup, StepCosts, folder_of, is_ref
from gate.store.ref import RefStore
from gate.writing.plain import visible
from harness.errors import SourceError
from harness.source.base_and_head import default_tips
from harness.source.git import Access, Git, authorised, git_of
from harness.source.repository import Repository

SESSIONS = 10
"""Sessions of a kind that a run takes along for each finding: with more a memory is worth next to nothing more."""


def control_warnings(history: Path | None) -> list[AnyWarning]:
    """Warn where more controls of the history alarm than chance explains; nothing where there is none.

    history: of the option.
    """
    with suppress(UserError, SourceError):
        proof = proof_of(opened(None if history is None else str(history)).read().records)
        if proof is not None and proof.since is not None:
            return [Said(f"{proof.sentence()}, {proof.warning()}", "controls-alarm", "first")]
    return []


def history_path(option: Path | None, project: Project) -> Path:
    """Say where the history of a project is; a relative [gate] history is one of the project's directory.

    Raises:
        HistoryError: nothing names it, and the user has no home directory.
        UserError: it leads through a link that git tracks.
    """
    configured = project.settings.rules.gate.history
    if configured and not configured.startswith("~") and not is_ref(configured):
        configured = str(project.repository.project / configured)
    return folder_of(option, configured, os.environ)


def project_name(repository: Repository) -> str:
    """Name a project the same in every clone: the origin's host and path, else the path of the checkout."""
    url, common = repository.origin, repository.common
    name = str(common.parent if common.name == ".git" else common)
    if url:
        # without the user's name and password, and alike for https and ssh
        host, path = "", url.rpartition("@")[2]
        with suppress(ValueError):
            if "://" in url:
                parts = urlsplit(url)
                host, path = parts.hostname or "", parts.path
            elif re.match(r"[^/]+:", url):
                host, _, path = path.partition(":")
            else:
                path = str((repository.top / url).resolve())
        name = f"{host.lower()}/{path.strip('/').removesuffix('.git').rstrip('/')}"
    # a path need not be text
    return visible(name if repository.prefix.as_posix() == "." else f"{name}:{repository.prefix}")


# --- before measuring -------------------------------------------------------------------------------------------------


def recall_memory(
    option: Path | None, project: Project, host: Mapping[str, object]
) -> tuple[Memory | None, dict[str, StepCosts]]:
    """Return what is remembered of a project's findings on a host, None for nothing; and what each benchmark costs.

    Used is what was measured on a machine of the same make, with the same commands, instrument and warm-up.

    option: --history. host: the facts of the run line.

    Raises: HistoryError: the history cannot be read.
    """
    history = Sessions(history_path(option, project))
    mine = history.of_host("*", project_name(project.repository))
    if not mine:
        return None, {}
    here = history.of_host(str(host.get("fingerprint")))
    sides = [(config, setups_of(config, host)) for config in project.settings.sides.values()]
    usable: list[tuple[Session, Learned]] = []
    unused: list[str] = []
    for name in dict.fromkeys(learned.benchmark for _, learned in mine):
        setups = [setup_of(known, config, name) for config, known in sides]
        if None in setups:
            continue  # one side does not have it: there is nothing to compare
        matching = [
            (session, learned)
            for session, learned in mine
            if learned.benchmark == name
            and session.fingerprint == host.get("fingerprint")
            and all(learned.setup == setup for setup in setups)
        ]
        usable += matching
        if not matching:
            unused.append(name)
    # how far variances move is a property of the machine, so that all its findings tell of it
    everything = findings_of(here, most=None)
    memory = Memory(
        findings=findings_of(usable),
        contrast_nu=nu_of(everything, "contrast"),
        build_nu=nu_of(everything, "build"),
        unused=[Said(_OTHER.format(", ".join(unused)), "memory-unused", "later")] if unused else [],
    )
    # the newest session comes first
    costs = [learned for session, learned in reversed(mine) if session.fingerprint == host.get("fingerprint")]
    return memory, {each.benchmark: each.costs for each in costs}


_OTHER = "the memory of {} is not used: it is of another machine, or measured in another way"


def findings_of(entries: Iterable[tuple[Session, Learned]], *, most: int | None = SESSIONS) -> list[FindingMemory]:
    """Bring together the sessions of each finding, of one project and one setup.

    entries: the newest session first. most: sessions of each kind that are kept; None: all.
    """
    groups: dict[tuple[str, CaseId, Setup], list[tuple[Session, Learned]]] = {}
    for session, of in entries:
        groups.setdefault((session.project, case_id(of, of.statistic), of.setup), []).append((session, of))
    found = []
    for group in groups.values():
        kinds = ([of for session, of in group if session.kind == kind][:most] for kind in ("calibration", "check"))
        _, first = group[0]
        found.append(
            FindingMemory(
                benchmark=first.benchmark, metric=first.metric, factors=first.factors, statistic=first.statistic,
                sessions=[each.remembered for kind in kinds for each in kind],
            )
        )  # fmt: skip
    return found


# --- after a check ----------------------------------------------------------------------------------------------------


def barred(environment: Mapping[str, str]) -> str | None:
    """Say why what this workflow measures is not remembered; None: it is, or this is no workflow.

    Remembered is what the default branch is and does: a pull request and a merge queue only read it, and so does a
    workflow that does not say what started it.
    """
    name = environment.get("GITHUB_EVENT_NAME")
    if not name:
        return None
    try:
        event = read_event(environment)
    except UserError as error:
        return str(error)
    if may_write_history(event):
        return None
    return f"only runs on the default branch are, and this is a {name} event of {event.ref or 'no branch'}"


def append_check(
    option: Path | None, project: Project, run: Run, records: Sequence[Record], *, allowed: bool = True
) -> list[str]:
    """Add what a check of the default branch tells of noise: the variance within base, and that of rounds.

    Rounds count where base and head are laid out alike and are two programs. Returns warnings.

    Nothing is added elsewhere, of a changed working tree, or without an earlier calibration of the project on this
    host. Of the rounds only those before the first look count: later ones were measured because of what the first had
    shown.

    run: its run line, records: all of its file. allowed: false where the caller knows of a reason not to; a workflow of
    a pull request is found out here.
    """
    host, created = run.host or {}, run.created
    if not allowed or run.id is None or created is None or barred(os.environ):
        return []
    session = Session(
        id=run.id, created=created, kind="check", project=project_name(project.repository), host=host,
        commit=run.base.sha if run.base else None,
    )  # fmt: skip
    try:
        history = Sessions(history_path(option, project))
        remembered = history.of_host(session.fingerprint, session.project)
        # hosts without a calibration are most: nothing is made out for them
        if not any(each.kind == "calibration" for each, _ in remembered) or not on_default_branch(project):
            return []
        config = project.settings.rules
        evidence = gather(of_this_run(records), config)
        first = evidence.looks[0] if evidence.looks else None
        cases = [
            msgspec.structs.replace(case, base=of_rounds(case.base, first), head=of_rounds(case.head, first))
            for case in evidence.cases
        ]
        # what base measured is base's own setup, whatever head's is
        setups, of_head = (setups_of(project.settings.sides[side], host) for side in SIDES)
        layouts = evidence.layouts or config.build.layouts
        # one program against itself holds no layout where they are common
        programs = layouts == "common" and setups == of_head and are_two_programs(run, records)
        learned = learn(
            asked_of(cases, config), config, setups, records, session=run.id or "", created=created, both=programs,
            layouts=layouts, programs=programs,
        )  # fmt: skip
        if learned:
            history.add(session, learned)
    except HistoryError as error:
        return [f"this check is not remembered: {error}"] if on_default_branch(project) else []
    return []


def on_default_branch(project: Project) -> bool:
    """Return whether head is a commit of the default branch, without changes."""
    git, head = project.repository.git, project.sources.head.commit
    if head.dirty or head.sha is None:
        return False
    tips = [*default_tips(git, {}).values()]
    return bool(tips) and git.attempt("merge-base", "--is-ancestor", head.sha, tips[0]).status == 0


# --- where the history is ---------------------------------------------------------------------------------------------


def opened(history: str | None, remote: str | None = None) -> RefStore | FolderStore:
    """Open the store that an option, the rules, the environment or the default name.

    history: of the option. remote: where a record is pushed to.

    Raises: UserError: a ref that cannot be, no repository, or a folder that is to be pushed.
    """
    ref = (
        history
        or policy_of(None, RulesOptions()).config.gate.history
        or os.environ.get("PERFGATE_HISTORY")
        or HISTORY_REF
    )
    if not is_ref(ref):
        folder = folder_of(Path(ref), None, os.environ)
        if remote is not None:
            raise UserError(
                f"--push: {folder} is a folder, which has no remote: name a ref with --history, or leave out --push"
            )
        return FolderStore(folder)
    git = here()
    if git is None:
        raise UserError(
            "no git repository here (GIT_DIR is ignored): run it in the project's, or name a folder with --history"
        )
    if ref != HISTORY_REF and git.attempt("check-ref-format", ref).status:
        raise UserError(f"--history {ref!r:.80}: write the whole name of a ref, such as {HISTORY_REF}, or a folder")
    return RefStore(git if remote is None else pushing(git, remote, os.environ), ref, remote)


def pushing(git: Git, remote: str, environment: Mapping[str, str]) -> Git:
    """Return git that may push: in a workflow with its token, where it is one of the default branch.

    Raises: UserError: a pull request's workflow, whose commits are not yet the project's.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return git
    event = read_event(environment)
    if not may_write_history(event):
        raise UserError(
            f"--push: this is a workflow of {event.name} on {event.ref or 'no branch'}: only a push, schedule or "
            "dispatch on the default branch writes the history"
        )
    access = Access(event.server_url, environment.get("GITHUB_TOKEN", ""))
    url = git.attempt("remote", "get-url", "--push", "--", remote).stdout.decode(errors="replace").strip() or remote
    return authorised(git, url, access) if access.covers(url) else git


def here() -> Git | None:
    """Return git in the working directory; None: it is in no repository."""
    with suppress(SourceError):
        return git_of(Path.cwd())
    return None
