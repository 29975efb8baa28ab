"""First builds are kept for runs that measure the same again, and only for those: real compilers and real builds."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import BuildTable
from gate.model import Build
from gate.model.records import WhyNotRelinked
from harness.build import builder as building
from harness.build import cache
from harness.build.builder import TreeBuilder
from harness.build.cache import BuildCache, directory_of, name_of
from harness.build.perturb import make_shims
from tests.harness.build.test_builder import builder_of, good
from tests.harness.conftest import Checkout
from tests.support.project import executable

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(sys.platform != "linux", reason="first builds are kept on Linux only"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was linked)"),
]


@pytest.fixture(autouse=True)
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    # the programs of tests are compiled in less than what is worth keeping
    monkeypatch.setattr(building, "_WORTH", 0.0)


@pytest.fixture
def project(checkout: Checkout) -> Checkout:
    for name in "abcd":
        checkout.file(f"{name}.c", f"int {name}(int x) {{ return x + {ord(name)}; }}\n")
    checkout.file("main.c", "int a(int), b(int), c(int), d(int);\nint main(void) { return a(b(c(d(0)))) != 394; }\n")
    objects = "main.o a.o b.o c.o d.o"
    checkout.file("Makefile", f"app: {objects}\n\tgcc -o $@ $^\nclean:\n\trm -f *.o app\n")
    checkout.commit()
    return checkout


@contextmanager
def opened(checkout: Checkout, tmp_path: Path, **changes: Any) -> Iterator[TreeBuilder]:
    shims = tmp_path / f"shims-{len(list(tmp_path.glob('shims-*')))}"
    make_shims(shims, {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, go=False)
    table = BuildTable(
        **{"command": f"echo x >> {tmp_path}/ran; make clean app", "artifacts": ["app"], **changes.pop("table", {})}
    )
    with builder_of(checkout, table, shims=shims, cache=BuildCache(tmp_path / "builds"), **changes) as builder:
        yield builder


def built(checkout: Checkout, tmp_path: Path, seed: int = 1, **changes: Any) -> Build:
    with opened(checkout, tmp_path, **changes) as builder:
        return good(builder.build("head", 0, seed))


def ran(tmp_path: Path) -> int:
    return len((tmp_path / "ran").read_text().splitlines())


def test_what_is_measured_again_is_not_compiled_again(project: Checkout, tmp_path: Path) -> None:
    first = built(project, tmp_path)
    assert (first.cached, first.relinked, first.full) == (False, False, None)
    with opened(project, tmp_path) as builder:
        again = [good(builder.build("head", number, seed)) for number, seed in enumerate((1, 2, 3, 1))]
        base = good(builder.build("base", 0, 1))
        known = builder.known("head")
    # what it took to make it is kept with it
    assert known is not None and known.seconds == pytest.approx(
        (first.setup or 0) + (first.seconds or 0) + (first.checked or 0)
    )
    assert [each.cached for each in again] == [True, False, False, False]
    assert all(each.relinked for each in again)
    # layouts are drawn anew, and a seed gives what it gave in the first run
    assert again[0].artifacts == again[3].artifacts == first.artifacts
    assert len({each.artifacts["app"] for each in again}) > 1
    assert base.cached and base.artifacts == first.artifacts
    assert ran(tmp_path) == 1


def test_another_configuration_with_the_same_build_compiles_nothing(project: Checkout, tmp_path: Path) -> None:
    # init writes it anew after each attempt, and a threshold that is edited changes no program
    first = built(project, tmp_path)
    for text in ("# one\n", "# two\n"):
        project.file("perfgate.toml", text)
        project.commit()
        with opened(project, tmp_path) as builder:
            again = good(builder.build("head", 0, 1))
            # the tree is the commit's, or nothing would be taken
            assert (builder.directory("head") / "perfgate.toml").read_text() == text
        assert (again.cached, again.artifacts) == (True, first.artifacts)
    project.git("rm", "-q", "perfgate.toml")
    project.commit()
    assert built(project, tmp_path).cached
    assert ran(tmp_path) == 1


def test_what_was_kept_of_one_side_is_linked_again_on_the_other(project: Checkout, tmp_path: Path) -> None:
    # the compiler removes its objects: the links of later runs read those of the record
    table = {"command": f"echo x >> {tmp_path}/ran; gcc *.c -o app"}
    first = built(project, tmp_path, table=table)
    with opened(project, tmp_path, table=table) as builder:
        made = [good(builder.build("base", number, seed)) for number, seed in enumerate((1, 2))]
    assert [(each.relinked, each.full) for each in made] == [(True, None)] * 2
    assert made[0].artifacts == first.artifacts != made[1].artifacts
    assert ran(tmp_path) == 1


def test_a_thin_archive_finds_its_members_again(project: Checkout, tmp_path: Path) -> None:
    # as meson makes them
    table = {"command": "make -s clean main.o a.o b.o c.o d.o; ar rcsT lib.a [a-d].o; gcc -o app main.o lib.a"}
    first, again = (built(project, tmp_path, table=table) for _ in range(2))
    assert (again.cached, again.relinked, again.full) == (True, True, None)
    assert again.artifacts == first.artifacts


def test_a_kept_build_that_cannot_be_linked_again_says_why(project: Checkout, tmp_path: Path) -> None:
    table = {"command": f"echo x >> {tmp_path}/ran; gcc *.c -o app"}
    built(project, tmp_path, table=table)
    for kept in (tmp_path / "builds").glob("*/links/*/[0-9]*"):
        kept.unlink()
    again = built(project, tmp_path, table=table)
    assert (again.cached, again.relinked, again.full) == (True, False, WhyNotRelinked(kind="failed", path="app"))
    assert ran(tmp_path) == 2


def test_what_may_have_another_result_is_built(
    project: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change comes to those before it."""
    tools = executable(tmp_path / "tools/rustc").parent
    caller = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    changes: dict[str, Any] = {"caller": caller}

    def is_built(what: str) -> None:
        before = ran(tmp_path) if (tmp_path / "ran").exists() else 0
        assert not built(project, tmp_path, **changes).cached, what
        assert ran(tmp_path) == before + 1, what

    is_built("nothing was kept")
    project.commit(**{"a.c": "int a(int x) { return x + 97 + 0; }\n"})
    is_built("source")
    project.commit(notes="x")
    is_built("data")
    (project.path / "Makefile").chmod(0o755)
    project.commit()
    is_built("mode")
    changes["caller"] = {**caller, "CFLAGS": "-O1"}
    is_built("environment")
    (tools / "rustc").write_text("#!/bin/sh\n# another\n")
    is_built("tool")
    for table in ({"command": f"echo x >> {tmp_path}/ran; make  clean app"}, {"cache": "off"}, {"git": "on"}):
        changes["table"] = table
        is_built(str(table))
    changes["table"] = {"share": ["data"]}
    project.write(data="x")
    is_built("share")
    (project.path / "data").unlink()
    del changes["table"]
    other = tmp_path / "elsewhere"
    other.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(other))
    is_built("place")


