"""What a failed build or execution may lack, from what its program said."""

from __future__ import annotations

import re

from gate.model import SIDES, Failure
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


def was_refused(told: str) -> bool:
    """Return whether a program says that the system refused it something, as a sandbox does."""
    return _REFUSED.search(told) is not None


def hints(job: Job) -> Hint:
    """Return hints about missing files that know that each side shares what its own config says, and of the sandbox."""
    project = job.project
    sandboxed = job.run.sandbox is not None and job.run.sandbox.on
    missing = checkout_hint(project.repository)
    shares = {side: set(project.settings.sides[side].build.share) for side in SIDES}

    def hint(failure: Failure, unstarted: bool) -> str | None:
        found = missing(failure, unstarted)
        if found is None and sandboxed and was_refused(failure.stderr):
            return (
                "the sandbox lets commands write their own tree, $TMPDIR and new files in $HOME only: name more "
                "folders in [build] write, or try `--set plan.sandbox=off`"
            )
        if found is None or failure.side != "base" or shares["head"] <= shares["base"]:
            return found
        more = ", ".join(sorted(shares["head"] - shares["base"]))
        return (
            f"{found}. Head's perfgate.toml shares {more}, base's does not: use head's for both sides with "
            "--config perfgate.toml, or put it on the default branch first"
        )

    return hint
