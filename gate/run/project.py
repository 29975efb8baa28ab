"""The project that is measured: repository, base and head, and the settings they lead to."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from gate.checkout import text_of
from gate.cli.groups import RulesOptions
from gate.cli.option_values import MOST_JOBS, Shard
from gate.config.config_text import ConfigError, ConfigText, project_source, read_source, together
from gate.config.resolve import Settings, resolve
from gate.config.rules import matches
from gate.config.shards import names_in, too_many
from gate.config.types import Benchmark, Config
from gate.decide.policy import read_rules
from gate.evidence.records import DEFAULT_FOLDER
from gate.model import SIDES, RulesSource, Side, UserError
from gate.model.history import Pin
from gate.model.records import AS_HEAD, Choice, SideChoice
from gate.model.warnings.setup import BuildChanged, MeasuringChanged
from gate.run.refusal import refuse_default, with_target
from gate.writing.phrases import none_of
from gate.writing.units import plural
from harness.errors import SourceError
from harness.source import base_and_head as source
from harness.source.base_and_head import overlaid
from harness.source.repository import Repository, find_repository, texts_at

_MOST = 1000


def remember_outputs(repository: Repository, outputs: Collection[Path]) -> frozenset[str]:
    """Return the paths, relative to the checkout, of these outputs and of all that earlier runs wrote.

    They are kept in a file of git's own directory, outside everybody's sight.
    """
    file = repository.common / "perfgate" / "outputs"
    known: list[str] = []
    with contextlib.suppress(OSError, UnicodeDecodeError):
        known = file.read_text(encoding="utf-8").splitlines()
    absolute = [Path(path.absolute().parent.resolve(), path.name) for path in outputs]
    new = [p.relative_to(repository.top).as_posix() for p in absolute if p.is_relative_to(repository.top)]
    every = list(dict.fromkeys([*known, *new]))[-_MOST:]
    if every != known:
        # what cannot be remembered is left out of this run's head all the same
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{name}\n" for name in every), encoding="utf-8")
    return frozenset(every)


_EACH_ITS_OWN: Mapping[Side, Side] = {"base": "base", "head": "head"}


@dataclass(frozen=True, slots=True)
class Project:
    """A repository, its two sides, and what the gate goes by.

    whose: the rules are. narrowed: suites of which --benchmark wants a part, which may be none of what they name.
    """

    repository: Repository
    sources: source.Sources
    settings: Settings
    whose: RulesSource
    narrowed: frozenset[str] = frozenset()
    pin: Pin | None = None
    """Of a creep check: what head is compared with."""
    asked: RulesOptions = field(default_factory=RulesOptions)
    """What its rules were asked for by."""
    folder: Path | None = None
    """Where two given programs run; None: the sides are commits, and have trees."""

    @property
    def compares_programs(self) -> bool:
        """Whether its sides are two given programs, which belong to no project."""
        return self.folder is not None


@contextlib.contextmanager
def open_project(
    base: str | None, head: str | None, options: RulesOptions, outputs: Collection[Path] = ()
) -> Iterator[Project]:
    """Find the repository around the working directory, its base and head, and read both sides' configs.

    What perfgate made for it, such as a commit of uncommitted changes, is removed in the end.

    outputs: files and folders that perfgate will write; where git does not track them they are no part of head, and
    neither are those of earlier runs.

    Raises: UserError: no repository, nothing to compare, or a config that is wrong.
    """
    with checkout(here=options.given is not None) as repository:
        own = remember_outputs(repository, outputs) | {repository.inside(DEFAULT_FOLDER)}
        sources = source.resolve(repository, base=base, head=head, environment=with_target(os.environ), leave_out=own)
        refuse_default(sources.choice.base, os.environ)
        try:
            project = project_of(repository, sources, options)
        except ConfigError as error:
            if not any(each.side == "base" for each in error.errors):
                raise
            # or the change that fixes base would be stopped too
            way = "to measure the change that fixes it, use --config perfgate.toml, which takes head's for both sides"
            if error.errors[1:]:
                raise together([*error.errors, ConfigError("", way)]) from None
            raise ConfigError("", f"{error}; {way}") from None
        yield project


@contextlib.contextmanager
def open_itself(head: str | None, options: RulesOptions, outputs: Collection[Path] = ()) -> Iterator[Project]:
    """Find the repository around the working directory, and its head as both sides.

    head: a ref; None: the working tree as it is. outputs: as for open_project. Ends as open_project does.

    Raises: UserError: no repository, a head that is not there, or a config that is wrong.
    """
    with checkout() as repository:
        own = remember_outputs(repository, outputs) | {repository.inside(DEFAULT_FOLDER)}
        # a base that is given asks for no default branch and no history
        found = source.resolve(repository, base=head or "HEAD", head=head, environment={}, leave_out=own)
        sources = source.Sources(found.head, found.head, Choice(AS_HEAD, found.choice.head), found.warnings)
        yield project_of(repository, sources, options, files={"base": "head", "head": "head"})


def look_at_project(base: str | None, head: str | None, options: RulesOptions) -> Project:
    """Return the project around the working directory, to read its settings; nothing of it can be measured.

    Without a base, where there is nothing to compare yet, HEAD is the base.

    Raises: UserError: as open_project.
    """
    try:
        with open_project(base, head, options) as project:
            return project
    except SourceError:
        if base is not None:
            raise
        with open_project("HEAD", head, options) as project:
            return project


@contextlib.contextmanager
def checkout(*, here: bool = False) -> Iterator[Repository]:
    """Give the checkout around the working directory; here: a command line without a file makes that the project."""
    repository = find_repository(Path.cwd())
    if here:
        prefix = Path.cwd().resolve().relative_to(repository.top)
        repository = replace(repository, prefix=PurePosixPath(prefix.as_posix()))
    try:
        yield repository
    finally:
        repository.store.work.close()


def project_of(
    repository: Repository, sources: source.Sources, options: RulesOptions, *,
    files: Mapping[Side, Side] = _EACH_ITS_OWN, given: ConfigText | None = None,
) -> Project:  # fmt: skip
    """Read both sides' configs, and settle what the gate goes by.

    files: whose file each side goes by. given: the rules, where the options do not choose them.

    Raises: UserError: a config that is wrong.
    """
    # a named file is meant from where the user stands; the project may be a folder above
    config = named_config(options)
    # a file that takes the place of both needs neither
    texts = {side: None if config else config_at(repository, sources.of(side).revision, files[side]) for side in SIDES}
    rules = given or _rules(options)
    if texts["head"] is None and config is None:
        _refuse_unseen(repository)
    settings = resolve(texts["base"], texts["head"], rules=rules, config=config, sets=options.sets)
    if any(b.against is not None for b in settings.rules.benchmark):
        raise UserError("benchmark.against: the file compares two given programs, which only `perfgate check` does")
    settings = replace(settings, warnings=[*sources.warnings, *settings.warnings])
    file, sets = config or rules, tuple(options.sets)
    whose = RulesSource(file, sets=sets) if isinstance(file, str) else RulesSource("named", file.name, sets)
    return selected(
        Project(repository, sources, settings, whose, asked=options), options.benchmarks, option="benchmark"
    )


def named_config(options: RulesOptions) -> ConfigText | None:
    """Return the config that options give for both sides and the rules: a file's, or one made of a command line."""
    return options.given or (read_rules(options.config, "config") if options.config else None)


