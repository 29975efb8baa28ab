"""A hostile program in the sandbox: what it writes, reads, signals and leaves outside."""

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from gate.removal import remove_tree
from harness.instruments.spawn import LAUNCHER, launched
from harness.process.execute import Command
from harness.process.forkserver import Launch, LaunchSide, LaunchStart
from harness.sandbox.sandbox import Confinement, Landlocked, namespaces
from tests.harness.sandbox.conftest import LIBRARY, Arena
from tests.hostile import attacks


@pytest.fixture
def victim() -> Iterator[int]:
    """Give a process of the user who runs perfgate, with a token."""
    with subprocess.Popen(["sleep", "60"], env={"GITHUB_TOKEN": "secret"}) as process:
        yield process.pid
        process.kill()


def around(arena: Arena) -> list[Path]:
    """Name what every run has around it, as files that exist."""
    runner = arena.root / "actions-runner"
    files = [
        Path(sys.prefix) / "pyvenv.cfg",
        arena.tree("base") / "main.c",
        arena.work / "records",
        arena.checkout / "perfgate.toml",
        arena.checkout / ".git" / "config",
        arena.checkout / ".git" / "perfgate" / "work.json",
        arena.checkout / ".perfgate" / "measurements.jsonl",
        arena.root / "history",
        arena.home / ".profile",
        arena.home / ".cache" / "perfgate" / "builds" / "key" / "about.json",
        runner / ".runner",
        runner / "_work" / "_temp" / "_runner_file_commands" / "set_env_1",
        Path("/dev/sda"), Path("/proc/sys/kernel/core_pattern"),
    ]  # fmt: skip
    for file in files:
        if file.is_relative_to(arena.root) and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("mine\n")
    return [file for file in files if file.exists()]


def allowed(said: dict[Any, str]) -> dict[Any, str]:
    return {what: answer for what, answer in said.items() if not answer.startswith("refused")}


def test_files_outside_stay_as_they_are(arena: Arena, sandbox: Landlocked) -> None:
    files = around(arena)
    assert len(files) >= 12
    before = [file.read_bytes() for file in files if file.is_file()]
    attacks = [(attack, file) for attack in ("write", "truncate", "remove") for file in files]
    assert allowed(dict(zip(attacks, arena.attacks(sandbox, attacks), strict=True))) == {}
    assert [file.read_bytes() for file in files if file.is_file()] == before
    # and what it may do, it can
    own = arena.tree("head") / "own"
    own.write_text("x")
    sandbox.own(own)
    assert arena.attacks(sandbox, [("write", own), ("truncate", own), ("remove", own)]) == ["done"] * 3


def test_files_are_not_made_outside(arena: Arena, sandbox: Landlocked) -> None:
    made = [file.with_name("planted.pth") for file in around(arena)]
    said = arena.attacks(sandbox, [("make", file) for file in made])
    assert allowed(dict(zip(made, said, strict=True))) == {}
    assert not [file for file in made if file.exists()]


def test_files_outside_cannot_be_moved_or_linked_inside(arena: Arena, sandbox: Landlocked) -> None:
    inside, head = arena.tree("head") / "taken", arena.tree("head")
    outside = (arena.home / ".profile", arena.tree("base"))
    tried: list[tuple[Any, ...]] = [(how, each, inside) for how in ("rename", "hard_link") for each in outside]
    # nor can the directories that it may write
    tried += [("rename", head, head.with_name("moved")), ("rename", arena.outputs(), f"{arena.outputs()}-")]
    assert allowed(dict(zip(tried, arena.attacks(sandbox, tried), strict=True))) == {}


