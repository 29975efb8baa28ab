"""The sandbox of a run: what commands of each side may write and see, and the home directory that they have."""

import marshal
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, Literal, cast

from gate.model import SIDES, Side
from gate.model.sandbox import Sandboxed
from gate.removal import remove_tree
from gate.walking import descend
from harness.sandbox import keeper, landlock
from harness.sandbox.enter import MACHINES, enter, hide, join
from harness.sandbox.home import (
    FETCHING,
    SECRETS,
    TMP,
    Copied,
    Home,
    Reach,
    added_to,
    caches,
    copy,
    home_of,
    is_told,
    make_home,
    overlaps,
)
from harness.sandbox.landlock import (
    DEVICE,
    LEAST,
    READ,
    REOPEN,
    SHARED_MEMORY,
    TEMPORARY,
    WRITE,
    Rule,
    git_secrets,
    in_sight,
    runner_secrets,
    sight,
    system_secrets,
)

_NOBODY = 65534
_DEVICES = (
    "null", "zero", "full", "random", "urandom", "tty", "ptmx", "kvm", "dri", "kfd", "fuse",
)  # fmt: skip
_TERMINALS = Path("/dev/pts")
_SERVERS = ("/run/user", "/run/dbus", "/run/containerd", "/run/docker", "/run/podman", "/run/crio", "/run/libvirt")
_SOCKETS = (
    "/run/docker.sock", "/run/snapd.socket", "/run/snapd-snap.socket", "/run/systemd/private", "/run/lxd.socket",
    "/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
)  # fmt: skip
"""Of servers that start programs for whoever asks, or that speak for the user."""
_SECONDS = 10.0
_JAVA = "JAVA_TOOL_OPTIONS"
_JVM = frozenset(
    [
        "java",
        "javac",
        "mvn",
        "mvnw",
        "pom.xml",
        "gradle",
        "gradlew",
        "sbt",
        "build.sbt",
        "ant",
        "lein",
        "scala",
        "kotlin",
    ]
)
_OF_JVM = (".java", ".kt", ".kts", ".scala", ".clj", ".jar")
"""A Java virtual machine does not look at HOME and TMPDIR."""

Wanted = Literal["auto", "require", "off"]


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a command enters before it begins."""

    ruleset: int
    """A descriptor of Landlock's."""
    user: int
    """To become; -1: none."""
    room: int = -1
    """The descriptor of a process whose namespaces it enters; -1: it stays in those of the host."""
    kinds: int = 0
    """Which of them, as setns(2) has it."""

    @property
    def alone(self) -> bool:
        """Whether a process enters it by itself: threads get no user namespace, in which a user has the others."""
        return self.room >= 0 > self.user


class Sandbox:
    """Confines the commands of a run; this one does nothing."""

    def environment(self, side: Side) -> Mapping[str, str]:  # noqa: ARG002
        """Return the variables that a side's commands need changed."""
        return {}

    def confined(
        self,
        side: Side,  # noqa: ARG002
        tree: Path,  # noqa: ARG002
        *,
        building: bool,  # noqa: ARG002
        network: bool = True,  # noqa: ARG002
        scratch: Path | None = None,  # noqa: ARG002
    ) -> Confinement | None:
        """Return what a side's next command enters, and put its home where it stands; None: nothing.

        tree: the root of its tree, wherever that is now. building: a benchmark sees less. network: whether it needs
        one. scratch: the directory of its outputs.

        Raises: OSError: the home cannot be made or moved.
        """
        return None

    def taking_turns(self) -> AbstractContextManager[None]:
        """Set aside what stands by turns; meanwhile another process lets it stand, as `standing` says."""
        return nullcontext()

    def standing(self, side: Side) -> Mapping[Path, Path]:  # noqa: ARG002
        """Return directories, and where they are to stand by turns."""
        return {}

    def homes(self) -> Mapping[Side, Path]:
        """Return where the sides' own home directories are now; none: they have the user's."""
        return {}

    def sees(self, side: Side, path: str) -> str:  # noqa: ARG002
        """Return where perfgate finds what a side's commands find at an absolute path."""
        return path

    def own(self, directory: Path) -> None:
        """Give a directory, with all below it, to the user that commands run as."""

    def clear(self) -> None:
        """Remove what commands left in their directories for temporary files."""

    def reach(self, side: Side, environment: Mapping[str, str]) -> Reach:  # noqa: ARG002
        """Return where a side's builds may leave files besides its tree and its home; environment: of its commands."""
        return Reach(None, added_to(environment))


