"""Tracked files that builds and benchmarks change: whose change is excused, and what the failure of another one says."""

from pathlib import Path, PurePosixPath

import msgspec
import pytest

from gate.config.study import SettingTable, Study
from gate.config.types import BuildTable
from gate.model import SIDES, Build, Failure
from harness.build import builder as building
from harness.build.cache import BuildCache
from harness.build.changed_files import DeclaredChanges, Watch, named
from tests.harness.build.test_builder import bad, builder_of, good
from tests.harness.conftest import Checkout


@pytest.mark.parametrize(
    ("pattern", "covered", "others"),
    [
        ("Cargo.lock", ["p/Cargo.lock"], ["Cargo.lock", "p/a/Cargo.lock", "p/Cargo.lock2"]),
        ("src/gen/", ["p/src/gen/a.c", "p/src/gen/b/c.h"], ["p/src/generated", "src/gen/a.c"]),
        ("./src/../src/gen", ["p/src/gen/a.c"], ["p/src/a.c"]),
        ("../Cargo.lock", ["Cargo.lock"], ["p/Cargo.lock"]),
        ("../../outside", [], ["outside"]),
        ("src/*.c", ["p/src/a.c"], ["p/src/a/b.c", "p/src/a.h"]),
        ("**/*.lock", ["p/a.lock", "p/b/c/d.lock"], ["a.lock", "p/a.locked"]),
        ("**", ["p/a", "p/b/c"], ["a"]),
    ],
)
def test_what_a_pattern_covers(pattern: str, covered: list[str], others: list[str]) -> None:
    for table in (BuildTable(changes=["x", pattern]), BuildTable(artifacts=[pattern])):
        declared = DeclaredChanges(table, PurePosixPath("p"))
        assert [path for path in [*covered, *others] if path in declared] == covered


@pytest.mark.parametrize(
    ("paths", "proposed"),
    [
        (["p/Cargo.lock", "p/a/b"], '["old", "Cargo.lock", "a/b"]'),
        (["Cargo.lock"], '["old", "../Cargo.lock"]'),
        (["p/a[1].c", "p/\udcff"], '["old", "a[[]1].c", "?"]'),
        ([f"p/{name}" for name in "abcde"], '["old", "a", "b", "c", "d", "e"]'),
    ],
)
def test_the_line_that_is_proposed_covers_what_changed(paths: list[str], proposed: str) -> None:
    declared = DeclaredChanges(BuildTable(changes=["old"]), PurePosixPath("p"))
    assert f"`changes = {proposed}`" in declared.hint("head", paths)
    added = DeclaredChanges(BuildTable(changes=msgspec.json.decode(proposed)), PurePosixPath("p"))
    assert all(path in added for path in paths)
    assert "default branch" in declared.hint("base", paths)


def test_many_paths_are_counted() -> None:
    assert named(list("abc")) == "a, b, c"
    assert named(["\udcff\n"]) == "\\xff\\n"
    assert named([f"f{n}" for n in range(1200)]) == "f0, f1, f2, f3, f4 and 1,195 more"


REWRITES = "cp source app; echo $PERFGATE_SEED > lock"


def test_a_build_that_rewrites_a_tracked_file_fails_unless_its_side_declares_that(checkout: Checkout) -> None:
    checkout.commit(source="1", lock="0")
    with builder_of(checkout, BuildTable(command=REWRITES)) as builder:
        failure = bad(builder.build("head", 2, 5))
        assert (failure.kind, failure.side, failure.build) == ("tree", "head", 2)
        assert failure.status == "lock, by the build of head in round 3"
        assert '`changes = ["lock"]`' in (failure.hint or "")
        assert builder.changed(2, executed=False) == []
    for table in (BuildTable(command=REWRITES, changes=["lo*"]), BuildTable(command=REWRITES, artifacts=["lock"])):
        with builder_of(checkout, table) as builder:
            for number in range(2):
                for side in SIDES:
                    good(builder.build(side, number, number))
                    assert builder.changed(number, executed=True) == []
    checkout.commit(source="1", lock="0")
    declaring = BuildTable(command=REWRITES, changes=["lock"])
    with builder_of(checkout, declaring, base=BuildTable(command=REWRITES)) as builder:
        good(builder.build("head", 0, 5))
        assert bad(builder.build("base", 0, 5)).side == "base"


INTO_BASE = 'if [ $PERFGATE_SIDE = head ]; then for t in ../base/tree ../../base/tree; do [ ! -d $t ] || echo slow >> $t/@; done; fi; cp source app'  # fmt: skip