@pytest.mark.parametrize("building", [False, True])
def test_secrets_are_not_read(tmp_path: Path, arena: Arena, building: bool) -> None:
    runner, temp = arena.root / "runner", arena.root / "runner" / "_work" / "_temp"
    secret = [
        arena.home / ".aws" / "credentials", arena.checkout / ".git" / "config", runner / ".credentials",
        temp / "git-credentials-1.config", temp / "_runner_file_commands" / "set_env_1",
    ]  # fmt: skip
    for file in (*secret, runner / ".runner", arena.home / ".ssh" / "id"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("secret\n")
    arena.more = {"RUNNER_TEMP": str(temp), "GITHUB_ENV": str(secret[-1])}
    if not building:
        secret.append(arena.home / ".ssh" / "id")
    if os.geteuid() == 0:
        secret.append(Path("/etc/shadow"))
    with closing(arena.sandbox()) as sandbox:
        for file in secret:
            for how in (f"cat {file}", f'{sys.executable} -I -S {LIBRARY} handle {file} 2>&1 | grep "^b\'"'):
                assert arena.sh(sandbox, how, building=building).status, file
        assert not arena.sh(sandbox, f"cat {arena.home}/.profile", building=building).status


PROCESS = ["ptrace", "seize", "memory", "readv", "descriptor", "threads"]


@pytest.mark.parametrize("attack", PROCESS)
def test_other_processes_are_not_reached(arena: Arena, sandbox: Landlocked, victim: int, attack: str) -> None:
    # it is the sandbox that refuses: a child of its own can be had
    *others, own = arena.attacks(sandbox, [(attack, victim), (attack, os.getpid()), ("own_child", attack)])
    assert set(others) <= {"refused EPERM", "refused EACCES"}, attack
    assert own == "done"


def test_other_processes_are_not_read(arena: Arena, sandbox: Landlocked, victim: int) -> None:
    attacks = [
        attack
        for pid in (victim, os.getpid(), os.getppid())
        for attack in (
            *(("read", f"/proc/{pid}/{file}") for file in ("environ", "maps", "stack", "auxv", "pagemap")),
            # whatever it leads to
            *(("follow", f"/proc/{pid}/{link}") for link in ("fd/0", "cwd", "exe")),
        )
    ]
    assert allowed(dict(zip(attacks, arena.attacks(sandbox, attacks), strict=True))) == {}


def test_other_processes_are_not_signalled(arena: Arena, sandbox: Landlocked, victim: int) -> None:
    numbers = (signal.SIGTERM, signal.SIGSTOP, signal.SIGCONT, 0)
    attacks = [("kill", pid, int(number)) for number in numbers for pid in (victim, os.getpid())]
    assert arena.attacks(sandbox, attacks) == ["refused EPERM"] * len(attacks)


def test_limits_of_other_processes_are_not_lowered(arena: Arena, sandbox: Landlocked, victim: int) -> None:
    """A second of CPU time would end each process of the user; root's commands reach the thread that started them."""
    # of its own it sets them, as setrlimit(2) does
    own = arena.sh(sandbox, "ulimit -n 100 && ulimit -n")
    assert not own.status
    tried = [("lower", 0), *(("lower", pid) for pid in (victim, os.getpid())), ("own_child", "lower")]
    assert arena.attacks(sandbox, tried) == ["done", *["refused EPERM"] * 3]


def test_flags_of_files_are_not_set(arena: Arena, sandbox: Landlocked) -> None:
    """Base's tree belongs to whoever head's commands run as, and `chattr +S` makes all slow that base writes there."""
    base = arena.tree("base")
    try:
        fcntl.ioctl(os.open(base, os.O_RDONLY), 0x80086601, bytes(8))
    except OSError:
        pytest.skip("this file system has no flags")
    assert arena.attacks(sandbox, [("flags", base), ("flags", arena.tree("head"))]) == ["refused EPERM"] * 2


def test_abstract_sockets_are_not_reached(arena: Arena, sandbox: Landlocked) -> None:
    name = f"perfgate-{secrets.token_hex(4)}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        assert arena.attack(sandbox, "abstract", name) == "refused EPERM"


def test_the_hypervisor_is_not_reached(arena: Arena, sandbox: Landlocked) -> None:
    """Virtual machines have a line to the one that they are on, which belongs to no network."""
    assert attacks.attempt("hypervisor") in ("done", "refused EAFNOSUPPORT")
    assert arena.attack(sandbox, "hypervisor") == "refused EPERM"


def test_rights_are_not_won_back(arena: Arena, sandbox: Landlocked) -> None:
    device = arena.tree("head") / "sda"
    tried = [("status", "NoNewPrivs"), ("status", "CapEff"), ("root",), ("device", device), ("mount",)]
    privileges, rights, *others = arena.attacks(sandbox, tried)
    # the right to read and search, for who was root
    assert (privileges, int(rights, 16)) == ("1", 1 << 2 if os.geteuid() == 0 else 0)
    assert all(answer.startswith("refused") for answer in others)


def of_one(argv: tuple[str, ...], arena: Arena, confined: Confinement) -> Launch:
    side = LaunchSide(argv, arena.environment, arena.tree("head"), confined)
    return Launch(LAUNCHER, arena.work / f"{secrets.token_hex(4)}.json", (side,), (LaunchStart(),))


def by_launcher(arena: Arena, sandbox: Landlocked, attack: str, *, served: bool) -> str:
    """Make an attack in the program that the launcher of spawn starts."""
    confined = sandbox.confined("head", arena.tree("head"), building=False)
    argv = (sys.executable, "-I", "-S", str(LIBRARY), attack)
    launch = of_one(argv, arena, confined)
    if not served:
        arena.executor._servers[LAUNCHER] = None
    done = arena.executor.run(launched(launch, 20.0))
    assert not done.status, done
    assert launch.output.is_file()
    return done.stderr.strip()


@pytest.mark.parametrize("served", [False, True])
def test_a_program_inherits_no_descriptors(arena: Arena, sandbox: Landlocked, served: bool) -> None:
    """With the ruleset that it entered it could widen what its next execution may do."""
    assert by_launcher(arena, sandbox, "descriptors", served=served) == arena.attack(sandbox, "descriptors") == "[]"
    assert by_launcher(arena, sandbox, "widen", served=served).startswith("refused")
    arena.executor.close()


def test_links_in_the_place_of_temporary_files_are_not_followed(arena: Arena, sandbox: Landlocked) -> None:
    assert not arena.sh(sandbox, 'rm -r "$TMPDIR" && ln -s "$REAL" "$TMPDIR"'.replace("$REAL", str(arena.home))).status
    sandbox.clear()
    assert (arena.home / ".profile").exists()
    assert (arena.home / ".aws" / "credentials").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_giving_files_away_follows_no_links(arena: Arena, sandbox: Landlocked) -> None:
    arena.sh(sandbox, f"ln -s {arena.home} folder; ln -s {arena.home}/.profile file")
    sandbox.own(arena.tree("head"))
    assert arena.home.stat().st_uid == 0
    assert (arena.home / ".profile").stat().st_uid == 0


def test_removing_a_tree_changes_nothing_that_links_lead_to(arena: Arena, sandbox: Landlocked) -> None:
    outside = arena.home / "mine"
    outside.mkdir(mode=0o500)
    arena.sh(sandbox, f"mkdir -p d/e; ln -s {outside} d/e/l; ln -s {outside} l; touch d/f; chmod 0 d/e; chmod 500 d")
    assert remove_tree(arena.tree("head")) is None
    assert outside.stat().st_mode & 0o777 == 0o500


@pytest.mark.parametrize("plant", ["ln -sf {} {}", "rm -f {1}; mkfifo {1}; : {0}", "ln -f {} {}", "mv {1} {1}-"])
def test_nothing_is_put_in_the_place_of_perfgates_files(arena: Arena, sandbox: Landlocked, plant: str) -> None:
    """A build's output, a service's log and standard streams are where a command can write and make nothing."""
    place = arena.outputs() / "build"
    place.write_text("perfgate's\n")
    sandbox.own(place)
    inode = place.stat().st_ino
    arena.sh(sandbox, plant.format(arena.home / ".profile", place))
    assert place.lstat().st_ino == inode
    # to write it, as by /dev/stdout, is all right
    assert not arena.sh(sandbox, f"echo said >> {place}").status


@pytest.mark.parametrize("plant", ["ln -s {} {}", "mkfifo {1}; : {0}", "mkdir {1}; : {0}"])
def test_standard_output_goes_through_nothing_that_was_put_there(arena: Arena, sandbox: Landlocked, plant: str) -> None:
    scratch = arena.outputs() / "scratch"
    scratch.mkdir()
    sandbox.own(scratch)
    secret, stdout = arena.home / ".profile", scratch / "stdout"
    done = arena.run(sandbox, ("sh", "-c", plant.format(secret, stdout)), scratch=scratch)
    assert not done.status
    confined = sandbox.confined("head", arena.tree("head"), building=False, scratch=scratch)
    with suppress(OSError):
        arena.executor.run(
            Command(("echo", "x"), arena.tree("head"), arena.environment, 5.0, stdout=stdout, confined=confined)
        )
    assert secret.read_text() == "mine\n"


def test_the_directory_of_outputs_cannot_be_replaced(arena: Arena, sandbox: Landlocked) -> None:
    scratch = arena.outputs() / "scratch"
    scratch.mkdir()
    sandbox.own(scratch)
    replace = f"mv {scratch} {scratch}- || rmdir {scratch}; ln -s {arena.home} {scratch}"
    arena.run(sandbox, ("sh", "-c", replace), scratch=scratch)
    assert scratch.is_dir()
    assert not scratch.is_symlink()
    # it is the same directory under another name
    moved = scratch.rename(scratch.with_name("again"))
    assert not arena.run(sandbox, ("sh", "-c", f"touch {moved}/x"), scratch=moved).status


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("entry", ["~", "~/.aws", "~/../home/.aws", "aws"])
def test_a_cache_is_no_way_to_secrets(arena: Arena, copied: bool, entry: str) -> None:
    """Head's own file says which directories are caches, and perfgate copies them."""
    (arena.checkout / "aws").symlink_to(arena.home / ".aws")
    arena.write["head"], arena.copied = [entry], copied
    with closing(arena.sandbox()) as sandbox:
        assert arena.sh(sandbox, f"grep -r secret $HOME/ {arena.home}/.aws {arena.checkout}/aws/credentials").status
        assert arena.sh(sandbox, f"touch {arena.home}/.aws/x {arena.home}/x").status


def test_a_cache_inside_another_one_is_not_opened_through_a_link(arena: Arena) -> None:
    outer, inner = arena.home / "cache", arena.home / "cache" / "inner"
    inner.mkdir(parents=True)
    arena.write["head"] = ["~/cache", "~/cache/inner"]
    for _ in range(2):
        with closing(arena.sandbox()) as sandbox:
            script = f'for c in {outer} "$HOME/cache"; do rm -rf $c/inner && ln -s {arena.checkout} $c/inner; done'
            arena.sh(sandbox, script)
            assert arena.sh(sandbox, f"touch {arena.checkout}/planted").status
        remove_tree(arena.work / "home-head")
        remove_tree(arena.work / "home-base")
        remove_tree(arena.work / "home")


def test_daemons_end_with_their_execution(arena: Arena, sandbox: Landlocked) -> None:
    written = arena.tree("head") / "written"
    written.touch()
    sandbox.own(written)
    arena.attack(sandbox, "daemon", written)
    size = written.stat().st_size
    time.sleep(0.3)
    assert written.stat().st_size == size


def test_reopening_standard_streams_works(arena: Arena, sandbox: Landlocked) -> None:
    assert arena.sh(sandbox, "echo said > /dev/stderr").stderr.strip() == "said"


@pytest.mark.skipif("files" not in namespaces(), reason="this system refuses namespaces")
def test_what_is_covered_is_not_read_by_its_handle(arena: Arena, sandbox: Landlocked) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        file.write(b"a secret")
        file.flush()
        handle = attacks.handle_of(file.name)
        assert arena.attack(sandbox, "read", file.name) == "refused ENOENT"
        assert arena.attack(sandbox, "by_handle", handle) == "refused EPERM"
        assert arena.attack(sandbox, "names_by_handle", attacks.handle_of("/tmp")) == "refused EPERM"