@cache
def examined(wanted: Wanted) -> Sandboxed:
    """Return what the sandbox of a run will be, found by trying."""
    if wanted == "off":
        return Sandboxed(why="asked")
    if sys.platform != "linux":
        return Sandboxed(why="system", detail=sys.platform)
    if os.uname().machine not in MACHINES:
        return Sandboxed(why="machine", detail=os.uname().machine)
    version = landlock.version()
    if version == 0:
        return Sandboxed(why="kernel", detail=os.uname().release)
    if version < LEAST:
        return Sandboxed(why="old", detail=f"{version}")
    try:
        ruleset = landlock.ruleset([("/", READ)])
        try:
            _try(partial(enter, ruleset, _user()))
        finally:
            os.close(ruleset)
    except (OSError, subprocess.SubprocessError) as error:
        return Sandboxed(why="refused", detail=str(error))
    had = namespaces()
    return Sandboxed(
        landlock=version,
        signals=landlock.stops_signals(),
        user=_user() >= 0,
        network="off" if "network" in had else "on",
        files="own" if "files" in had else "machine",
        detail="; ".join(had - {"network", "files"}),
    )


@cache
def namespaces() -> frozenset[str]:
    """Return what commands can have of their own here, found by trying: "network", "files"; why not, in words.

    Containers and some systems refuse them (AppArmor on Ubuntu 24.04).
    """
    with closing(Room()) as room:
        for had in (room.had, room.had - {"files"}) if room.descriptor >= 0 else ():
            try:
                _try(partial(join, *room.entered(had, network=False)))
            except (OSError, subprocess.SubprocessError):
                continue
            return had | ({room.why} if room.why else set())
    return frozenset({room.why or "Operation not permitted"})


def _user() -> int:
    return _NOBODY if os.geteuid() == 0 else -1


def _try(inside: Callable[[], None]) -> None:
    """Enter what commands enter, and start something."""
    subprocess.run(["/bin/sh", "-c", ":"], check=True, capture_output=True, timeout=_SECONDS, preexec_fn=inside)


def _below(path: str, directories: Iterable[str]) -> bool:
    """Return whether a path is one of some, or below one."""
    return any(f"{path}/".startswith(f"{each}/") for each in directories)


def _is_socket(path: str) -> bool:
    with suppress(OSError, ValueError):
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116
    return False


def outputs(directory: Path, side: Side) -> Path:
    """Return where a side's commands put what they give, in a directory for that; nobody else writes there."""
    return directory / side


