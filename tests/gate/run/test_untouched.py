"""What a check leaves of the user's repository as it was, and what of it decides nothing."""

import hashlib
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.project import AS_BY_DEFAULT, ENOUGH, FEW, Project, environment, repository

pytestmark = [pytest.mark.endtoend, pytest.mark.xdist_group("measures")]

OWN = FEW.replace("sh bench.sh", "python3 bench.py")
HOSTILE = """\
import os, subprocess, sys
run = lambda *words: subprocess.run(["git", *words], capture_output=True)
for arguments in (
    ("config", "core.pager", "evil"), ("config", "--local", "user.name", "evil"), ("tag", "evil"),
    ("replace", "-f", "HEAD", "HEAD~1"), ("branch", "evil"), ("stash",), ("commit", "--allow-empty", "-m", "evil"),
):
    assert run(*arguments).returncode != 0 or os.path.isdir(".git"), arguments
os.makedirs(".git/hooks", exist_ok=True) if os.path.isdir(".git") else None
with open(sys.argv[1], "w") as out:
    out.write("1.0\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo")


def state_of(top: Path) -> dict[str, str]:
    """Say of each path what it is and holds, but for the folder that perfgate writes its report to."""
    found = {}
    for parent, folders, files in os.walk(os.fsencode(top)):
        folders[:] = [name for name in folders if name != b".perfgate"]
        for name in folders + files:
            path = os.path.join(parent, name)  # noqa: PTH118  # bytes
            mode = os.lstat(path).st_mode
            content = b""
            if stat.S_ISLNK(mode):
                content = os.readlink(path)  # noqa: PTH115  # bytes
            elif stat.S_ISREG(mode):
                content = Path(os.fsdecode(path)).read_bytes()
            found[os.fsdecode(path)] = f"{mode:o} {hashlib.sha256(content).hexdigest()}"
    return found


def user(top: Path, *arguments: str) -> str:
    """Run git as a person who allows local submodules."""
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"]
    argv = ["git", *settings, *arguments]
    return subprocess.run(argv, cwd=top, capture_output=True, text=True, check=True, env=environment()).stdout.strip()


def odd(project: Project, elsewhere: Path) -> None:
    """Fill a repository with what is easily lost or changed."""
    repository(elsewhere, {"lib.txt": "1\n"})
    user(project.top, "submodule", "--quiet", "add", str(elsewhere), "third party")
    project.quick(1.0, **{"perfgate.toml": FEW})
    project.write("-leading", "dash\n")
    project.write('quote"d', "1\n")
    project.write("new\nline", "1\n")
    (project.top / os.fsdecode(b"latin-\xe9")).write_bytes(b"1\n")
    project.write("sparse/left out", "1\n")
    project.write("run.sh", "#!/bin/sh\n")
    (project.top / "run.sh").chmod(0o755)
    (project.top / "link").symlink_to("run.sh")
    project.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n*.dos text eol=crlf\n")
    project.write("large.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 5\n")
    project.write("a.dos", "line\n")
    project.commit("first")
    user(project.top, "tag", "-a", "v1", "-m", "one")
    project.quick(1.01)
    project.commit("second")
    user(project.top, "replace", "HEAD~1", "HEAD")
    user(project.top, "config", "core.sparseCheckout", "true")
    project.write(".git/info/sparse-checkout", "/*\n!/sparse/\n")
    user(project.top, "read-tree", "-mu", "HEAD")
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        project.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch '{elsewhere}/{name} ran'\n")
        (project.top / ".git/hooks" / name).chmod(0o755)
    # what nobody committed yet
    project.write("new file", "1\n")
    project.write("-leading", "changed\n")


def test_a_repository_is_unchanged_to_the_byte(project: Project, tmp_path: Path) -> None:
    odd(project, tmp_path / "library")
    before = state_of(project.top)
    elsewhere = state_of(tmp_path / "library")
    done = project.perfgate("check", *AS_BY_DEFAULT)
    assert done.returncode == 0, done.stdout + done.stderr
    after = state_of(project.top)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == set()
    assert state_of(tmp_path / "library") == elsewhere
    assert user(project.top, "worktree", "list", "--porcelain").count("worktree ") == 1


def test_what_measured_code_does_with_git_does_not_stay(project: Project, tmp_path: Path) -> None:
    project.quick(1.0, **{"perfgate.toml": OWN, "bench.py": HOSTILE, ".gitignore": "/data/\n"})
    project.commit()
    # through a link into the checkout, too
    project.write("data/words", "1\n")
    shared = OWN + '[build]\nshare = ["data"]\n'
    shared = shared.replace('"python3 bench.py {output}"', '"cd data && python3 ../bench.py {output}"')
    shared = shared.replace("../bench.py", str(project.top / "bench.py"))
    project.write("perfgate.toml", shared)
    project.commit()
    before = state_of(project.top)
    done = project.perfgate("check", *AS_BY_DEFAULT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert state_of(project.top) == before


def test_a_repository_around_the_temporary_directory_is_none_of_a_trees(project: Project, tmp_path: Path) -> None:
    around = repository(tmp_path / "around", {"a": "1\n"})
    (around.top / "tmp").mkdir()
    project.quick(1.0, **{"perfgate.toml": OWN, "bench.py": HOSTILE})
    project.commit()
    before = state_of(around.top)
    done = project.perfgate("check", "--base", "HEAD", *AS_BY_DEFAULT, TMPDIR=str(around.top / "tmp"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert state_of(around.top) == before


@pytest.mark.parametrize("way", ["replace", "graft"])
def test_neither_replace_refs_nor_grafts_decide_what_is_measured(project: Project, way: str) -> None:
    project.quick(1.3, **{"perfgate.toml": FEW})
    before = project.commit()
    project.quick(1.0)
    first = project.commit()
    project.git("switch", "-q", "-c", "feature")
    project.quick(1.3)
    second = project.commit()
    if way == "replace":
        user(project.top, "replace", second, first)
    else:
        project.write(".git/info/grafts", f"{second} {before}\n")
    done = project.perfgate("check", *ENOUGH)
    assert done.returncode == 1, done.stdout + done.stderr
    assert (project.report()["run"]["base"]["sha"], project.report()["run"]["head"]["sha"]) == (first, second)
