"""Builds in real trees: which tree, which command, what is recorded and what a failure tells."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pytest

from gate.config.study import SettingTable, Study
from gate.config.types import BuildTable, Perturbation
from gate.model import SIDES, Build, Failure
from gate.writing.units import Duration
from harness.build.builder import TreeBuilder
from harness.build.cache import BuildCache
from harness.build.changed_files import ProjectPlace, hash_artifacts
from harness.build.conditions import Conditions, Recipe
from harness.build.perturb import make_shims
from harness.errors import SourceError
from harness.process.execute import ProcessExecutor, clean_environment
from harness.source.base_and_head import resolve
from harness.source.repository import Hint, checkout_hint, find_repository, no_hint
from harness.source.trees import open_trees
from tests.harness.conftest import Checkout


@contextmanager
def builder_of(
    checkout: Checkout,
    table: BuildTable | None = None,
    *,
    base: BuildTable | None = None,
    caller: Mapping[str, str] = os.environ,
    hint: Hint = no_hint,
    cache: BuildCache | None = None,
    named: tuple[str, ...] = (),
    **options: Any,
) -> Iterator[TreeBuilder]:
    repository = find_repository(checkout.path)
    sources = resolve(repository, base="HEAD", head=None, environment={})
    table = table or BuildTable()
    environment = clean_environment(caller, (), {"FROM_SET": "1"})
    with open_trees(repository, sources, share_paths={"base": (base or table).share, "head": table.share}) as trees:
        conditions = Conditions(
            ProcessExecutor(),
            {"base": Recipe(base or table, environment, named), "head": Recipe(table, environment, named)},
            caller,
            trees.directory / "outputs",
            **options,
        )
        yield TreeBuilder(conditions, trees, 7, hint, cache)


def good(record: Build | Failure) -> Build:
    assert isinstance(record, Build), record
    return record


def bad(record: Build | Failure) -> Failure:
    assert isinstance(record, Failure), record
    return record


def test_without_a_command_each_build_is_a_fresh_checkout(checkout: Checkout) -> None:
    checkout.commit(a="1")
    with builder_of(checkout) as builder:
        seen = []
        for number in range(4):
            for side in reversed(SIDES):
                record = good(builder.build(side, number, 11))
                directory = builder.directory(side)
                assert (record.side, record.build, record.seed, record.artifacts) == (side, number, 11, {})
                assert (record.seconds or 0) > 0
                assert sorted(path.name for path in directory.iterdir()) == ["a"]
                assert (directory / "a").read_text() == "1"
                (directory / ("a" if number == 1 else "dirt")).write_text("x")
                seen.append(directory)
        assert len(set(seen)) == 4, "one path a round, which both sides take by turns"
        assert [directory.exists() for directory in seen] == [False] * 6 + [True] * 2


def test_a_build_sees_what_lays_it_out(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="1")
    shims = tmp_path / "shims"
    make_shims(shims, {"PATH": "/nowhere"}, go=True)
    report = 'echo "${PERFGATE_PADDING-unset}" "${PYTHONHASHSEED-unset}" "${COMPILER_PATH-unset}"; exit 1'

    def told(perturb: list[Perturbation], seed: int) -> list[str]:
        table = BuildTable(command=report, perturb=perturb)
        with builder_of(checkout, table, caller={"PATH": os.environ["PATH"]}, shims=shims) as builder:
            return bad(builder.build("head", 0, seed)).stderr.split()

    assert told([], 5) == ["unset"] * 3
    padding, hash_seed, linkers = told(["environment", "hash-seed", "link-order"], 5)
    assert set(padding) == {"x"}
    assert hash_seed == "5"
    assert linkers == (f"{shims}/linkers" if sys.platform == "linux" else "unset")
    assert told(["environment"], 6)[0] != padding


def test_a_command_builds_in_the_same_tree_and_a_list_without_a_shell(checkout: Checkout) -> None:
    checkout.commit(source="1")
    command = 'echo {seed} $PERFGATE_SEED $PERFGATE_SIDE $PERFGATE_BUILD "${{HOME}}" >> log; cp source app'
    command = command.replace("${{HOME}}", "${FROM_SET}{other}")
    with builder_of(checkout, BuildTable(command=command, artifacts=["app"])) as builder:
        first = good(builder.build("head", 0, 5))
        directory = builder.directory("head")
        second = good(builder.build("head", 1, 6))
        assert builder.directory("head") == directory
        assert (directory / "log").read_text() == "5 5 head 0 1{other}\n6 6 head 1 1{other}\n"
        expected = {"app": "sha256:" + hashlib.sha256(b"1").hexdigest()}
        assert first.artifacts == second.artifacts == expected
        assert first.seconds is not None
        assert first.seconds > 0
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command=["touch", "made {seed} $HOME"])) as builder:
        good(builder.build("base", 0, 5))
        assert (builder.directory("base") / "made 5 $HOME").exists()


def test_setup_runs_once_a_side_and_is_not_counted(
    checkout: Checkout, tmp_path: Path, over_once: Callable[[Path], None]
) -> None:
    checkout.commit(a="1")
    done = tmp_path / "done"
    over_once(done)
    table = BuildTable(setup=f"echo $PERFGATE_SIDE >> set-up; : > {done}", command="cat set-up > seen")
    with builder_of(checkout, table) as builder:
        for number in range(2):
            for side in SIDES:
                seconds = good(builder.build(side, number, 1)).seconds
                assert seconds is not None and seconds < 60, "the minute is over within set-up"
        assert (builder.directory("base") / "seen").read_text() == "base\n"
        assert (builder.directory("head") / "seen").read_text() == "head\n"


def test_the_path_stays_with_set_up_only_and_where_one_side_has_no_command_or_no_path_in_perturb(
    checkout: Checkout,
) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(setup="mkdir -p node_modules/x")) as builder:
        assert good(builder.build("base", 0, 1)).seconds == 0
        directory = builder.directory("base")
        good(builder.build("base", 1, 1))
        assert builder.directory("base") == directory
        assert (directory / "node_modules/x").is_dir()
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(), base=BuildTable(command="touch built")) as builder:
        for number in range(2):
            good(builder.build("base", number, 1))
            good(builder.build("head", number, 1))
            assert (builder.directory("base") / "built").exists()
            assert not (builder.directory("head") / "built").exists()
            assert builder.directory("base") == builder.directory("head")
    checkout.commit(a="1")
    fixed = BuildTable(perturb=["environment"])
    for head, base in ((fixed, BuildTable()), (BuildTable(), fixed)):
        with builder_of(checkout, head, base=base) as builder:
            seen = set()
            for number in range(3):
                good(builder.build("base", number, 1))
                good(builder.build("head", number, 1))
                seen.add((builder.directory("base"), builder.directory("head")))
            ((first, second),) = seen
            assert len(str(first)) == len(str(second))


def test_a_broken_build_tells_how_to_repeat_it(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="1")
    # as go has it, so that it is in no difference
    caller = {"PATH": os.environ["PATH"], "MY_TOKEN": "secret", "GOFLAGS": "-ldflags=-s"}
    table = BuildTable(command="echo {seed}; echo wrong >&2; exit 3")
    shims = tmp_path / "shims"
    make_shims(shims, caller, go=True)
    with builder_of(checkout, table, caller=caller, session=2, shims=shims) as builder:
        failure = bad(builder.build("head", 1, 5))
        assert (failure.kind, failure.side, failure.session, failure.build) == ("build", "head", 2, 1)
        assert failure.status == "exit 3"
        assert failure.stderr == "--- standard output ---\n5\n--- standard error ---\nwrong"
        assert failure.command == "echo 5; echo wrong >&2; exit 3"
        assert failure.directory == str(builder.kept("head"))
        assert failure.environment == {
            "FROM_SET": "1",
            "MY_TOKEN": "",
            "PERFGATE_BUILD": "1",
            "PERFGATE_SEED": "5",
            "PERFGATE_SIDE": "head",
            "PYTHONHASHSEED": "5",
            "SOURCE_DATE_EPOCH": "315619200",
        }


def test_shared_data_reaches_the_build(checkout: Checkout) -> None:
    checkout.commit(_dot_gitignore="data/\n", a="1")
    checkout.write(data__large="1")
    hint = checkout_hint(find_repository(checkout.path))
    with builder_of(checkout, BuildTable(command="cat data/large"), hint=hint) as builder:
        failure = bad(builder.build("head", 0, 5))
        assert failure.hint is not None
        assert failure.hint.startswith('the checkout has only files that git tracks; "data/large" is ignored by git')
    with builder_of(checkout, BuildTable(command="cat data/large", share=["data"])) as builder:
        good(builder.build("head", 0, 5))


def test_what_a_failed_build_says(checkout: Checkout) -> None:
    checkout.commit(a="1")
    unmade = "the build did not make out/app, which [build] artifacts names"
    for table, status, stderr in (
        # where there are no errors standard output is told
        (BuildTable(command="echo x.c:1: no semicolon; exit 1"), "exit 1", "x.c:1: no semicolon"),
        (BuildTable(command="sleep 20", timeout=Duration(0.2)), "time-out after 0.2s", ""),
        (BuildTable(command="true", artifacts=["out/app"]), unmade, ""),
    ):
        with builder_of(checkout, table) as builder:
            failure = bad(builder.build("head", 0, 5))
            assert (failure.status, failure.stderr, failure.command) == (status, stderr, table.command)


def test_a_tree_that_cannot_be_made(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.commit(a="1")
    with builder_of(checkout) as builder:
        with monkeypatch.context() as without_git:
            without_git.setenv("PATH", "/nowhere")
            with pytest.raises(SourceError):
                builder.build("head", 0, 5)
        good(builder.build("head", 0, 5))
        (builder.directory("head") / "a").write_text("2")
        with monkeypatch.context() as without_git:
            without_git.setenv("PATH", "/nowhere")
            assert "git is not on PATH" in bad(builder.build("head", 1, 5)).status


def test_artifacts_are_by_default_what_was_built_and_is_named_or_read(checkout: Checkout) -> None:
    checkout.commit(tracked="1")
    named = ("app", "tracked", "absent", "../outside", "link")
    table = BuildTable(command="echo 1 > app; echo 2 > data; echo $RANDOM > other; ln -sf /etc/hosts link")
    with builder_of(checkout, table, named=named) as builder:
        assert list(good(builder.build("base", 0, 1)).artifacts) == ["app"]
        top = builder.directory("base")
        builder.read("base", {}, [f"{top}/data", f"{top}/tracked", "/etc/hosts"])
        assert list(good(builder.build("base", 1, 1)).artifacts) == ["app", "data"]
        # a benchmark may write anew what nobody has named
        (top / "data").write_text("3")
        assert builder.changed(1, executed=True) == []


def test_artifacts_are_hashed_by_content(tmp_path: Path) -> None:
    def tree(name: str, content: str) -> str:
        folder = tmp_path / name / "out/deep"
        folder.mkdir(parents=True)
        (folder / "b").write_text(content)
        (folder.parent / "a").write_text("1")
        (folder.parent / "link").symlink_to("a")
        (folder.parent / "linked").symlink_to("deep")
        os.mkfifo(folder / "pipe")
        return hash_artifacts(ProjectPlace(tmp_path / name, PurePosixPath(), tmp_path / name), ["out/"])["out/"]

    assert tree("x", "same") == tree("y", "same")
    assert tree("z", "other") != tree("v", "same")


# --- variants -------------------------------------------------------------------------------------------------------

STUDY = Study(
    factor={"opt": {"O2": SettingTable(build_env={"CFLAGS": "-O2"}), "O3": SettingTable(value="3 x")}, "load": [1, 8]}
)
O2, O3 = {"opt": "O2"}, {"opt": "O3"}


def test_each_setting_that_builds_depend_on_has_a_tree_of_its_own(checkout: Checkout) -> None:
    checkout.commit(a="1")
    command = 'echo {seed} {opt} "$CFLAGS" $PERFGATE_FACTOR_OPT $FROM_SET >> log'
    with builder_of(checkout, BuildTable(command=command), study=STUDY) as builder:
        for number, seed in ((0, 5), (1, 6)):
            for factors in (O2, O3):
                for side in SIDES:
                    record = good(builder.build(side, number, seed, factors))
                    assert (record.side, record.build, record.seed, record.factors) == (side, number, seed, factors)
        directories = {builder.directory(side, factors) for factors in (O2, O3) for side in SIDES}
        assert len(directories) == 2
        assert len({len(str(directory)) for directory in directories}) == 1
        logs = [(builder.directory(side, factors) / "log").read_text() for factors in (O2, O3) for side in SIDES]
        assert logs == ["5 O2 -O2 O2 1\n6 O2 -O2 O2 1\n"] * 2 + ["5 3 x  3 x 1\n6 3 x  3 x 1\n"] * 2


def test_without_settings_of_builds_the_tree_is_where_it_was_and_fresh_checkouts_have_paths_of_one_length(
    checkout: Checkout,
) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command="true"), study=STUDY) as builder:
        assert good(builder.build("head", 0, 1, {})).factors == {}
        # the work directory is outside of the checkout, and the tree right in it
        assert re.fullmatch(r"perfgate-[0-9a-f]{8}", builder.directory("head").parent.name)
    checkout.commit(a="1")
    with builder_of(checkout, study=STUDY) as builder:
        seen = set()
        for number in range(3):
            for factors in (O2, O3):
                for side in SIDES:
                    good(builder.build(side, number, 1, factors))
            directories = {builder.directory(side, factors) for factors in (O2, O3) for side in SIDES}
            assert all(directory.is_dir() for directory in directories)
            assert len({len(str(directory)) for directory in directories}) == 1
            seen |= directories
        assert len(seen) == 6


def test_each_tree_is_set_up_and_a_set_up_that_failed_is_of_its_tree_and_not_tried_again(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.commit(a="1")
    table = BuildTable(setup=f"echo ran >> '{tmp_path}/ran'; exit 7", command="true", git="off")
    with builder_of(checkout, table) as builder:
        first, second = bad(builder.build("head", 0, 5)), bad(builder.build("head", 1, 6))
        assert (first.kind, first.status, first.build, second.build) == ("setup", "set-up: exit 7", 0, 1)
        assert second.command == table.setup
        assert (tmp_path / "ran").read_text() == "ran\n"
    checkout.commit(a="1")
    table = BuildTable(setup='echo "$CFLAGS" >> set-up; test -z "$CFLAGS"', command="true", git="off")
    with builder_of(checkout, table, study=STUDY) as builder:
        failure = bad(builder.build("head", 0, 1, O2))
        assert (failure.status, failure.factors) == ("set-up: exit 1", O2)
        assert bad(builder.build("head", 1, 1, O2)).build == 1
        for number in range(2):
            good(builder.build("head", number, 1, O3))
        assert (builder.directory("head", O2) / "set-up").read_text() == "-O2\n"
        assert (builder.directory("head", O3) / "set-up").read_text() == "\n"


def test_a_broken_variant_tells_its_settings(checkout: Checkout) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command="echo {opt}; exit 3"), study=STUDY) as builder:
        failure = bad(builder.build("base", 1, 5, O3))
        assert (failure.side, failure.build, failure.factors) == ("base", 1, O3)
        assert (failure.command, failure.stderr) == ("echo '3 x'; exit 3", "3 x")
        assert failure.environment is not None
        assert failure.environment["PERFGATE_FACTOR_OPT"] == "3 x"
        assert failure.directory == str(builder.kept("base", O3))


# --- a .git for builds that need one ----------------------------------------------------------------------------------

STAMP = 'echo x >> "$RAN"; git describe --tags > stamp && git status --porcelain --untracked-files=no >> stamp'


def stamped(checkout: Checkout, ran: Path, **options: Any) -> Iterator[tuple[TreeBuilder, Build | Failure]]:
    table = BuildTable(command=STAMP, **options)
    with builder_of(checkout, table, caller={**os.environ, "RAN": str(ran)}) as builder:
        yield builder, builder.build("head", 0, 5)


def test_a_build_that_fails_without_git_gets_one_that_nothing_comes_back_from(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.commit(a="1", _dot_gitignore="stamp\n")
    checkout.git("tag", "-a", "v1", "-m", "one")
    checkout.git("tag", "plain")
    sha = checkout.commit(a="2")
    refs = checkout.git("for-each-ref")
    ran = tmp_path / "ran"
    for builder, made in stamped(checkout, ran):
        assert good(made).needs_git
        assert ran.read_text() == "x\n" * 2
        tree = builder.directory("head")
        assert (tree / "stamp").read_text() == f"v1-1-g{sha[:7]}\n"
        assert good(builder.build("head", 1, 6)).needs_git
        assert ran.read_text() == "x\n" * 3
        (tree / "a").write_text("measured")
        for arguments in (("commit", "-q", "-am", "x"), ("tag", "own"), ("config", "user.name", "x"), ("gc", "-q")):
            subprocess.run(["git", *arguments], cwd=tree, check=True)
    assert checkout.git("for-each-ref") == refs
    assert "user.name" not in checkout.git("config", "--local", "--list")
    assert (checkout.path / "a").read_text() == "2"


def test_builds_without_need_of_git_see_none_and_what_fails_for_want_of_it_is_told_the_key(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.commit(a="1")
    with builder_of(checkout, BuildTable(command="true")) as builder:
        assert not good(builder.build("head", 0, 5)).needs_git
        assert not (builder.directory("head") / ".git").exists()
        # only a first build is tried with one
    with builder_of(checkout, BuildTable(command="test ! -e failed || exit 3; touch failed")) as builder:
        good(builder.build("head", 0, 5))
        assert bad(builder.build("head", 1, 5)).status == "exit 3"
        assert not (builder.directory("head") / ".git").exists()
    checkout.commit(a="1")
    hint = checkout_hint(find_repository(checkout.path))
    with builder_of(checkout, BuildTable(command="git describe", git="off"), hint=hint) as builder:
        advice = 'the tree that is built and measured has no .git: set git = "on" under [build]'
        assert bad(builder.build("head", 0, 5)).hint == advice


def test_a_build_that_fails_with_git_too_is_tried_once_more(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="1")
    ran = tmp_path / "ran"
    for builder, made in stamped(checkout, ran):  # there is no tag to describe
        assert "No names found" in bad(made).stderr
        bad(builder.build("head", 1, 5))
        assert ran.read_text() == "x\n" * 3


@pytest.mark.parametrize("wanted", ["on", "off"])
def test_git_as_configured(checkout: Checkout, tmp_path: Path, wanted: Literal["on", "off"]) -> None:
    checkout.commit(a="1")
    checkout.git("tag", "v1")
    ran = tmp_path / "ran"
    for _, made in stamped(checkout, ran, git=wanted):
        assert ran.read_text() == "x\n"
        if wanted == "on":
            assert not good(made).needs_git
        else:
            assert bad(made).hint is None
