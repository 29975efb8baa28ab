"""Runs git for perfgate: no hooks, no prompts, no locks on the user's files, errors as one clear line.

A token is given to one git process, for one server; one that is stored in a checkout is found.
"""

from __future__ import annotations

import base64
import errno
import ipaddress
import math
import os
import re
import subprocess
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from gate.checkout import git_command, is_repository, top_of
from harness.errors import LackError, SourceError
from harness.process.affinity import signals_later
from harness.process.budget import Budget, BudgetEndedError
from harness.process.process_groups import end_group

_REVISIONS = {"diff-tree", "log", "rev-list", "show"}
"""Commands that take revisions and paths."""
_LACKING = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
_LACKS = re.compile(
    r"out of memory|cannot allocate memory|too many open files|resource temporarily unavailable|"
    r"(cannot|unable to) create (async )?thread|mmap failed",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]*@")


def without_userinfo(url: str) -> str:
    """Take user name and password out of each URL in a text; "git@host:path" keeps its login, which is no secret."""
    return _USERINFO.sub("", url)


def settings(pairs: Collection[tuple[str, str]], *, alone: bool = False) -> dict[str, str]:
    """Give the variables that set something for one git, in no file; alone: nothing that the caller's own ones set."""
    given = "" if alone else os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(given) if given.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(first + len(pairs))}
    for number, (key, value) in enumerate(pairs, first):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


_GRACE = 5.0
"""Seconds that git gets to remove its lock files when it is ended."""
_LONGEST = 1e6


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What git answered: exit status, standard output, standard error (user info taken out of its URLs)."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def reason(self) -> str:
        """The line of stderr that tells why, without git's "fatal: "."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        blamed = [line for line in lines if line.startswith(("error: ", "fatal: "))]
        line = (blamed or lines or [f"exit {self.status}"])[0]
        return line.removeprefix("error: ").removeprefix("fatal: ")


@dataclass(frozen=True, slots=True)
class Git:
    """git in one directory; environment holds what is added to the caller's.

    It has the repository that GIT_DIR and GIT_WORK_TREE in environment name, and else none; see git_of.
    """

    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    budget: Budget | None = None
    """What it keeps to, and what it starts (filters, fetches); None: it takes what it takes."""
    patience: float = math.inf
    """Seconds after which it is ended where there is no budget."""

    def seeing(self, **environment: str) -> Git:
        """Give the same git with more variables."""
        return replace(self, environment={**self.environment, **environment})

    def attempt(self, *arguments: str, stdin: bytes = b"", config: tuple[str, ...] = ()) -> GitAnswer:
        """Run git and give its answer, whatever its exit status.

        Raises:
            SourceError: there is no git on PATH, it cannot be started, or its patience ended.
            BudgetEndedError: the budget has ended.
        """
        # of paths only behind "--": a commit may have a file called HEAD, or like a commit
        ended = ("--",) if arguments[0] in _REVISIONS and "--" not in arguments else ()
        argv, environment = git_command(self.directory, (*arguments, *ended), self.environment, config)
        process: subprocess.Popen[bytes] | None = None
        pipe = subprocess.PIPE
        try:
            # a signal while it is being started would leave a git that nobody can end
            with signals_later():
                process = subprocess.Popen(
                    argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
                )
            left = self.budget.left if self.budget else self.patience
            # poll(2) counts milliseconds in 31 bits
            stdout, stderr = process.communicate(stdin, timeout=left if left < _LONGEST else None)
        except BaseException as error:
            if process is None:
                if isinstance(error, FileNotFoundError):
                    raise SourceError("git is not on PATH: install git; perfgate reads base and head with it") from None
                if isinstance(error, (OSError, ValueError)) and getattr(error, "errno", None) not in _LACKING:
                    raise SourceError(f"git {arguments[0]} cannot be started: {error}") from None
                raise
            # git's own children (a checkout) would go on writing into what is removed next
            end_group(process, _GRACE)
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(OSError):  # what it did not read
                    if stream is not None:
                        stream.close()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            if self.budget is not None:
                raise BudgetEndedError from None
            what = f"git {arguments[0]} was ended after {self.patience:g} s in {self.directory}"
            hangs = "does a filter of .gitattributes hang? See `git config --get-regexp filter`"
            raise SourceError(f"{what}: {hangs}") from None
        answer = GitAnswer(process.returncode, stdout, without_userinfo(stderr.decode(errors="replace")))
        if answer.status < 0 or (answer.status != 0 and _LACKS.search(answer.stderr)):
            why = f"signal {-answer.status}" if answer.status < 0 else answer.reason
            raise LackError(
                f"git {arguments[0]} was ended ({why}): give it more memory, files or processes (`ulimit -a`)"
            )
        return answer

    def run(self, *arguments: str, stdin: bytes = b"", config: tuple[str, ...] = ()) -> bytes:
        """Run git and give its standard output. Raises: SourceError: git failed; the message holds its reason."""
        answer = self.attempt(*arguments, stdin=stdin, config=config)
        if answer.status != 0:
            raise SourceError(f"git {arguments[0]} failed in {self.directory}: {answer.reason}")
        return answer.stdout

    def line(self, *arguments: str) -> str:
        """Run git and give its output without the newline that ends it (a path may hold others)."""
        return os.fsdecode(self.run(*arguments)).removesuffix("\n")

    def maybe(self, *arguments: str) -> str | None:
        """Run git and give its output as `line` does; None when it failed or printed nothing."""
        answer = self.attempt(*arguments)
        return os.fsdecode(answer.stdout).removesuffix("\n") or None if answer.status == 0 else None

    def entries(self, *arguments: str) -> list[str]:
        """Run git with an option -z and split its output."""
        return [entry for entry in os.fsdecode(self.run(*arguments)).split("\0") if entry]


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout as git finds it."""

    git: Git
    """In the directory that was asked about, for this repository."""
    common: Path
    """The git directory that all worktrees share."""
    shallow: bool
    """History was cut off by a shallow clone."""
    begun: bool
    """HEAD has a commit."""


