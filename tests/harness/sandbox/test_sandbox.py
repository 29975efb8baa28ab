"""Where a side's commands are confined: homes that stand by turns, rulesets, caches, and what is left at the end."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gate.model import SIDES, Side
from gate.removal import remove_tree
from harness.process.execute import Command, ProcessExecutor
from harness.sandbox import landlock
from harness.sandbox.sandbox import Ground, Landlocked, examined, namespaces

pytestmark = pytest.mark.skipif(landlock.version() < landlock.LEAST, reason="Landlock is Linux's")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    user, work = tmp_path / "user", tmp_path / "work"
    (user / ".cargo/registry").mkdir(parents=True)
    (user / ".cargo/registry/index").write_text("user")
    (work / "outputs").mkdir(parents=True)
    for side in SIDES:
        (work / side).mkdir()
    environment = {"HOME": str(user), "PATH": os.defpath}
    return Ground(
        work=work, outputs=work / "outputs", project=tmp_path / "project", write=dict.fromkeys(SIDES, None),
        environments=dict.fromkeys(SIDES, environment), links={side: work / "links" / side for side in SIDES},
        names=frozenset({"cargo"}), copied=False, one_path=True, kept=tmp_path / "kept", git=tmp_path / "git", caller={},
    )  # fmt: skip


def another(ground: Ground, name: str, **changes: object) -> Ground:
    """The ground of another run, in a work directory of its own."""
    work = ground.work.parent / name
    for each in ("outputs", *SIDES):
        (work / each).mkdir(parents=True)
    return replace(ground, work=work, outputs=work / "outputs", **changes)  # type: ignore[arg-type]


@contextmanager
def opened(ground: Ground) -> Iterator[Landlocked]:
    with closing(Landlocked(ground)) as made:
        for side in SIDES:
            made.own(ground.work / side)
        yield made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_tree_of_any_depth_is_given_to_the_user_of_commands(ground: Ground) -> None:
    here = os.open(ground.work / "base", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    (ground.work / "head/link").symlink_to(ground.work / "outputs")
    with opened(ground) as sandbox:
        sandbox.own(ground.work / "head/link")
        assert os.fstat(here).st_uid == os.lstat(ground.work / "head/link").st_uid != 0
    os.close(here)
    assert remove_tree(ground.work / "base") is None


def ran(ground: Ground, sandbox: Landlocked, side: Side, script: str) -> str:
    """What a script says, as a side's build, or why it failed."""
    tree, out = ground.work / side, ground.outputs / side / "out"
    environment = {**ground.environments[side], **sandbox.environment(side)}
    confined = sandbox.confined(side, tree, building=True)
    with closing(ProcessExecutor()) as executor:
        command = Command(("/bin/sh", "-c", script), tree, environment, 30, stdout=out, confined=confined)
        outcome = executor.run(command)
    return outcome.status or out.read_text().strip()


def test_a_side_writes_its_tree_its_home_and_nothing_of_the_other_one(ground: Ground) -> None:
    with opened(ground) as sandbox:
        assert (
            ran(ground, sandbox, "base", "echo 1 > file; echo 2 > ~/file; mktemp > /dev/null; cat file ~/file")
            == "1\n2"
        )
        assert ran(ground, sandbox, "head", f"echo 1 > '{ground.work}/base/file'").startswith("exit")
        assert ran(ground, sandbox, "head", f"echo 1 > '{ground.environments['head']['HOME']}/x'").startswith("exit")
        assert ran(ground, sandbox, "head", "ls -A ~/file").startswith("exit"), "homes stand at one path by turns"
        assert ran(ground, sandbox, "base", "cat ~/file") == "2"
        # what is left in TMPDIR is removed
        ran(ground, sandbox, "base", 'mkdir "$TMPDIR/x" && touch "$TMPDIR/x/y" "$TMPDIR/z"')
        sandbox.clear()
        assert ran(ground, sandbox, "base", 'ls -A "$TMPDIR"') == ""


def test_a_cache_is_warm_for_the_next_run_but_for_what_a_proposal_leaves_in_it(ground: Ground) -> None:
    proposed = another(ground, "proposed", copied=True)
    with opened(proposed) as sandbox:
        assert ran(proposed, sandbox, "head", "cat ~/.cargo/registry/index; echo 1 > ~/.cargo/registry/index") == "user"
        assert ran(proposed, sandbox, "base", "cat ~/.cargo/registry/index") == "user"
    assert (Path(ground.environments["head"]["HOME"]) / ".cargo/registry/index").read_text() == "user"
    assert not (ground.work.parent / "kept").exists()
    with opened(ground) as sandbox:
        fetch = "cat ~/.cargo/registry/index; echo 1 > ~/.cargo/registry/new; mkdir -p ~/.cargo/git; echo 2 > ~/.cargo/git/db"
        assert ran(ground, sandbox, "base", fetch) == "user"
    for copied in (False, True):
        again = another(ground, f"again-{copied}", copied=copied)
        with opened(again) as sandbox:
            assert ran(again, sandbox, "head", "cat ~/.cargo/registry/new ~/.cargo/git/db") == "1\n2"


