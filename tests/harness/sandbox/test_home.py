"""A side's own home directory: links to the user's, caches, and no secrets; which directories builds may write besides."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.sandbox import home as module
from harness.sandbox.home import Copied, Home, Reach, added_to, caches, defaults, home_of, make_home, named, overlaps


@pytest.fixture
def real(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    for name in (".gitconfig", ".cargo/bin/cargo", ".cargo/registry/index", ".ssh/id", ".aws/credentials",
                 ".config/gh/hosts.yml", ".config/git/config", ".local/bin/tool", ".cache/other/file"):  # fmt: skip
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return made


def made(real: Path, given_caches: Mapping[Path, Path | Copied] | None = None, **environment: str) -> Home:
    given = {"HOME": str(real), **environment}
    work = real.parent / "work"
    home = make_home(work / "home-base", work / "home", given, given_caches or {})
    for to, source in home.copied.items():
        module.copy(source, home.path / to)
    return home


def test_settings_and_toolchains_are_linked_and_what_is_secret_or_new_is_not_shared(real: Path) -> None:
    home = made(real)
    assert (home.path / ".gitconfig").read_text() == ".gitconfig"
    assert (home.path / ".local/bin/tool").is_file() and (home.path / ".config/git/config").is_file()
    assert not (home.path / ".aws").exists() and not (home.path / ".config/gh").exists()
    assert home.environment == {"HOME": str(real.parent / "work/home"), "TMPDIR": str(real.parent / "work/home/.tmp")}
    assert (home.path / ".tmp").is_dir()
    for name in (".new", ".config/new", ".cache/new", ".local/share/new"):
        path = home.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        assert not (real / name).exists()


def test_a_cache_is_linked_and_its_neighbours_are_the_users(real: Path) -> None:
    registry = real / ".cargo/registry"
    home = made(real, {registry: registry})
    assert (home.path / ".cargo/registry").resolve() == registry
    assert (home.path / ".cargo/bin/cargo").is_file() and not (home.path / ".cargo").is_symlink()
    (home.path / ".cargo/.package-cache").touch()
    assert not (real / ".cargo/.package-cache").exists()


def test_a_proposals_cache_is_a_copy(real: Path) -> None:
    home = made(real, {each: Copied(each) for each in (real / ".cargo/registry", real / ".m2/repository")})
    assert (home.path / ".m2/repository").is_dir() and not (real / ".m2").exists(), "it is not there yet"
    (home.path / ".cargo/registry/index").write_text("poison")
    assert (real / ".cargo/registry/index").read_text() == ".cargo/registry/index"


def test_a_cache_that_is_large_or_would_fill_the_disk_begins_empty(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (real / ".cargo/registry/large").write_bytes(b"x" * 100_000)
    most = module.LARGEST
    for largest, free, expected in ((most, 300_000, []), (10, 10**9, []), (most, 10**9, ["index", "large"])):
        monkeypatch.setattr(module, "LARGEST", largest)
        monkeypatch.setattr("shutil.disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        to = real.parent / f"copy-{largest}-{free}"
        module.copy(real / ".cargo/registry", to)
        assert sorted(each.name for each in to.iterdir()) == expected


def test_nothing_is_written_through_a_link_to_where_caches_are(real: Path, tmp_path: Path) -> None:
    (real / ".cache").rename(tmp_path / "data")
    (real / ".cache").symlink_to(tmp_path / "data")
    (real / ".local/loop").symlink_to("loop")
    cache = real / ".cache/go-build"
    home = made(real, {cache: Copied(cache)})
    (home.path / ".cache/go-build/x").touch()
    assert [each.name for each in (tmp_path / "data").iterdir()] == ["other"]
    assert (home.path / ".cache/other/file").is_file() and (home.path / ".config/git/config").is_file()


def test_a_cache_in_a_secret_place_is_none(real: Path) -> None:
    (real / ".aws/cache").mkdir(parents=True, exist_ok=True)
    (real / "cache").symlink_to(real / ".aws")
    secret = [real / ".aws"]
    assert all(overlaps(each, secret) for each in (real / ".aws/cache", real, real / "cache"))
    assert not overlaps(real / ".npm", secret)


def test_variables_that_name_places_name_them_in_the_new_home_where_tools_can_write(real: Path) -> None:
    home = made(real, CARGO_HOME=str(real / ".cargo"), XDG_CACHE_HOME=str(real / ".cache"), GOCACHE="off")
    work = str(real.parent / "work/home")
    assert home.environment["CARGO_HOME"] == f"{work}/.cargo"
    assert home.environment["XDG_CACHE_HOME"] == f"{work}/.cache"
    assert "GOCACHE" not in home.environment


def test_a_cache_elsewhere_gets_a_place_of_its_own(real: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "cargo"
    (elsewhere / "bin").mkdir(parents=True)
    (elsewhere / "registry").mkdir()
    (elsewhere / "registry/index").write_text("1")
    home = made(real, {elsewhere / "registry": Copied(elsewhere / "registry")}, CARGO_HOME=str(elsewhere))
    place = home.path / Path(home.environment["CARGO_HOME"]).relative_to(real.parent / "work/home")
    assert (place / "bin").resolve() == elsewhere / "bin"
    (place / "registry/index").write_text("2")
    assert (elsewhere / "registry/index").read_text() == "1"
    # one that stays for the next run is written where it is
    assert "CARGO_HOME" not in make_home(
        tmp_path / "second", tmp_path / "second", {"HOME": str(real), "CARGO_HOME": str(elsewhere)},
        {elsewhere / "registry": elsewhere / "registry"},
    ).environment  # fmt: skip


def test_tools_can_write_where_a_variable_sends_all_of_them(real: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "tool").mkdir(parents=True)
    home = made(real, XDG_CACHE_HOME=str(data))
    place = home.path / Path(home.environment["XDG_CACHE_HOME"]).relative_to(real.parent / "work/home")
    (place / "new").mkdir()
    assert (place / "tool").resolve() == data / "tool" and not (data / "new").exists()


def test_without_a_home_there_is_an_empty_one(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", tmp_path / "home", {}, {})
    assert [each.name for each in home.path.iterdir()] == [".tmp"]


# --- what builds may write besides their tree --------------------------------------------------------------------------

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


def test_what_is_written_into_a_new_file_is_what_the_projects_files_and_commands_show(home: Path) -> None:
    names = named(["src/lib.rs", "crates/a/Cargo.toml"], ["npm ci && ./run.sh", "exec /usr/bin/go build"])
    assert {"Cargo.toml", "npm", "go", "run.sh"} <= names
    assert "Cargo" not in names
    write = defaults(named((), ["cargo build", "npm ci"]))
    assert found(home, write=write) == found(home, "cargo", "npm") == write
    assert defaults(named((), ["make all"])) == []


def test_caches_of_a_tool_are_its_projects_and_a_variable_moves_them(home: Path) -> None:
    assert found(home, "Cargo.toml") == ["~/.cargo/registry", "~/.cargo/git"]
    assert found(home, "build.gradle.kts") == found(home, "gradle") == ["~/.gradle"]
    assert found(home, "README.md") == []
    assert found(home, "go.mod", XDG_CACHE_HOME="/data/cache") == ["/data/cache/go-build", "~/go/pkg"]
    assert found(home, "go.mod", write=["~/.cache/go-build"], XDG_CACHE_HOME="/data") == ["/data/go-build"]
    assert found(home, "Cargo.toml", CARGO_HOME="/opt/cargo") == ["/opt/cargo/registry", "/opt/cargo/git"]
    assert found(home, "Cargo.toml", CARGO_HOME="relative") == ["~/.cargo/registry", "~/.cargo/git"]
    (home / ".cargo/git").mkdir(parents=True)
    moved = found(home, "Cargo.toml", CARGO_HOME="/opt/cargo")
    assert moved == ["~/.cargo/git", "/opt/cargo/registry", "/opt/cargo/git"]


def test_write_names_all_but_the_compilers_caches(home: Path) -> None:
    write = ["~/.cargo/registry/", "~/.cargo/git"]
    assert found(home, write=write, CARGO_HOME="/opt/cargo") == ["/opt/cargo/registry", "/opt/cargo/git"]
    assert found(home, write=write) == ["~/.cargo/registry", "~/.cargo/git"]
    assert found(home, "Cargo.toml", write=[]) == []
    # compilers' caches are anybody's where they exist
    (home / ".cache/ccache").mkdir(parents=True)
    assert found(home, "Makefile") == ["~/.cache/ccache"]
    write = ["~/.npm", "data/", "../shared", "$STORE/x", "${STORE}"]
    assert found(home, "Cargo.toml", write=write, STORE="/store") == [
        "~/.npm", "/project/data", "/shared", "/store", "~/.cache/ccache",
    ]  # fmt: skip
    assert found(home, "Cargo.toml", write=[]) == ["~/.cache/ccache"]


def test_without_a_home_there_are_the_variables(tmp_path: Path) -> None:
    for home in ("", "relative", "/", str(tmp_path / "absent")):
        assert home_of({"HOME": home}) is None
        given = {"HOME": home, "GOCACHE": "/gocache"}
        assert caches(None, frozenset({"go"}), given, PROJECT) == [Path("/gocache")]
        assert caches(["~/.npm", "$ABSENT/x"], frozenset(), given, PROJECT) == []


def test_what_tools_only_add_to_is_no_product_of_a_build(home: Path) -> None:
    places = added_to({"HOME": str(home), "GOCACHE": "/fast/go"})
    anywhere, there = Reach(None, places), Reach((home / "inst", home / ".cargo"), places)
    kept = [home / ".cargo/registry/x", home / ".cargo/.global-cache", Path("/fast/go/a"), home / ".npm/a"]
    products = [home / ".cargo/bin/x", home / ".m2/repository/x.jar", home / ".npmrc", Path("/fast/gopher")]
    assert [anywhere.holds(str(each)) for each in (*kept, *products)] == [False] * 4 + [True] * 4
    assert [there.holds(str(each)) for each in (*products, home / "inst/app")] == [True, False, False, False, True]