def git_of(directory: Path) -> Git:
    """Give git in a directory of a checkout. Raises: SourceError: as checkout_of."""
    return checkout_of(directory).git


# git gives back an option that it does not know; no path that it writes has this line
_MARK = "--//--"


def checkout_of(directory: Path) -> Checkout:
    """Find the checkout around a directory: of the repository that the nearest .git upwards names.

    Raises: SourceError: there is none, it is bare, or git refuses it, such as one of another owner.
    """
    directory = directory.resolve()
    top = top_of(directory)
    if top is None:
        bare = any(map(is_repository, (directory, *directory.parents)))
        raise SourceError((_BARE if bare else _NO_REPOSITORY).format(directory))
    # git finds it by itself this once, where it finds the .git first: only so does it ask whose it is
    asking = Git(top, {"GIT_DIR": ""})
    # a path may hold newlines; where there is no work tree or no commit git stops before that
    answer = asking.attempt(
        "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository", "--absolute-git-dir",
        _MARK, "--git-common-dir", _MARK, "--show-toplevel", _MARK, "HEAD^{commit}",
    )  # fmt: skip
    facts, *paths = os.fsdecode(answer.stdout).split(f"\n{_MARK}\n")
    if not paths:
        if "dubious ownership" in answer.stderr or "unsafe repository" in answer.stderr:
            told = (line.strip() for line in answer.stderr.splitlines() if "--add safe.directory" in line)
            command = next(told, "") or f"git config --global --add safe.directory {directory}"
            why = f"{directory} belongs to another user, so git refuses it: if you trust it, run `{command}`"
        elif "not a git repository" in answer.stderr:
            why = _NO_REPOSITORY.format(directory)
        else:
            why = f"git cannot use {directory}: {answer.reason}"
        raise SourceError(why)
    is_bare, within, shallow, place = facts.split("\n", 3)
    if is_bare == "true":
        raise SourceError(_BARE.format(top))
    found = Path(place).resolve()
    if top.is_relative_to(found):
        # its .git is damaged, and git went on to what a commit may hold
        raise SourceError(_NO_REPOSITORY.format(directory))
    if directory.is_relative_to(found) or within != "true":
        raise SourceError(f"{directory} is inside a git directory: run perfgate in the checkout")
    if len(paths) == 1:
        raise SourceError(f"git cannot use {directory}: {answer.reason}")
    git = Git(directory, {"GIT_DIR": os.fspath(found), "GIT_WORK_TREE": os.fspath(Path(paths[1]).resolve())})
    # git says it as seen from where it began: --path-format=absolute needs git 2.31
    return Checkout(git, (top / paths[0]).resolve(), shallow == "true", begun=answer.status == 0)


