"""The action's first step: an environment made once, whole or not at all, whatever the caller has set."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.action.tree import ROOT, VERSION, Action, base_python

pytestmark = pytest.mark.endtoend

ERROR = "::error title=perfgate::"


def prepared(tmp_path: Path, by: str) -> Action:
    made = Action(tmp_path)
    if by == "uv":
        made.with_uv()
    return made


@pytest.fixture
def action(tmp_path: Path) -> Action:
    return prepared(tmp_path, "uv")


def runs(python: Path, directory: Path) -> str:
    """What perfgate says there, started as the action starts it."""
    done = subprocess.run(
        [python, "-I", "-m", "gate", "--version"], cwd=directory, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_ino) for p in folder.rglob("*")}


def packages_of(action: Action) -> Path:
    return action.python().parent.parent / f"lib/python3.{sys.version_info.minor}/site-packages"


def one_error(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 4, done.stdout
    lines = [line for line in done.stdout.splitlines() if not line.startswith("perfgate ")]
    assert len(lines) == 1 and lines[0].startswith(ERROR), done.stdout
    return lines[0].removeprefix(ERROR)


# pip takes seconds where uv takes tenths: that it is made by pip, a wrong hash of uv shows
BY = ["uv", pytest.param("pip", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("by", BY)
def test_it_is_made_once_and_then_used_again(tmp_path: Path, by: str) -> None:
    action = prepared(tmp_path, by)
    # the tests of libraries are left out
    action.write("gate/some/tests/test_some.py", "")
    sources = state(action.path)
    first = action.install()
    assert first.returncode == 0 and f"made by {by}" in first.stdout, first.stdout
    python = action.python()
    assert python.is_absolute() and action.made() == [python.parent.parent.name]
    assert python.parent.parent.name.startswith(f"{VERSION}-")
    assert runs(python, action.project) == f"perfgate {VERSION}\n"
    before = state(python.parent)
    second = action.install()
    assert second.returncode == 0 and "used again" in second.stdout, second.stdout
    assert action.python() == python and state(python.parent) == before
    assert state(action.path) == sources, "the action's folder may be read-only"
    packages = packages_of(action)
    assert list(packages.glob("gate/some")) and not list(packages.rglob("tests"))
    # its own code is compiled
    assert list(packages.glob("gate/__pycache__/__main__.*.pyc")) and list(packages.glob("harness/__pycache__/*.pyc"))


def test_pip_brings_the_locked_uv(tmp_path: Path) -> None:
    action = Action(tmp_path)
    action.lock_uv()
    # as on GitHub's own machines
    action.pip_conf("[global]\nbreak-system-packages = true\n")
    done = action.install()
    assert done.returncode == 0 and "made by uv that pip brought" in done.stdout, done.stdout
    assert runs(action.python(), action.project) == f"perfgate {VERSION}\n"
    # it is no part of the environment
    assert not list(action.python().parent.glob("uv*")) and not list(packages_of(action).glob("uv*"))


@pytest.mark.parametrize("wrong", ["another hash", "mirror", pytest.param("no lock", marks=pytest.mark.nightly)])
def test_without_the_locked_uv_pip_installs(tmp_path: Path, wrong: str) -> None:
    action = Action(tmp_path)
    if wrong != "no lock":
        action.lock_uv("0" * 64 if wrong == "another hash" else "")
    if wrong == "mirror":
        # which pip alone goes by
        action.pip_conf("[global]\nindex-url = https://mirror.example/simple\n")
    done = action.install()
    assert done.returncode == 0 and "made by pip " in done.stdout, done.stdout
    assert runs(action.python(), action.project) == f"perfgate {VERSION}\n"


def test_the_packages_that_a_study_alone_loads_are_left_out(action: Action) -> None:
    lock = (action.path / "requirements.lock").read_text()
    wheel = action.wheel("patsy")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    action.write("requirements.lock", f"patsy @ {wheel.as_uri()} \\\n    --hash=sha256:{digest}\n    # via x\n{lock}")
    assert action.install().returncode == 0
    assert not (packages_of(action) / "patsy.py").exists() and (packages_of(action) / "tiny.py").exists()


def _own_script() -> Any:
    spec = importlib.util.spec_from_file_location("environment", ROOT / "scripts" / "environment.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_a_check_lacks_nothing_that_its_packages_need() -> None:
    script = _own_script()
    locked = {each["name"] for each in script.LOCKED.finditer((ROOT / "requirements.lock").read_text())}
    assert locked > script.OF_A_STUDY and len(locked) > 20

    def needed(names: set[str]) -> set[str]:
        found = set(names)
        for name in names:
            for text in metadata.requires(name) or ():
                requirement = Requirement(text)
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                    found.add(canonicalize_name(requirement.name))
        return found if found == names else needed(found)

    check = locked - script.OF_A_STUDY
    assert needed(check) == check
    # nothing is left out that no package of a study brings
    assert needed({"pandas", "statsmodels"}) - {"numpy", "scipy"} | {"tzdata"} >= script.OF_A_STUDY


def test_on_musl_nothing_is_asked_for_that_has_no_wheel_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, hyperfine = _own_script(), "astral-dev-toolchain-hyperfine"

    def wanted() -> set[str]:
        script._requirements(tmp_path)
        return {each["name"] for each in script.LOCKED.finditer((tmp_path / "requirements.lock").read_text())}

    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    everywhere = wanted()
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("sys.platform", "linux")
    assert wanted() == everywhere - {hyperfine} != everywhere
    monkeypatch.setattr("sys.platform", "darwin")
    assert wanted() == everywhere


def test_what_it_is_made_of_makes_another(action: Action) -> None:
    made = set()
    names = ("gate/__main__.py", "harness/new.py", "templates/some.j2", "requirements.lock", "pyproject.toml")
    for name in ("", *names):
        if name:
            text = (action.path / name).read_text(encoding="utf-8") if (action.path / name).exists() else ""
            action.write(name, text + "\n")
        assert "made by uv" in action.install().stdout, name
        made.add(action.python())
    assert len(made) == len(action.made()) == 1 + len(names)


def test_racing_jobs_make_one(action: Action) -> None:
    started = [action.start() for _ in range(4)]
    texts = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0] * 4, texts
    assert sum("made by uv" in text for text in texts) == 1
    assert sum("used again" in text for text in texts) == 3
    assert len(action.made()) == 1
    assert len(set(action.output.read_text(encoding="utf-8").splitlines())) == 1


def test_killed_in_the_middle_leaves_nothing_that_counts(action: Action, tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    uv = action.bin / "uv"
    real = uv.resolve()
    action.program("uv", f'case "$*" in *install*) : >"{reached}"; exec /bin/sleep 60;; *) exec "{real}" "$@";; esac\n')
    started = action.start()
    try:
        end = time.monotonic() + 60
        while not reached.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert reached.exists()
        # the installer alone: what it started goes on
        os.kill(started.pid, signal.SIGKILL)
        started.wait(timeout=60)
        (left,) = action.made()
        assert left.startswith(f".{VERSION}-")
        action.with_uv()
        again = action.install()
        assert again.returncode == 0 and "made by uv" in again.stdout, again.stdout
        assert action.made() == [action.python().parent.parent.name]
        assert runs(action.python(), action.project) == f"perfgate {VERSION}\n"
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate(timeout=60)


def test_what_nobody_used_for_thirty_days_is_removed_unless_somebody_has_it(action: Action) -> None:
    action.install()
    folder = action.cache / "perfgate"
    names = {kind: f"1.0-{digit * 16}" for kind, digit in (("old", "a"), ("held", "b"), ("recent", "c"))}
    others = ["not-ours", "1.0-short"]
    for name in (*names.values(), *others):
        (folder / name / "bin").mkdir(parents=True)
        (folder / name / "bin" / "python").write_text("")
        days = 29 if name == names["recent"] else 31
        os.utime(folder / name, (time.time() - days * 86400,) * 2)
    (folder / f".{names['old']}.abcd_123").mkdir()
    with (folder / f"{names['held']}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "used again" in action.install().stdout
    place = action.python().parent.parent
    assert action.made() == sorted([place.name, names["held"], names["recent"], *others])
    # what is used again counts as used
    os.utime(place, (0, 0))
    action.install()
    assert time.time() - place.stat().st_mtime < 60


def test_without_a_tool_directory_it_is_kept_with_the_users_caches(action: Action, tmp_path: Path) -> None:
    taken = tmp_path / "a file"
    taken.write_text("")
    done = action.install(RUNNER_TOOL_CACHE=str(taken), XDG_CACHE_HOME=str(tmp_path / "caches"))
    assert done.returncode == 0, done.stdout
    assert action.python().is_relative_to(tmp_path / "caches" / "perfgate")


@pytest.mark.parametrize("by", BY)
def test_a_package_that_is_not_the_locked_one(tmp_path: Path, by: str) -> None:
    action = prepared(tmp_path, by)
    action.lock((tmp_path / "tiny-1.0-py3-none-any.whl").as_uri(), "0" * 64)
    error = one_error(action.install())
    assert "0" * 64 in error and f"{by} says: " in error
    assert action.made() == [] and not action.output.exists()


@pytest.mark.parametrize("by", BY)
def test_a_download_that_fails_hides_the_password(tmp_path: Path, by: str) -> None:
    action = prepared(tmp_path, by)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=action.cache)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        where = f"127.0.0.1:{server.server_port}"
        action.lock(f"http://someone:sesame@{where}/tiny-1.0-py3-none-any.whl", "0" * 64)
        error = one_error(action.install())
        server.shutdown()
    assert where in error and "404" in error and "sesame" not in error
    assert action.made() == []


def test_a_python_without_venv_names_the_package(tmp_path: Path) -> None:
    action = Action(tmp_path)
    python = python_without_ensurepip(tmp_path / "debian")
    action.bin.joinpath("python3").unlink()
    action.bin.joinpath("python3").symlink_to(python)
    assert f"apt-get install python3.{sys.version_info.minor}-venv" in one_error(action.install())
    assert action.made() == []
    action.with_uv()
    assert "made by uv" in action.install().stdout


def python_without_ensurepip(top: Path) -> Path:
    """Debian's: the same Python, whose standard library lacks a folder."""
    real = Path(base_python())
    library = Path(os.__file__).parent
    name = library.name
    (top / "bin").mkdir(parents=True)
    (top / "lib" / name).mkdir(parents=True)
    shutil.copy(real, top / "bin" / real.name)
    for entry in library.iterdir():
        if entry.name not in ("ensurepip", "site-packages"):
            (top / "lib" / name / entry.name).symlink_to(entry)
    return top / "bin" / real.name


