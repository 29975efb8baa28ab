"""Writes a table of public projects that nobody prepared: what init makes of each, and the verdicts of known changes.

Each line of the list is a project: its name, a repository (a folder or an address), a commit, and if there is one the
file of a patch that makes what is measured some 10% slower. Nothing is edited: where init does not end with 0, no
verdict is asked for. A documentation commit should be proved identical, the patch called a regression, and what takes
it back an improvement. Each check is by the file that init wrote; behind its minutes stands what `perfgate try` said
of the project's own first builds, and of the whole time. Repositories and patches are never part of this repository.
Further arguments are given to each check.

    scripts/unseen LIST [--set gate.threshold=5%] >table.md
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_EXPECTED = {"documentation": "identical", "slower": "regression", "faster": "improvement"}
_LONGEST = 900
"""Seconds of one command."""
_IDENTITY = ("-c", "user.name=unseen", "-c", "user.email=unseen@example.invalid", "-c", "commit.gpgsign=false")


class Project(NamedTuple):
    """A line of the list."""

    name: str
    repository: str
    commit: str
    patch: Path | None


def projects(file: Path) -> Iterator[Project]:
    """Read a list; empty lines and those that begin with # are passed over."""
    for line in file.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            name, repository, commit, *patch = words
            yield Project(name, repository, commit, file.absolute().parent / patch[0] if patch else None)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *_IDENTITY, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _perfgate(folder: Path, *arguments: str) -> tuple[int | str, str, float]:
    """Return the exit code ("-" after the time limit), what was printed, and minutes."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "gate", *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        return "-", "", (time.monotonic() - begin) / 60
    return done.returncode, done.stdout, (time.monotonic() - begin) / 60


def _verdict(folder: Path, what: str, rules: tuple[str, ...]) -> str:
    """Check the last commit; return its verdict, the largest change, minutes, and whether it is right."""
    asked = ("check", "--base", "HEAD~1", "--head", "HEAD", "--json", "report.json", *rules)
    code, _, minutes = _perfgate(folder, *asked)
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return f"no report (exit {code}), {minutes:.1f} min"
    finally:
        (folder / "report.json").unlink(missing_ok=True)
    findings, said = report["findings"], report["verdict"]
    verdicts = Counter(each["verdict"] for each in findings)
    if said in ("pass", "inconclusive") and verdicts["improvement"]:
        # as a regression is one whatever else is open
        said = "improvement"
    elif said == "pass" and all(each["identical"] for each in findings):
        said = "identical"
    open_ = f" ({verdicts['inconclusive']} of {len(findings)} too noisy)" if verdicts["inconclusive"] else ""
    ratios = [each["ratio"]["estimate"] - 1 for each in findings if each["ratio"] and not each["identical"]]
    largest = max(ratios, key=abs, default=None)
    size = "" if largest is None else f" {100 * largest:+.1f}%"
    # a pass says that there is no sign of a change, and an error that the budget ended before enough was measured
    none = said in ("inconclusive", "error") or (said == "pass" and what != "documentation")
    right = "right" if said == _EXPECTED[what] else "no verdict" if none else "**wrong**"
    first = (_cost(folder) or {"once": 0})["once"] / 60
    built = f", first builds {first:.1f}" if first >= 0.5 else ""
    return f"{said}{size}{open_}, {minutes:.1f} min{built}{_as_told(folder) if size else ''}, {right}"


def _cost(folder: Path) -> dict[str, float] | None:
    """Return what the trial said of the seconds of rounds; None: nothing."""
    try:
        cost: dict[str, float] | None = json.loads((folder.parent / "trial.json").read_text(encoding="utf-8"))["cost"]
    except (OSError, ValueError):
        return None
    return cost


def _as_told(folder: Path) -> str:
    """Return what the trial said of the time of so many rounds, unless what is proved the same was left out of them."""
    cost, file = _cost(folder), folder / ".perfgate" / "measurements.jsonl"
    if cost is None or not file.exists():
        return ""
    records = [*map(json.loads, file.read_text(encoding="utf-8").splitlines())]
    made = [each for each in records if each["type"] == "build" and each["side"] == "head"]
    whole = not cost["least"] and all(each["type"] != "same" for each in records)
    told = (cost["once"] + len(made) * (cost["builds"] + cost["executions"])) / 60
    return f" (try said {told:.1f})" if whole else ""


def row(project: Project, folder: Path, rules: tuple[str, ...]) -> Iterator[str]:
    """Give the cells of a project."""
    yield project.name
    subprocess.run(["git", "clone", "--quiet", project.repository, folder], check=True)
    _git(folder, "checkout", "--quiet", "-b", "unseen", project.commit)
    code, said, minutes = _perfgate(folder, "init")
    kind = said.splitlines()[0].removeprefix("detected: ") if said else "nothing"
    mended = said.count("\n  mended: ")
    yield f"{kind}; {'gave values' if code == 0 else f'exit {code}'}{f', mended {mended}' if mended else ''}"
    yield f"{minutes:.1f}"
    if code != 0:
        return
    _git(folder, "add", "--force", "perfgate.toml")
    _git(folder, "commit", "--quiet", "--message=gate")
    texts = sorted(each for each in folder.iterdir() if each.name.lower().startswith("readme") and each.is_file())
    readme = next(iter(texts), folder / "README.md")
    with readme.open("a", encoding="utf-8") as file:
        file.write("\nOne more line.\n")
    _git(folder, "add", "--force", readme.name)
    _git(folder, "commit", "--quiet", "--message=documentation")
    _perfgate(folder, "try", "--json", str(folder.parent / "trial.json"))
    yield _verdict(folder, "documentation", rules)
    if project.patch is None:
        return
    _git(folder, "apply", "--index", str(project.patch))
    _git(folder, "commit", "--quiet", "--message=slower")
    yield _verdict(folder, "slower", rules)
    _git(folder, "revert", "--no-edit", "HEAD")
    yield _verdict(folder, "faster", rules)


def main(file: str, *rules: str) -> None:
    """Write the table, a row as soon as it is known."""
    sys.stdout.write(
        "| project | init | min | documentation | slower | faster |\n| --- | --- | --- | --- | --- | --- |\n"
    )
    for project in projects(Path(file)):
        with tempfile.TemporaryDirectory() as work:
            cells = [*row(project, Path(work, project.name), rules)]
        sys.stdout.write(f"| {' | '.join(cells + ['-'] * (6 - len(cells)))} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