@pytest.mark.skipif(os.geteuid() == 0, reason="root's are elsewhere")
def test_a_cache_that_nothing_was_put_into_is_not_made(ground: Ground) -> None:
    home = Path(ground.environments["head"]["HOME"])
    with opened(replace(ground, names=frozenset({"npm", "go"}))) as sandbox:
        ran(ground, sandbox, "head", "touch ~/.npm/x")
        assert (home / "go/pkg").is_dir()
    assert (home / ".npm/x").is_file() and not (home / "go").exists() and not (home / ".cache").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_in_another_users_place_begins_empty(ground: Ground, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    given = {side: {**ground.environments[side], "CARGO_HOME": str(closed)} for side in SIDES}
    elsewhere = replace(ground, environments=given)
    with opened(elsewhere) as sandbox:
        assert ran(elsewhere, sandbox, "head", 'touch "$CARGO_HOME/registry/x" && ls "$CARGO_HOME/registry"') == "x"


def test_homes_are_set_aside_while_another_process_lets_them_stand_by_turns(ground: Ground) -> None:
    with opened(ground) as sandbox:
        place = ground.work / "home"
        sandbox.confined("base", ground.work / "base", building=True)
        with sandbox.taking_turns():
            assert [*sandbox.standing("base").values(), *sandbox.standing("head").values()] == [place, place]
            assert sandbox.standing("base").keys() != sandbox.standing("head").keys()
            assert not place.exists()
        sandbox.confined("head", ground.work / "head", building=True)
        assert (place / ".tmp").is_dir()


def test_a_java_virtual_machine_is_told_where_home_is_and_what_the_sandbox_will_be(ground: Ground) -> None:
    assert examined("off").why == "asked"
    found = examined("auto")
    assert found.on and found.landlock == landlock.version() and found.user == (os.geteuid() == 0)
    with opened(ground) as sandbox:
        assert "JAVA_TOOL_OPTIONS" not in sandbox.environment("base")
    given = {side: {**ground.environments[side], "JAVA_TOOL_OPTIONS": "-Xmx1g"} for side in SIDES}
    java = another(ground, "java", names=frozenset({"pom.xml"}), environments=given)
    with closing(Landlocked(java)) as sandbox:
        told = sandbox.environment("base")["JAVA_TOOL_OPTIONS"].split()
    assert told == ["-Xmx1g", f"-Duser.home={java.work}/home", f"-Djava.io.tmpdir={java.work}/home/.tmp"]


@pytest.mark.skipif("files" not in namespaces(), reason="this system refuses namespaces")
def test_what_is_temporary_is_a_sides_own(ground: Ground, tmp_path: Path) -> None:
    named = [f"/tmp/named-{tmp_path.name}-{os.getpid()}", f"/dev/shm/other-{os.getpid()}"]
    with ExitStack() as stack:
        for each in named:
            Path(each).touch()
            stack.callback(os.unlink, each)
        sandbox = stack.enter_context(opened(replace(ground, texts=[f"cat {named[0]}"])))
        assert ran(ground, sandbox, "base", f"cat {named[0]}; ls /dev/shm; echo 1 > /dev/shm/message") == ""
        assert ran(ground, sandbox, "base", "cat /dev/shm/message") == "1"
        assert ran(ground, sandbox, "head", "cat /dev/shm/message").startswith("exit")
        # nothing may be made beside what stays in sight
        assert ran(ground, sandbox, "head", "touch /tmp/new").startswith("exit")
        assert Path(sandbox.sees("base", "/dev/shm/message")).read_text() == "1\n"
        sandbox.clear()
        assert ran(ground, sandbox, "base", "cat /dev/shm/message").startswith("exit")


TOLD = {
    "a link on PATH to a link": ("ln -s /bin $A/version; ln -s $A/version/sh bin/tool", "tool -c 'echo it runs'"),
    "a script's interpreter": ("cp /bin/sh $A/sh; printf '#!$A/sh\\necho it runs' > bin/tool", "tool"),
    "a script by env": ("cp /bin/sh $A/own-sh; printf '#!/usr/bin/env own-sh\\necho it runs' > bin/tool", "PATH=$PATH:$A tool"),
    "a wrapper": ("cp /bin/sh $A/sh; printf '#!/bin/sh\\nexec $A/sh -c \"echo it runs\"' > bin/tool", "tool"),
    "a variable's link": ("echo it runs > $A/said; ln -s $A lib", "cat $LIBRARIES/said"),
    "a command's link": ("echo it runs > $A/said; ln -s $A named", "cat $T/named/said"),
    "packages of Python": ("mkdir -p lib/python3.0/site-packages; echo $A > lib/python3.0/site-packages/x.pth; echo it runs > $A/said", "cat $(cat $T/lib/python3.0/site-packages/x.pth)/said"),
    "an environment of Python": ("echo home = $A > pyvenv.cfg; echo it runs > $A/said", "cat $(sed 's/.*= //' $T/pyvenv.cfg)/said"),
}  # fmt: skip
"""What a tool's maker has put into a directory of a while, and how commands find it."""


@pytest.mark.endtoend
@pytest.mark.skipif("files" not in namespaces(), reason="this system refuses namespaces")
@pytest.mark.parametrize("temporary", ["/tmp", "/var/tmp", "/dev/shm"])
def test_what_commands_are_told_of_stays_in_sight(ground: Ground, tmp_path: Path, temporary: str) -> None:
    for number, (make, use) in enumerate(TOLD.values()):
        away, place = Path(f"{temporary}/told-{os.getpid()}-{number}"), tmp_path / f"place-{number}"
        away.mkdir()
        (place / "bin").mkdir(parents=True)
        try:
            # of links it would be the machine's own program, which others are reading
            made = make.replace("$A", str(away)) + "; find bin -type f -exec chmod +x {} +"
            subprocess.run(["sh", "-c", made], cwd=place, check=True)
            told = {**ground.environments["base"], "PATH": f"{place}/bin:{os.defpath}", "LIBRARIES": f"x:{place}/lib"}
            script = use.replace("$LIBRARIES", f"{place}/lib").replace("$T", str(place)).replace("$A", str(away))
            named = another(ground, str(number), environments=dict.fromkeys(SIDES, told), texts=[script])
            with opened(named) as sandbox:
                assert ran(named, sandbox, "base", script) == "it runs", make
        finally:
            remove_tree(away)


@pytest.mark.skipif("files" not in namespaces(), reason="this system refuses namespaces")
def test_what_is_only_spoken_of_takes_nothing_away(ground: Ground) -> None:
    """A program on PATH writes a log where temporary files are: that names no place that there is."""
    (ground.work / "bin").mkdir()
    (ground.work / "bin/tool").write_text("#!/bin/sh\ncp $1 /dev/shm/of-tool.log\ncp $1 /var/tmp/of-tool.log\n")
    told = {**ground.environments["base"], "PATH": f"{ground.work}/bin:{os.defpath}"}
    said = replace(ground, environments=dict.fromkeys(SIDES, told))
    with opened(said) as sandbox:
        assert ran(said, sandbox, "base", "echo 1 > /dev/shm/message; echo 2 > /var/tmp/new; cat /var/tmp/new") == "2"
        assert ran(said, sandbox, "head", "cat /dev/shm/message").startswith("exit")


@pytest.mark.skipif("files" not in namespaces(), reason="this system refuses namespaces")
def test_a_proposals_cache_is_laid_over_one_that_its_user_owns(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = ground.kept / f"{ground.environments['base']['HOME']}/.cargo/registry".lstrip("/") if ground.kept else None
    assert kept is not None
    kept.mkdir(parents=True)
    (kept / "index").write_text("user")
    if os.geteuid() == 0:
        for each in (kept, kept / "index"):
            os.chown(each, 65534, 65534)
    monkeypatch.setattr("harness.sandbox.sandbox.copy", lambda *_: pytest.fail("it was copied"))
    proposed = replace(
        ground, copied=True, names=frozenset({"cargo"}), write={side: ["~/.cargo/registry"] for side in SIDES}
    )
    with opened(proposed) as sandbox:
        script = "cd ~/.cargo/registry; cat index; echo 1 > index; echo 2 > new; mkdir a; mv new a/b; cat a/b index"
        assert ran(proposed, sandbox, "head", script) == "user2\n1"
        assert ran(proposed, sandbox, "base", "cat ~/.cargo/registry/*") == "user"
        at = {side: path / ".cargo/registry" for side, path in sandbox.homes().items()}
        assert (at["head"] / "index").read_text() == "1\n" and (at["base"] / "index").read_text() == "user"
    assert [each.name for each in kept.iterdir()] == ["index"] and (kept / "index").read_text() == "user"
    assert remove_tree(ground.work) is None