def _clear(tmp: Path) -> None:
    """Empty a directory, or make it anew where a command has put something else."""
    try:
        directory = os.open(tmp, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        tmp.unlink(missing_ok=True)
        tmp.mkdir()
        return
    try:
        for name in os.listdir(directory):  # noqa: PTH208  # of a descriptor
            with suppress(OSError):
                if stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                    remove_tree(name, dir_fd=directory)
                else:
                    os.unlink(name, dir_fd=directory)
    finally:
        os.close(directory)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a run's commands are confined."""

    work: Path
    """The run's work directory."""
    outputs: Path
    """Where commands have their outputs, each side below its name."""
    project: Path
    """The directory of perfgate.toml in the checkout."""
    write: Mapping[Side, list[str] | None]
    """What each side's [build] table names."""
    environments: Mapping[Side, Mapping[str, str]]
    """Of each side's commands."""
    links: Mapping[Side, Path]
    """What else a side's builds write, for perfgate."""
    names: frozenset[str]
    """Of the project's files and commands."""
    copied: bool
    """Whether caches are copied, so that nothing of this run is there for the next one."""
    one_path: bool
    """Whether both sides stand at one path, by turns."""
    git: Path
    """The git directory of the checkout."""
    kept: Path | None
    """Where root keeps caches for the other user that commands run as; None: nowhere."""
    texts: Collection[str] = ()
    """Commands that may name what all see of directories for temporary files: of a proposal those of base."""
    caller: Mapping[str, str] = field(default_factory=lambda: os.environ)


class Landlocked(Sandbox):
    """Confines commands by Landlock, as another user where perfgate is root; see Sandbox."""

    def __init__(self, ground: Ground) -> None:
        """Make nothing yet but the directories that commands write."""
        self._ground = ground
        self._user = _user()
        self._homes: dict[Side, Home] = {}
        self._written: dict[Side, Mapping[Path, Path | Copied]] = {}
        self._at: dict[Side, Path] = {}
        self._rulesets: dict[tuple[Side, int, bool, int], int] = {}
        self._rooms: dict[Side, Room] = {}
        self._apart = False
        self._made: list[Path] = []
        # the thread that starts a command is inside as well, and has the memory of this process
        hide()
        if self._user >= 0:
            # what is below belongs to the other user, and is found by it; nobody else is let further
            ground.work.chmod(0o711)
        for side in SIDES:
            for directory in (outputs(self._ground.outputs, side), ground.links[side]):
                directory.mkdir(parents=True, exist_ok=True)
                self.own(directory)

    def environment(self, side: Side) -> Mapping[str, str]:
        """Return HOME and the like, as if the home stood."""
        changed = self._home(side).environment
        if not any(name in _JVM or name.endswith(_OF_JVM) for name in self._ground.names):
            return changed
        given = self._ground.environments[side].get(_JAVA)
        told = f"-Duser.home={changed['HOME']} -Djava.io.tmpdir={changed['TMPDIR']}"
        return {**changed, _JAVA: f"{given} {told}" if given else told}

    def confined(
        self, side: Side, tree: Path, *, building: bool, network: bool = True, scratch: Path | None = None
    ) -> Confinement:
        """Return what a side's next command enters, and put its home where it stands.

        Raises: OSError: the home cannot be made or moved.
        """
        self._home(side)
        place = self._place(side)
        if not self._apart and self._at[side] != place:
            self._set_aside()
            self._at[side].rename(place)
            self._at[side] = place
        # a directory that is made anew is another one, one that is renamed is not
        key = (side, tree.stat().st_ino, building, scratch.stat().st_ino if scratch is not None else 0)
        if key not in self._rulesets:
            self._rulesets[key] = landlock.ruleset(self._rules(side, tree, scratch, building=building))
        return Confinement(self._rulesets[key], self._user, *self._rooms[side].entered(namespaces(), network=network))

    def standing(self, side: Side) -> Mapping[Path, Path]:
        """Return where a side's home is, and where it is to stand."""
        return {self._at[side]: self._place(side)} if self._ground.one_path else {}

    def homes(self) -> Mapping[Side, Path]:
        """Return where the sides' own home directories are now."""
        for side in SIDES:
            self._home(side)
        # as its commands find them: caches are laid over what is there
        return {side: Path(self.sees(side, str(self._at[side]))) for side in SIDES}

    def sees(self, side: Side, path: str) -> str:
        """Return where perfgate finds what a side's commands find at an absolute path."""
        return self._rooms[side].root + path if side in self._rooms else path

    @contextmanager
    def taking_turns(self) -> Iterator[None]:
        """Set both homes aside; meanwhile another process lets them stand by turns, as `standing` says."""
        for side in SIDES:
            self._home(side)
        if not self._ground.one_path:
            yield
            return
        self._set_aside()
        self._apart = True
        try:
            yield
        finally:
            self._apart = False
            for side, at in self._at.items():
                # whoever let it stand was killed
                if not os.path.lexists(at):
                    self._at[side] = self._place(side)

    def own(self, directory: Path) -> None:
        """Give it away where commands have a user of their own."""
        if self._user < 0 or not os.path.lexists(directory):
            return
        os.lchown(directory, self._user, self._user)
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            return
        # by descriptors: no link that is put there meanwhile leads elsewhere
        for stop in descend(directory):
            for name in (*stop.folders, *stop.files):
                # unchanged where it is so already: the time of that would be
                if os.stat(name, dir_fd=stop.fd, follow_symlinks=False).st_uid != self._user:
                    os.chown(name, self._user, self._user, dir_fd=stop.fd, follow_symlinks=False)

    def clear(self) -> None:
        """Empty what TMPDIR names."""
        for side, at in self._at.items():
            with suppress(OSError):
                _clear(at / TMP)
                self.own(at / TMP)
            for each in self._rooms[side].writable:
                with suppress(OSError):
                    _clear(Path(self.sees(side, each)))

    def reach(self, side: Side, environment: Mapping[str, str]) -> Reach:
        """Return the folders that stay when the run ends, and where programs share memory if commands left some."""
        user = self._user if self._user >= 0 else os.geteuid()
        added, folders = added_to(environment), []
        with suppress(OSError), os.scandir(SHARED_MEMORY) as found:
            if any(each.stat(follow_symlinks=False).st_uid == user for each in found):
                folders = [Path(SHARED_MEMORY)]
        self._home(side)
        caches = list(added)
        for wanted, given in self._written[side].items():
            if isinstance(given, Path):
                folders.append(Path(os.path.realpath(given)))
                # root keeps the caches of the other user elsewhere
                real = Path(os.path.realpath(wanted))
                caches += [folders[-1] / each.relative_to(real) for each in added if each.is_relative_to(real)]
        return Reach(tuple(each for each in folders if each not in caches), tuple(caches))

    def close(self) -> None:
        """Give back the descriptors, and remove caches that nothing was put into."""
        while self._made:
            with suppress(OSError):
                self._made.pop().rmdir()
        while self._rulesets:
            os.close(self._rulesets.popitem()[1])
        while self._rooms:
            self._rooms.popitem()[1].close()

    def _home(self, side: Side) -> Home:
        if side not in self._homes:
            ground, at = self._ground, self._ground.work / f"home-{side}"
            environment = ground.environments[side]
            wanted = caches(ground.write[side], ground.names, environment, ground.project)
            # whoever writes the work directory writes the other side's tree
            hidden = [*self._hidden(side, building=False), ground.work]
            covered, visible, sockets = self._covered(side, wanted)
            written = self._written[side] = {
                each: self._shared(side, each)
                for each in wanted
                if not overlaps(each, hidden)
                and (not _below(os.path.realpath(each), covered) or _below(os.path.realpath(each), visible))
            }
            home = make_home(at, self._place(side), environment, written)
            owner = self._user if self._user >= 0 else os.geteuid()
            overlays, laid = list[tuple[str, str, str]](), dict[str, int]()
            for to, source in home.copied.items():
                # another user's could not be written; the others divide what mount(2) is told
                real = os.path.realpath(source)
                plain = not {*",:\\"} & {*f"{at}{to}{real}"}
                if plain and Path(real).is_dir() and Path(real).stat().st_uid == owner:
                    laid[to] = len(overlays)
                    overlays.append((f"{at}/{to}", real, f"{ground.work}/changed-{side}-{laid[to]}"))
            has_files = "files" in namespaces()
            room = Room(sorted(covered), sorted(visible), sockets, overlays) if has_files else Room()
            self._rooms[side] = room
            self._homes[side], self._at[side] = home, at
            for to, source in home.copied.items():
                if str(laid.get(to)) not in room.had:
                    copy(source, at / to)
            self.own(at)
        return self._homes[side]

    def _covered(self, side: Side, caches: Collection[Path]) -> tuple[set[str], set[str], list[str]]:
        """Return directories of a side that are covered, what stays visible in them, and sockets that are covered.

        These are temporary, or of servers. Of a proposal, base alone says what stays visible.
        """
        if "files" not in namespaces():
            return set(), set(), []
        ground, environment = self._ground, self._ground.environments["base" if self._ground.copied else side]
        own = [ground.work, ground.project, ground.git, *([ground.kept] if ground.kept is not None else [])]
        own += () if ground.copied else caches
        trusted = [environment.get("SSH_AUTH_SOCK", ""), *(ground.write["base"] or [])]
        kept = {os.path.realpath(each) for each in trusted if os.path.isabs(each)}  # noqa: PTH117
        temporary, servers = ({os.path.realpath(each) for each in found} for found in (TEMPORARY, _SERVERS))
        # what is all of one of them needs it whole
        whole = kept | {os.path.realpath(each) for each in (*map(str, own), environment.get("HOME", "/"))}
        covered = {each for each in (temporary | servers) - whole if os.path.isdir(each)}  # noqa: PTH112
        paths = map(str, (*own, sys.prefix, sys.executable, __file__))
        told = in_sight((*ground.texts, *environment.values()), environment.get("PATH", ""), paths)
        visible = {each for each in kept if _below(each, covered)}
        for above in covered & temporary:
            # with all that belongs to it
            visible |= {
                f"{above}/{each[len(above) + 1 :].partition('/')[0]}"
                for each in told
                if each.startswith(f"{above}/") and (each in kept or not _is_socket(each))
            }
        if any(_below(each, {SHARED_MEMORY}) for each in visible):
            # what is written there would be written in what stays visible
            covered.discard(SHARED_MEMORY)
        names = [*_SOCKETS, *(each.partition(":")[2] for each in environment.values() if each.startswith("unix:"))]
        sockets = {os.path.realpath(each) for each in names if _is_socket(each)} - kept
        return covered, visible, [each for each in sockets if not _below(each, covered) or _below(each, visible)]

    def _shared(self, side: Side, cache: Path) -> Path | Copied:
        """Return what commands get for a cache: what stays for the next run, or a copy where nothing may."""
        ground = self._ground
        # the other user could not write what root has
        place = ground.kept / cache.relative_to("/") if self._user >= 0 and ground.kept is not None else None
        if ground.copied:
            return Copied(place if place is not None and place.is_dir() else cache)
        if self._user < 0:
            missing = [each for each in (*reversed(cache.parents), cache) if not each.exists()]
            try:
                cache.mkdir(parents=True, exist_ok=True)
            except OSError:
                return Copied(cache)  # another user's place: what would be put there is the home's
            self._made += missing
            return cache
        if not is_told(cache, ground.environments[side]):
            # commands cannot be told of another place: the other user writes what root has let it
            return cache
        if place is None or ground.kept is None:
            return Copied(cache)
        if place.resolve() != ground.kept.resolve() / cache.relative_to("/"):
            # commands of an earlier run have put a link there
            return Copied(cache)
        if not place.is_dir():
            made = place.with_name(f"{place.name}.{os.getpid()}")
            made.parent.mkdir(parents=True, exist_ok=True)
            copy(cache, made)
            self.own(made)
            made.rename(place)
        return place

    def _place(self, side: Side) -> Path:
        return self._ground.work / ("home" if self._ground.one_path else f"home-{side}")

    def _set_aside(self) -> None:
        for side, at in self._at.items():
            aside = self._ground.work / f"home-{side}"
            if at != aside:
                at.rename(aside)
                self._at[side] = aside

    def _hidden(self, side: Side, *, building: bool) -> list[Path]:
        """Return what a side's commands do not see."""
        real = home_of(self._ground.environments[side])
        names = (*SECRETS, *(() if building else FETCHING))
        return [
            *(real / each for each in names if real is not None),
            *runner_secrets(self._ground.caller),
            *git_secrets(self._ground.git),
            *system_secrets((*SECRETS, *FETCHING), real, root=self._user >= 0),
        ]

    def _rules(self, side: Side, tree: Path, scratch: Path | None, *, building: bool) -> Iterator[Rule]:
        room = self._rooms[side]
        yield from sight(self._hidden(side, building=building), room.covered, room.visible)
        for path in (
            tree,
            self._at[side],
            self._ground.links[side],
            *([scratch] if scratch is not None else []),
            # caches that stay when the run ends
            *(to for to in self._written[side].values() if isinstance(to, Path)),
        ):
            yield path, WRITE
        # perfgate writes and reads there by name, so a command can put nothing in the place of a file
        yield outputs(self._ground.outputs, side), REOPEN
        for writable in {SHARED_MEMORY, *room.writable}:
            yield self.sees(side, writable), WRITE
        for name in _DEVICES:
            yield Path("/dev", name), DEVICE
        if not any(each.name != "ptmx" for each in _TERMINALS.glob("*")):
            # whoever works at a terminal would be read there, and answered
            yield _TERMINALS, DEVICE
        for device in Path("/dev").glob("nvidia*"):
            yield device, DEVICE


KEEPERS: set[int] = set()
"""Children that are left alone, whatever begins or ends around them: they keep namespaces, or fork others."""


class Room:
    """Namespaces that a process keeps, which ends with this object or with perfgate.

    descriptor: of the process; -1: there are none. had: which there are, and the numbers of overlays. why: what the
    system said; "": nothing. root: leads to the root directory inside; "": it is the machine's. covered, visible: see
    harness/sandbox/keeper.py. writable: covered directories for temporary files, where nothing else would be, too.
    """

    def __init__(
        self,
        covered: Sequence[str] = (),
        visible: Sequence[str] = (),
        files: Sequence[str] = (),
        overlays: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        """Make them; the arguments as in harness/sandbox/keeper.py."""
        self.descriptor, self.had, self.why, self.root = -1, frozenset[str](), "", ""
        self.covered, self.visible = covered, visible
        self.writable = [
            each for each in covered if each in TEMPORARY and not any(path.startswith(f"{each}/") for path in visible)
        ]
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "linux":
            return
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        argv = [sys.executable, "-I", "-S", keeper.__file__]
        with suppress(OSError):
            self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True)
            KEEPERS.add(self._process.pid)
            ask, answer = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
            ask.write(marshal.dumps((*map(list, (covered, visible, files, overlays)),)))
            ask.flush()
            told = answer.readline().decode()
            self.had, _, self.why = frozenset(told.partition("!")[0].split()), *told.strip().partition("! ")[1:]
            if self.had:
                self.descriptor = os.pidfd_open(self._process.pid)
        if self.descriptor < 0:
            self.close()
        elif "files" in self.had:
            self.root = f"/proc/{self._process.pid}/root" if self._process is not None else ""

    def entered(self, had: Collection[str], *, network: bool) -> tuple[int, int]:
        """Return what a command enters of it (see Confinement); had: that can be entered here."""
        kinds = keeper.NEW_NETWORK if "network" in had and not network else 0
        kinds |= keeper.NEW_MOUNTS if "files" in had and self.root else 0
        if self.descriptor < 0 or not kinds:
            return -1, 0
        return self.descriptor, kinds | (keeper.NEW_USER if _user() < 0 else 0)

    def close(self) -> None:
        """End it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        if self._process is not None:
            self._process.communicate()
            KEEPERS.discard(self._process.pid)
        self.descriptor, self.root, self.writable, self._process = -1, "", [], None
