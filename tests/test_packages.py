"""Wheel and sdist as they are published: the same bytes for everybody, complete, and working on every Python and installer."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import cmarkgfm  # type: ignore[import-untyped]  # it has none
import pytest

from scripts.release.links import REPOSITORY
from scripts.release.packages import SUMS
from scripts.release.smoke import SmokeError, find
from tests.action.tree import base_python
from tests.support.project import environment
from tests.test_lock import VERSIONS

ROOT = Path(__file__).parent.parent
# One worker builds once.
pytestmark = [pytest.mark.xdist_group("packages"), pytest.mark.endtoend]
SMOKE = ROOT / "scripts" / "release" / "smoke.py"
# Besides PATH: folders of Pythons, such as one that came as a package.
FOLDERS = os.environ.get("PERFGATE_TEST_PYTHONS", "")


class Packages(NamedTuple):
    """The two files."""

    wheel: Path
    sdist: Path


def git(*arguments: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=True, env=environment())
    return done.stdout.strip()


def build(top: Path, commit: str, out: Path, **settings: str) -> Packages:
    command = [sys.executable, "-m", "scripts.release", "build", "--commit", commit, "--out", str(out)]
    done = subprocess.run(command, cwd=top, env=environment(**settings), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Packages(wheel, sdist)


@pytest.fixture(scope="module")
def commit() -> str:
    """The working tree as a commit; new files must be known to git."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    # stash wants the lock of the index, which another worker's git may hold: not where nothing has changed
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (git("stash", "create") if changed else "") or "HEAD"


@pytest.fixture(scope="module")
def packages(commit: str, tmp_path_factory: pytest.TempPathFactory) -> Packages:
    return build(ROOT, commit, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(packages.sdist) as archive:
        archive.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def test_the_same_commit_gives_the_same_bytes(commit: str, packages: Packages, tmp_path: Path) -> None:
    # another folder, another time, another user
    clone = tmp_path / "a clone"
    git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(clone))
    git("checkout", "--quiet", git("rev-parse", commit), cwd=clone)
    old = os.umask(0o077)
    try:
        again = build(clone, "HEAD", tmp_path / "out", SOURCE_DATE_EPOCH="1234567890", TZ="Asia/Tokyo", LC_ALL="C")
    finally:
        os.umask(old)
    assert [path.name for path in again] == [path.name for path in packages]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in packages]
    sums = (packages.wheel.parent / SUMS).read_text().splitlines()
    assert sorted(sums) == sorted(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}" for one in packages)


def test_the_sdist_builds_the_published_wheel(packages: Packages, tmp_path: Path) -> None:
    uv = [sys.executable, "-m", "uv", "--quiet", "--offline", "build", "--wheel", "--no-build-isolation"]
    command = [*uv, "--python", sys.executable, "--out-dir", str(tmp_path), str(packages.sdist)]
    subprocess.run(command, env=environment(), check=True, cwd=tmp_path)
    assert (tmp_path / packages.wheel.name).read_bytes() == packages.wheel.read_bytes()


def metadata(wheel: Path) -> Message:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(archive.read(name).decode())


class Links(HTMLParser):
    """Collects where a page leads, and what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value or "" for name, value in attrs if name in ("href", "src", "srcset")}


def test_its_links_work_on_the_page_of_a_package_index(packages: Packages) -> None:
    told = metadata(packages.wheel)
    text = str(told.get_payload())
    assert told["Description-Content-Type"] == "text/markdown"
    assert text.splitlines()[0] == "# perfgate"
    links = Links()
    links.feed(cmarkgfm.github_flavored_markdown_to_html(text))
    assert len(links.found) > 20
    assert [link for link in links.found if not link.startswith(("https://", "mailto:"))] == []
    ours = re.compile(rf"{REPOSITORY}/blob/v{re.escape(told['Version'])}/([^#]+)")
    inside = [found[1] for link in links.found if (found := ours.match(link))]
    assert len(inside) > 15 and [path for path in inside if not (ROOT / path).exists()] == []


def test_the_index_is_told_where_things_are(packages: Packages) -> None:
    told = metadata(packages.wheel)
    urls = dict(value.split(", ", 1) for value in told.get_all("Project-URL", []))
    assert list(urls) == ["Homepage", "Documentation", "Source", "Changelog", "Issues"]
    assert urls["Source"] == REPOSITORY
    assert told["License-Expression"] == "Apache-2.0" and told["Requires-Python"] == f">={VERSIONS[0]}"
    # newer metadata would keep perfgate from older indexes and installers, and has nothing that it needs
    assert told["Metadata-Version"] == "2.4"


def test_the_sdist_has_all_that_the_clone_has(commit: str, unpacked: Path) -> None:
    # what the tests read is in it, whatever they read
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert files - {"PKG-INFO"} == set(git("ls-tree", "-r", "-z", "--name-only", commit).rstrip("\0").split("\0"))


RUN = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def test_the_tests_of_the_sdist_test_its_own_code(unpacked: Path) -> None:
    ours = environment(PYTHONPATH=str(unpacked), PYTHONDONTWRITEBYTECODE="1")
    where = subprocess.run(
        [sys.executable, "-c", "import gate, harness; print(gate.__file__, harness.__file__)"],
        cwd=unpacked, env=ours, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout.count(str(unpacked)) == 2
    some = ["tests/gate/writing/test_units.py", "tests/test_lock.py", "tests/release/test_version.py"]
    done = subprocess.run([*RUN, *some], cwd=unpacked, env=ours, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def pythons() -> str:
    managed = sorted(Path("~/.pyenv/versions").expanduser().glob("3.*/bin"), reverse=True)
    return os.pathsep.join(filter(None, [FOLDERS, os.environ["PATH"], *map(str, managed)]))


def smoke(*arguments: str | Path) -> str:
    # nobody downloads an interpreter
    around = environment(UV_PYTHON_DOWNLOADS="never")
    done = subprocess.run(
        [sys.executable, "-I", SMOKE, *arguments], env=around, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def cache() -> str:
    """Where uv keeps what it has downloaded: HOME, which it follows, is an empty folder below."""
    return subprocess.run(
        [sys.executable, "-m", "uv", "cache", "dir"], capture_output=True, text=True, check=True
    ).stdout.strip()


# by day tests/test_wheel.py installs the wheel in an empty environment, and the sdist is known to build this very wheel
@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_package_gates_on_a_bare_machine(
    packages: Packages, kind: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["sh", ROOT / "scripts" / "bare", tmp_path / "bin"], check=True)
    assert not (tmp_path / "bin" / "uv").exists()
    monkeypatch.setenv("UV_CACHE_DIR", cache)
    locked = ("--constraints", ROOT / "requirements.lock")
    bare = ("--with", "uv", "--python", base_python(), "--path", tmp_path / "bin")
    assert "finds the regression" in smoke(*bare, *locked, getattr(packages, kind))


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_gates_with_it(packages: Packages, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", pythons())
    try:
        python = find(version)
    except SmokeError:
        pytest.skip(f"no CPython {version} here; PERFGATE_TEST_PYTHONS names folders")
    assert "finds the regression" in smoke("--with", "uv", "--python", python, packages.wheel)


@pytest.mark.nightly
@pytest.mark.parametrize(("installer", "package"), [("uvx", "wheel"), ("pip", "sdist")])
def test_every_installer_gates_with_it(packages: Packages, installer: str, package: str) -> None:
    assert "finds the regression" in smoke("--with", installer, "--python", sys.executable, getattr(packages, package))