def with_head(project: Project, head: source.SideSource, options: RulesOptions, globs: Collection[str]) -> Project:
    """Return a project with another head, judged by the very rules of the project.

    A head without a config goes by that of the project's head: it may be older than perfgate's use there.

    globs: of the benchmarks that are left.

    Raises: UserError: its config is wrong, or names none of those benchmarks.
    """
    settings = project.settings
    own = None if named_config(options) else config_at(project.repository, head.revision, "head")
    found = resolve(
        settings.texts["base"], own or settings.texts["head"], rules=settings.decisive, sets=options.sets
    )  # fmt: skip
    sources = source.Sources(project.sources.base, head, project.sources.choice, ())
    return selected(Project(project.repository, sources, found, project.whose), globs)


def with_base(project: Project, base: source.SideSource, how: SideChoice) -> Project:
    """Return a project with another base, judged by the very rules of the project.

    The other base is built and run as its own config says. Of benchmarks it brings those that base or head has, and
    base keeps those that head lacks, which are missing whatever head is compared with.

    Raises: UserError: its config is wrong, or there is none.
    """
    settings, sources = project.settings, project.sources
    if not named_config(project.asked) and config_at(project.repository, base.revision, "base") is None:
        raise ConfigError("", "it has no perfgate.toml")
    choice = Choice(how, sources.choice.head)
    found = project_of(
        project.repository, replace(sources, base=base, choice=choice), project.asked, given=settings.decisive,
    )  # fmt: skip
    own = found.settings.sides["base"]
    known = {b.name for config in settings.sides.values() for b in config.benchmark}
    kept = [b for b in own.benchmark if b.name in known]
    both = {b.name for b in (*kept, *settings.sides["head"].benchmark)}
    kept += [b for b in settings.sides["base"].benchmark if b.name not in both]
    same = [w for w in settings.warnings if not isinstance(w, (MeasuringChanged, BuildChanged))]
    changed = [w for w in found.settings.warnings if isinstance(w, (MeasuringChanged, BuildChanged))]
    return replace(
        project,
        sources=found.sources,
        settings=replace(
            settings,
            sides={**settings.sides, "base": msgspec.structs.replace(own, benchmark=kept)},
            warnings=[*same, *changed],
        ),
    )