def test_a_damaged_entry_is_as_if_it_were_not_there(project: Checkout, tmp_path: Path) -> None:
    first = built(project, tmp_path)
    for number, damage in enumerate(("tree", "about.json", "links"), 2):
        (entry,) = (tmp_path / "builds").iterdir()
        if (entry / damage).is_dir():
            shutil.rmtree(entry / damage)
        else:
            (entry / damage).write_text("x")
        assert built(project, tmp_path).artifacts == first.artifacts
        assert ran(tmp_path) == number


def test_what_is_kept_is_bounded_and_the_oldest_go_first(
    project: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(project, tmp_path)
    (entry,) = (tmp_path / "builds").iterdir()
    size = sum(path.lstat().st_blocks * 512 for path in entry.rglob("*") if path.is_file())
    monkeypatch.setattr(cache, "MOST", int(size * 2.5))
    project.commit(one="1")
    built(project, tmp_path)
    os.utime(entry, (1, 1))
    project.commit(two="2")
    built(project, tmp_path)
    assert len(list((tmp_path / "builds").iterdir())) == 2
    assert not entry.exists()
    project.commit(three="3")
    monkeypatch.setattr(cache, "MOST", size)
    built(project, tmp_path)
    assert len(list((tmp_path / "builds").iterdir())) == 2, "a tree larger than half of it is not kept"


def test_a_kept_build_is_changed_neither_by_runs_nor_by_a_terminal_and_one_that_failed_is_not_kept(
    project: Checkout, tmp_path: Path
) -> None:
    with opened(project, tmp_path, table={"command": "make app; exit 1"}) as builder:
        builder.build("head", 0, 1)
    assert not (tmp_path / "builds").exists()
    first = built(project, tmp_path)
    with opened(project, tmp_path) as builder:
        good(builder.build("head", 0, 1))
        for path in builder.directory("head").iterdir():
            path.write_text("measured code writes everywhere")
    assert built(project, tmp_path).artifacts == first.artifacts
    # a terminal is no matter
    built(project, tmp_path, caller={**os.environ, "TERM": "xterm", "SSH_CLIENT": "1"})
    assert built(project, tmp_path, caller={**os.environ, "TERM": "dumb", "COLUMNS": "80"}).cached


def test_where_builds_are_kept() -> None:
    assert directory_of({"HOME": "/home/x"}) == Path("/home/x/.cache/perfgate/builds")
    assert directory_of({"HOME": "/home/x", "XDG_CACHE_HOME": "/c"}) == Path("/c/perfgate/builds")
    assert directory_of({"HOME": "/home/x", "XDG_CACHE_HOME": "c"}) == Path("/home/x/.cache/perfgate/builds")
    assert directory_of({}) is None


def test_what_was_built_in_a_sandbox_or_with_other_settings_of_the_user_is_another_entry(tmp_path: Path) -> None:
    def key(**sandboxed: str) -> str:
        return name_of("1", BuildTable(), {"HOME": str(tmp_path)}, tmp_path / "tree", sandboxed)

    assert key(HOME="/work/home") not in (key(), key(HOME="/other/home"))
    assert key(HOME="/work/home") == key(HOME="/work/home")
    for name in (".cargo/config.toml", ".config/go/env", ".gitconfig", ".npmrc", ".rustup/update-hashes/stable"):
        before = key()
        assert key() == before
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
        assert key() != before, name
