"""Which directories builds may write besides their tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.sandbox.home import Reach, added_to, caches, defaults, home_of, named

PROJECT = Path("/project")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def found(home: Path, *names: str, write: list[str] | None = None, **environment: str) -> list[str]:
    """Caches of a project, those in the home directory as ~/..."""
    given = {"HOME": str(home), **environment}
    paths = caches(write, frozenset(names), given, PROJECT)
    return [f"~/{each.relative_to(home)}" if each.is_relative_to(home) else str(each) for each in paths]


def test_a_project_shows_its_tools_by_its_files_and_its_commands() -> None:
    names = named(["src/lib.rs", "crates/a/Cargo.toml"], ["npm ci && ./run.sh", "exec /usr/bin/go build"])
    assert {"Cargo.toml", "npm", "go", "run.sh"} <= names
    assert "Cargo" not in names


def test_caches_of_a_tool_are_its_projects_whether_they_exist_or_not(home: Path) -> None:
    assert found(home, "Cargo.toml") == ["~/.cargo/registry", "~/.cargo/git"]
    assert found(home, "build.gradle.kts") == found(home, "gradle") == ["~/.gradle"]
    assert found(home, "README.md") == []


def test_compiler_caches_are_anybodys_where_they_exist(home: Path) -> None:
    (home / ".cache/ccache").mkdir(parents=True)
    assert found(home, "Makefile") == ["~/.cache/ccache"]


def test_a_variable_moves_a_cache_and_the_usual_place_stays_where_it_exists(home: Path) -> None:
    assert found(home, "Cargo.toml", CARGO_HOME="/opt/cargo") == ["/opt/cargo/registry", "/opt/cargo/git"]
    assert found(home, "Cargo.toml", CARGO_HOME="relative") == ["~/.cargo/registry", "~/.cargo/git"]
    (home / ".cargo/git").mkdir(parents=True)
    moved = found(home, "Cargo.toml", CARGO_HOME="/opt/cargo")
    assert moved == ["~/.cargo/git", "/opt/cargo/registry", "/opt/cargo/git"]


def test_the_cache_directory_of_all_tools_can_be_elsewhere(home: Path) -> None:
    assert found(home, "go.mod", XDG_CACHE_HOME="/data/cache") == ["/data/cache/go-build", "~/go/pkg"]
    assert found(home, "go.mod", write=["~/.cache/go-build"], XDG_CACHE_HOME="/data") == ["/data/go-build"]


def test_write_names_all_but_the_compilers_caches(home: Path) -> None:
    write = ["~/.npm", "data/", "../shared", "$STORE/x", "${STORE}"]
    assert found(home, "Cargo.toml", write=write, STORE="/store") == [
        "~/.npm", "/project/data", "/shared", "/store",
    ]  # fmt: skip
    assert found(home, "Cargo.toml", write=[]) == []
    (home / ".cache/ccache").mkdir(parents=True)
    assert found(home, "Cargo.toml", write=[]) == ["~/.cache/ccache"]


def test_a_tools_folder_in_write_stands_for_where_its_variable_says_that_it_is(home: Path) -> None:
    write = ["~/.cargo/registry/", "~/.cargo/git"]
    assert found(home, write=write, CARGO_HOME="/opt/cargo") == ["/opt/cargo/registry", "/opt/cargo/git"]
    assert found(home, write=write) == ["~/.cargo/registry", "~/.cargo/git"]


def test_without_a_home_there_are_the_variables(tmp_path: Path) -> None:
    for home in ("", "relative", "/", str(tmp_path / "absent")):
        assert home_of({"HOME": home}) is None
        given = {"HOME": home, "GOCACHE": "/gocache"}
        assert caches(None, frozenset({"go"}), given, PROJECT) == [Path("/gocache")]
        assert caches(["~/.npm", "$ABSENT/x"], frozenset(), given, PROJECT) == []


def test_what_is_written_into_a_new_file_is_what_would_be_found(home: Path) -> None:
    write = defaults(named((), ["cargo build", "npm ci"]))
    assert found(home, write=write) == found(home, "cargo", "npm") == write
    assert defaults(named((), ["make all"])) == []


def test_what_tools_only_add_to_is_no_product_of_a_build(home: Path) -> None:
    caches = added_to({"HOME": str(home), "GOCACHE": "/fast/go"})
    anywhere, there = Reach(None, caches), Reach((home / "inst", home / ".cargo"), caches)
    kept = [home / ".cargo/registry/x", home / ".cargo/.global-cache", Path("/fast/go/a"), home / ".npm/a"]
    products = [home / ".cargo/bin/x", home / ".m2/repository/x.jar", home / ".npmrc", Path("/fast/gopher")]
    assert [anywhere.holds(str(each)) for each in (*kept, *products)] == [False] * 4 + [True] * 4
    assert [there.holds(str(each)) for each in (*products, home / "inst/app")] == [True, False, False, False, True]