def only_there(action: Action, *places: Path) -> None:
    """Let the script look nowhere on this machine but in PATH and in these folders."""
    script = action.path / "scripts" / "install"
    text = script.read_text(encoding="utf-8")
    for number, prefix in enumerate(("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")):
        assert f" {prefix}/python3" in text
        text = text.replace(f" {prefix}/python3", f" {places[number] if number < len(places) else '/nowhere'}/python3")
    script.write_text(text, encoding="utf-8")


def test_without_a_python_it_says_what_to_install(action: Action) -> None:
    only_there(action)
    action.program("python3", "exit 1\n")
    action.program("python3.12", 'echo "a launcher that finds nothing" >&2; exit 127\n')
    action.program("python3.14", '[ "$1" = -I ] || exit 0; exit 1\n')
    assert "CPython 3.11 to 3.14" in one_error(action.install())


def test_a_python_outside_of_path_is_found(action: Action, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    bare.joinpath("uv").symlink_to((action.bin / "uv").resolve())
    only_there(action, tmp_path / "usr")
    tools = action.cache / "Python" / f"3.{sys.version_info.minor}.0" / "x64" / "bin"
    for folder in (tools, tmp_path / "usr"):
        folder.mkdir(parents=True)
        link = folder / "python3"
        link.symlink_to(base_python())
        done = action.install(PATH=str(bare))
        assert done.returncode == 0, done.stdout
        link.unlink()


def test_an_activated_environment_of_the_project_may_go_afterwards(action: Action, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    subprocess.run([base_python(), "-I", "-m", "venv", "--without-pip", theirs], check=True)
    done = action.install(PATH=f"{theirs / 'bin'}:{action.bin}", VIRTUAL_ENV=str(theirs))
    assert done.returncode == 0, done.stdout
    shutil.rmtree(theirs)
    assert runs(action.python(), action.project) == f"perfgate {VERSION}\n"


@pytest.mark.parametrize("what", ["folder", "command", "link"])
def test_perfgate_that_is_installed_already(action: Action, tmp_path: Path, what: str) -> None:
    action.install()
    place = action.python().parent.parent
    command = place / "bin" / "perfgate"
    command.write_text("")
    link = tmp_path / "perfgate"
    link.symlink_to(command)
    given = {"folder": place, "command": command, "link": link}[what]
    only_there(action)
    if what != "link":
        # its own Python is enough to look at it
        action.bin.joinpath("python3").unlink()
    action.output.unlink()
    done = action.install(INPUT_PERFGATE_PATH=str(given), RUNNER_TOOL_CACHE=str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (0, "")
    assert action.python() == place / "bin" / "python"
    assert not (tmp_path / "none").exists()


def test_another_version_is_warned_of_and_another_program_refused(action: Action, tmp_path: Path) -> None:
    action.install()
    place = action.python().parent.parent
    action.write("gate/__init__.py", '__version__ = "9.9.0"\n')
    done = action.install(INPUT_PERFGATE_PATH=str(place))
    assert done.returncode == 0 and done.stdout.startswith("::warning title=perfgate::")
    assert VERSION in done.stdout and "9.9.0" in done.stdout
    assert "there is no " in one_error(action.install(INPUT_PERFGATE_PATH=str(tmp_path / "none")))
    (tmp_path / "other" / "bin").mkdir(parents=True)
    (tmp_path / "other" / "bin" / "python").symlink_to(base_python())
    assert "gate --version does not run" in one_error(action.install(INPUT_PERFGATE_PATH=str(tmp_path / "other")))


TWO_SIDES = "".join(
    f'{{"type":"execution","benchmark":"b","side":"{side}","build":{build},"execution":0,'
    f'"metrics":{{"time":{{"unit":"s","better":"lower","values":[0.1{build},0.1{build}1]}}}}}}\n'
    for side in ("base", "head")
    for build in range(3)
)


@pytest.mark.nightly
def test_the_real_one(tmp_path: Path) -> None:
    """Everything that the lock names, by uv, and a decision made with it in a project with a gate/ of its own."""
    action = Action(tmp_path)
    action.with_uv()
    shutil.rmtree(action.path)
    for name in ("gate", "harness", "templates", "scripts"):
        shutil.copytree(ROOT / name, action.path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("perfgate.py", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, action.path / name)
    kept = {
        name: os.environ[name] for name in ("HOME", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy") if name in os.environ
    }
    done = action.install(**kept)
    assert done.returncode == 0 and "made by uv" in done.stdout, done.stdout

    def perfgate(*words: str | Path) -> str:
        ran = subprocess.run(
            [action.python(), "-I", "-m", "gate", *words], cwd=action.project, input=TWO_SIDES, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert (action.python().parent / "hyperfine").is_file()
    report = tmp_path / "report.html"
    perfgate("decide", "-", "--html", report)
    assert "<svg" in report.read_text(encoding="utf-8")
    size = sum(
        file.stat().st_blocks * 512 for file in action.python().parent.parent.rglob("*") if not file.is_symlink()
    )
    assert size <= 190e6, f"{size / 1e6:.0f} MB, with byte code"