_BARE = "{} is a bare repository: run perfgate in a checkout (git worktree add, git clone)"
_NO_REPOSITORY = "{} is not in a git repository: run perfgate in a checkout, or `git init` and commit"


_QUIET = {
    "GIT_ASKPASS": "",
    # what a partial clone lacks is fetched once and with the token, not file by file and without it
    "GIT_NO_LAZY_FETCH": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    # what a user traces may hold headers and configuration
    "GIT_TRACE_REDACT": "1",
    "GIT_TRACE_CURL": "0",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}
_WITHOUT = {"GITHUB_TOKEN": "", "GH_TOKEN": "", "INPUT_TOKEN": ""}
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Access:
    """A token and the one server that it is for ("https://github.com"); never printed."""

    server_url: str
    token: str = field(repr=False)

    def covers(self, url: str) -> bool:
        """Return whether a URL is of that server, over https (over http only on this machine)."""
        server, parts = _split(self.server_url), _split(url)
        if not self.token or server is None or parts is None or _place(server) != _place(parts):
            return False
        host = parts.hostname or ""
        try:
            here = ipaddress.ip_address(host).is_loopback
        except ValueError:
            here = host == "localhost"
        return parts.scheme == "https" or here


def plain(git: Git) -> Git:
    """Give a git that asks nobody anything and sees no token in the variables that hold it in a workflow."""
    return git.seeing(**_QUIET, **_WITHOUT)


def authorised(git: Git, url: str, access: Access) -> Git:
    """Give a git that sends the token to one URL, and to no place that it is sent on to.

    It is in the variables of that process: not in its arguments, nor in a file. What the checkout or the user has for
    that server is left out, since a second header would be refused.
    """
    pair = base64.b64encode(f"x-access-token:{access.token}".encode()).decode()
    header = f"http.{_bare(url)}.extraHeader"
    pairs = (
        ("credential.helper", ""),
        (f"http.{_bare(url)}.followRedirects", "false"),
        (header, ""),
        (header, f"AUTHORIZATION: basic {pair}"),
    )
    return plain(git).seeing(**settings(pairs))


def holds_password(url: str) -> bool:
    """Return whether a URL brings its own password."""
    parts = _split(url)
    return parts is not None and parts.password is not None


def persisted_token(git: Git, server_url: str) -> str | None:
    """Say where a token for a server is that anything run in a checkout can read; None when there is none.

    As actions/checkout leaves it without `persist-credentials: false`: in .git/config, or in a file of its own that
    .git/config includes. Its value is never read.
    """
    server = _split(server_url)
    host = re.escape(server.netloc) if server else "[^/]*"
    for pattern, value in (
        (r"^http\..*extraheader$", "^[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn]:"),
        (r"^remote\..*\.url$", f"^https?://[^/@]*:[^/@]+@{host}(/|$)"),
    ):
        answer = git.attempt(
            "config", "--includes", "--show-origin", "--name-only", "-z", "--get-regexp", pattern, value
        )
        fields = os.fsdecode(answer.stdout).split("\0") if answer.status == 0 else []
        for origin, key in zip(fields[::2], fields[1::2], strict=False):
            of_url = key.removeprefix("http.").removesuffix("extraheader").removesuffix(".")
            parts = _split(of_url)
            # http.extraHeader without an address is for every server
            same = server is not None and parts is not None and _place(parts) == _place(server)
            if key.startswith("remote.") or not of_url or same:
                place = origin.removeprefix("file:").removeprefix("command line:")
                return place.removeprefix(f"{git.directory}/") or "the environment"
    return None


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in _PORTS and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _place(parts: SplitResult) -> str:
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{parts.port or _PORTS[parts.scheme]}"


def _bare(url: str) -> str:
    """Take user, query and fragment out of a URL, as git matches configuration by it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
