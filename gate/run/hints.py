"""What a failed build or execution may lack, from what its program said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from gate.model import SIDES, UNBUILT, Failure
from gate.run.job import Job
from harness.source.untracked import Hint, checkout_hint

# what programs say in every language; their own words
_REFUSED = re.compile(
    r"permission denied|operation not permitted|read-only file system|cross-device link|no new privileges|"
    r"AccessDenied|\bE(ACCES|PERM|ROFS|XDEV)\b",
    re.IGNORECASE,
)

_EXHAUSTED = re.compile(
    r"no space left on device|disk quota exceeded|file too large|cannot allocate memory|out of memory|\bkilled\b|"
    r"resource temporarily unavailable|too many open files|\bE(NOSPC|DQUOT|FBIG|NOMEM|AGAIN|MFILE|NFILE)\b",
    re.IGNORECASE,
)


def was_exhausted(told: str) -> bool:
    """Return whether a program says that it was ended, or that the disk, memory or another resource ran out."""
    return _EXHAUSTED.search(told) is not None


_IMAGES = re.compile(r"\b(docker|podman|nerdctl|buildah)\b")
_TEMPORARY = r"(/(?:tmp|var/tmp|dev/shm)/[^\s:;,\"')]+)"
_COVERED = re.compile(
    rf"{_TEMPORARY}[\"')]*: (?:no such file|not found)|no such file or directory:? [\"'(]*{_TEMPORARY}", re.IGNORECASE
)
_PRIVILEGES = re.compile(r"no new privileges|operation not permitted", re.IGNORECASE)


def kept_apart(commands: Iterable[str]) -> str:
    """Say how builds by these commands write into their own trees."""
    cure = (
        'write below `$PWD`, for example with `PREFIX="$PWD/inst"`, `cargo install --root "$PWD/inst"`, '
        "`go build -o ./app`, or a virtual environment there"
    )
    if any(map(_IMAGES.search, commands)):
        cure = "give the image the side's name, there and in the benchmark: `-t app:$PERFGATE_SIDE`"
    return f"let each build write into its own tree, and benchmarks run what is there: {cure}"


def was_refused(told: str) -> bool:
    """Return whether a program says that the system refused it something, as a sandbox does."""
    return _REFUSED.search(told) is not None


def out_of_sight(told: str) -> str | None:
    """Return a temporary path that a program did not find, though it is there."""
    return next((path for found in _COVERED.findall(told) for path in found if os.path.lexists(path)), None)


def hints(job: Job) -> Hint:
    """Return hints about missing files that know that each side shares what its own config says, and of the sandbox."""
    project = job.project
    sandboxed = job.run.sandbox is not None and job.run.sandbox.on
    missing = checkout_hint(project.repository)
    tables = {side: project.settings.sides[side].build for side in SIDES}
    shares = {side: set(table.share) for side, table in tables.items()}
    found = [command for table in tables.values() for command in (table.command, table.setup) if command]
    builds = [command if isinstance(command, str) else " ".join(command) for command in found]

    def hint(failure: Failure, unstarted: bool) -> str | None:
        if failure.kind == "outside":
            return kept_apart(builds)
        found = missing(failure, unstarted)
        covered = out_of_sight(failure.stderr) if sandboxed else None
        if found is None and covered is not None:
            return (
                f"{covered} is there, but of what is temporary commands see only what PATH, a variable, a command or "
                "[build] write names: name it there (of a pull request base must)"
            )
        if found is None and sandboxed and was_refused(failure.stderr):
            cure = kept_apart(builds) if failure.kind in UNBUILT else "let the benchmark write there"
            more = ", or try `--set plan.sandbox=off`" if _PRIVILEGES.search(failure.stderr) else ""
            return (
                "the sandbox lets commands write their own tree, $TMPDIR (not /tmp) and new files in $HOME only: "
                f"{cure} ([build] write is for caches that both sides only add to){more}"
            )
        if found is None or failure.side != "base" or shares["head"] <= shares["base"]:
            return found
        more = ", ".join(sorted(shares["head"] - shares["base"]))
        return (
            f"{found}. Head's perfgate.toml shares {more}, base's does not: use head's for both sides with "
            "--config perfgate.toml, or put it on the default branch first"
        )

    return hint