def selected(
    project: Project, globs: Collection[str], *, where: str | None = None, option: str | None = None
) -> Project:
    """Leave a project the benchmarks that globs name; none: all of them.

    where: the globs stand, for the error. option: of the command line that gives them, where one does.

    Raises: ConfigError: one of them matches none.
    """
    if not globs:
        return project
    settings = project.settings
    names = [b.name for b in settings.rules.benchmark]
    globs = [settings.renamed.get(glob, glob) for glob in globs]
    sides = {side: _cut(config, globs) for side, config in settings.sides.items()}
    rules = _cut(settings.rules, globs)
    for glob in globs:
        if not _cut(settings.rules, [glob]).benchmark:
            suite = next((b.name for b in settings.rules.benchmark if b.measured.suite), None)
            cases = f" (the cases of {suite} are {suite}/NAME: try '*{glob.strip('*')}*')" if suite else ""
            raise ConfigError(where or glob or "''", none_of(glob, names) + cases, option=option)
    narrowed = frozenset(b.name for b in rules.benchmark if not any(matches(glob, b.name) for glob in globs))
    return replace(project, settings=replace(settings, sides=sides, rules=rules), narrowed=project.narrowed | narrowed)


def of_shard(project: Project, shard: Shard) -> Project:
    """Leave a project the benchmarks of one shard, on each side; the rules stay whole, so that shards agree in them.

    Raises: UserError: fewer benchmarks than shards.
    """
    settings = project.settings
    names = names_in((b.name for b in settings.rules.benchmark), shard)
    sides = {
        side: msgspec.structs.replace(config, benchmark=[b for b in config.benchmark if b.name in names])
        for side, config in settings.sides.items()
    }
    return replace(project, settings=replace(settings, sides=sides))


def overlaid_sources(project: Project) -> source.Sources:
    """Lay head's files over base where base's own [build] overlay says so: head cannot choose what it replaces."""
    paths = project.settings.sides["base"].build.overlay
    if not paths:
        return project.sources
    base, head = project.sources.base, project.sources.head
    revision = overlaid(project.repository, base.revision, head.revision, paths)
    return replace(project.sources, base=source.SideSource(base.commit, revision))