@pytest.mark.endtoend
@pytest.mark.parametrize(
    ("table", "file", "fails"),
    [
        (BuildTable(), "source", False),
        (BuildTable(), "source", True),
        # the declaration is for base's own builds: what head's build makes of base's file is no less false
        (BuildTable(changes=["source"]), "source", False),
        (BuildTable(artifacts=["app"], changes=["app"]), "app", True),
    ],
)
def test_a_build_that_writes_into_the_tree_of_the_other_side(
    checkout: Checkout, table: BuildTable, file: str, fails: bool
) -> None:
    checkout.commit(source="1")
    command = INTO_BASE.replace("@", file) + ("; [ $PERFGATE_SIDE = base ]" if fails else "")
    with builder_of(checkout, msgspec.structs.replace(table, command=command)) as builder:
        good(builder.build("base", 0, 5))
        assert builder.changed(0, executed=False) == []
        made = builder.build("head", 0, 5)
        assert bad(made).kind == "build" if fails else good(made)
        (failure,) = builder.changed(0, executed=False)
        assert (failure.kind, failure.side, failure.status) == (
            "tree",
            "base",
            f"{file}, by the build of head in round 1",
        )
        assert "head" in (failure.hint or "")
        assert "changes =" not in (failure.hint or "")
        assert builder.changed(0, executed=True) == [], "reported once"


def test_benchmarks_that_write_to_a_tree_and_where_nothing_ran(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.commit(source="1", results="0")
    # without a command each build is a fresh checkout
    with builder_of(checkout, BuildTable(changes=["results"])) as builder:
        for number in range(2):
            for side in SIDES:
                good(builder.build(side, number, 5))
            (builder.directory("head") / "results").write_text("1")
            assert builder.changed(number, executed=True) == []
            (builder.directory("base") / "source").write_text("2")
            assert builder.changed(number, executed=False) == [], "nothing ran"
            (failure,) = builder.changed(number, executed=True)
            assert failure.status == f"source, by starts of round {number + 1}"
            assert (failure.side, failure.build) == ("base", number)
    # nothing is looked at where nothing ran
    checkout.commit(source="1")
    monkeypatch.setattr(Watch, "unlike", None)
    with builder_of(checkout, BuildTable()) as builder:
        good(builder.build("head", 0, 5))
        good(builder.build("base", 0, 5))
        assert builder.changed(0, executed=False) == []


@pytest.mark.parametrize("artifact", ["app", "out/"])
def test_what_was_built_is_what_is_measured(checkout: Checkout, artifact: str) -> None:
    checkout.commit(p__source="1", p__perfgate_dot_toml="")
    command = "mkdir -p out; cp source app; cp source out/a; ln -sf a out/link; echo $PERFGATE_SEED > out/b"
    project = checkout.path / "p"
    for changes in ([], [artifact]):
        table = BuildTable(command=command, artifacts=[artifact], changes=changes)
        with builder_of(Checkout(project), table) as builder:
            for number in range(2):
                for side in SIDES:
                    good(builder.build(side, number, number))
                assert builder.changed(number, executed=True) == []
            head = builder.directory("head")
            (head / "app").touch()
            (head / "out/a").touch()
            (head / "new").touch()
            assert builder.changed(1, executed=True) == []
            for name in ("app", "out/a"):
                (head / name).write_text("2")
            found = [(each.side, each.status) for each in builder.changed(1, executed=True)]
            name = artifact.rstrip("/")
            assert found == ([] if changes else [("head", f"p/{name}, by starts of round 2")])
            # the next build makes it anew
            good(builder.build("head", 2, 2))
            assert builder.changed(2, executed=True) == []


def test_a_tree_of_other_settings(checkout: Checkout) -> None:
    checkout.commit(source="1")
    levels = {name: SettingTable(build_env={"LEVEL": name}) for name in ("low", "high")}
    study = Study(factor={"level": levels})
    table = BuildTable(command='[ "$LEVEL" = low ] || echo 2 > source')
    with builder_of(checkout, table, study=study) as builder:
        good(builder.build("head", 0, 5, {"level": "low"}))
        failure = bad(builder.build("head", 0, 5, {"level": "high"}))
        assert (failure.kind, failure.factors) == ("tree", {"level": "high"})
        (builder.directory("head", {"level": "low"}) / "source").write_text("3")
        assert [each.factors for each in builder.changed(0, executed=True)] == [{"level": "low"}]


@pytest.mark.endtoend
def test_a_build_that_is_kept(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_WORTH", 0.0)
    checkout.commit(source="1", lock="0")
    cache = BuildCache(tmp_path / "builds")

    def made(table: BuildTable) -> Build | Failure:
        with builder_of(checkout, table, cache=cache) as builder:
            return builder.build("head", 0, 5)

    table = BuildTable(command="cp source app")
    assert not good(made(table)).cached
    assert good(made(table)).cached
    (entry,) = (tmp_path / "builds").iterdir()
    (entry / "tree/source").write_text("2")
    # it is of no use to anybody: built anew, and kept again
    assert not good(made(table)).cached
    assert (entry / "tree/source").read_text() == "1"
    assert good(made(table)).cached
    # what may be changed may be kept changed; what may not is not kept
    declaring = BuildTable(command=REWRITES, changes=["lock"])
    assert not good(made(declaring)).cached
    assert good(made(declaring)).cached
    kept = sorted((tmp_path / "builds").iterdir())
    assert bad(made(BuildTable(command=REWRITES))).kind == "tree"
    assert sorted((tmp_path / "builds").iterdir()) == kept
