"""A side's own home directory: links to the user's, caches, and no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.sandbox import home as module
from harness.sandbox.home import Copied, Home, make_home, overlaps


@pytest.fixture
def real(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    for name in (".gitconfig", ".cargo/bin/cargo", ".cargo/registry/index", ".ssh/id", ".aws/credentials",
                 ".config/gh/hosts.yml", ".config/git/config", ".local/bin/tool", ".cache/other/file"):  # fmt: skip
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return made


def made(real: Path, caches: Mapping[Path, Path | Copied] | None = None, **environment: str) -> Home:
    given = {"HOME": str(real), **environment}
    work = real.parent / "work"
    home = make_home(work / "home-base", work / "home", given, caches or {})
    for to, source in home.copied.items():
        module.copy(source, home.path / to)
    return home


def test_settings_and_toolchains_are_linked_and_secrets_are_not_there(real: Path) -> None:
    home = made(real)
    assert (home.path / ".gitconfig").read_text() == ".gitconfig"
    assert (home.path / ".local/bin/tool").is_file() and (home.path / ".config/git/config").is_file()
    assert not (home.path / ".aws").exists() and not (home.path / ".config/gh").exists()
    assert home.environment == {"HOME": str(real.parent / "work/home"), "TMPDIR": str(real.parent / "work/home/.tmp")}
    assert (home.path / ".tmp").is_dir()


def test_what_is_new_stays_in_the_home_of_the_side(real: Path) -> None:
    home = made(real)
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


def test_variables_that_name_places_in_the_home_name_them_in_the_new_one(real: Path) -> None:
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