def config_at(repository: Repository, revision: str, side: Side) -> ConfigText | None:
    """Read the config of a revision; None: it has none. side: which one of a gate it is, for errors."""
    own, shared = texts_at(repository, revision, "perfgate.toml", "pyproject.toml")
    return project_source(own, shared, side, side=side)


def _refuse_unseen(repository: Repository) -> None:
    """Refuse a perfgate.toml on disk that head does not hold."""
    file = repository.project / "perfgate.toml"
    try:
        read_source(text_of(file), file.name)
    except OSError:
        return
    raise ConfigError(
        "perfgate.toml", "exists, but head does not hold it (ignored by git, or --head names an older commit); "
        "commit it, or give it as --config perfgate.toml",
    )  # fmt: skip


def _rules(options: RulesOptions) -> Literal["base", "head"] | ConfigText:
    if options.rules in ("base", "head"):
        return "base" if options.rules == "base" else "head"
    if options.rules is not None:
        return read_rules(Path(options.rules or "''"))
    # where CI is set this is a pull request, which must not loosen its own gate
    return "base" if os.environ.get("CI") else "head"


def _cut(config: Config, globs: Collection[str]) -> Config:
    kept = [cut for b in config.benchmark if (cut := _part(b, globs)) is not None]
    return msgspec.structs.replace(config, benchmark=kept)


def _part(benchmark: Benchmark, globs: Collection[str]) -> Benchmark | None:
    """Return a benchmark that globs select, of a suite the part that they name: "suite/parse-*" or "*parse*"."""
    if any(matches(glob, benchmark.name) for glob in globs):
        return benchmark
    if not benchmark.measured.suite and benchmark.format is None:
        return None
    inner = [glob for glob in globs if glob.startswith("*")]
    for glob in globs:
        parts = glob.split("/")
        heads = ["/".join(parts[:i]) for i in range(1, len(parts))]
        inner += [glob[len(head) + 1 :] for head in heads if matches(head, benchmark.name)]
    # who names it on the command line wants it, whatever include says
    return msgspec.structs.replace(benchmark, include=inner) if inner else None


# --- several runners --------------------------------------------------------------------------------------------------


def matrix_jobs(
    asked_shards: int | None, asked_sessions: int | None, base: str | None, head: str | None, rules: RulesOptions
) -> str:
    """Return one line of JSON: {"include": [{"shard", "session", "sessions", "name"}, ...]}, session by session.

    Args:
        asked_shards, asked_sessions: None as configured.
        base, head: None for the usual ones.

    Raises:
        UserError: fewer benchmarks than shards, more jobs than a workflow may have, or a config that is wrong.
    """
    project = look_at_project(base, head, rules)
    plan = project.settings.rules.plan
    shards = plan.shards if asked_shards is None else asked_shards
    sessions = plan.sessions if asked_sessions is None else asked_sessions
    benchmarks = len(project.settings.rules.benchmark)
    if not benchmarks:
        raise UserError("neither side has a [[benchmark]]: there is nothing to measure")
    if shards > benchmarks:
        name = f"--shards {shards}" if asked_shards is not None else f"plan.shards = {shards}"
        raise UserError(f"{name}: {too_many(shards, benchmarks)}")
    if shards * sessions > MOST_JOBS:
        many = f"{plural(shards, 'shard')} x {plural(sessions, 'session')} are {shards * sessions} jobs"
        raise UserError(f"{many}, and a matrix has at most {MOST_JOBS}: ask for fewer with --shards or --sessions")
    include = [
        {
            "shard": f"{shard}/{shards}",
            "session": session,
            "sessions": sessions,
            "name": f"shard {shard} of {shards}, session {session}",
        }
        for session in range(sessions)
        for shard in range(1, shards + 1)
    ]
    return json.dumps({"include": include}, separators=(",", ":"))
