"""`make gallery`: checks every branch of every example, and writes the page of each check to .gallery.

    examples/gallery.py [NAME...] [--branch BRANCH]... [--out FOLDER] [--docs FOLDER]

An example is a folder that has changes/. One whose tools are missing is named and left out. The exit code is 1 if a
verdict is not the one that its branch is made to show. `--docs` also writes one page for each verdict, of what was
checked, there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from make_repo import CHANGES, EXAMPLES, make_repository

ROOT = EXAMPLES.parent
GALLERY = ROOT / ".gallery"
# What tells one machine from another; a page needs none of it.
OF_THE_MACHINE = {"hostname", "boot_id", "fingerprint", "kernel"}


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What an example is written in, and what builds and runs it."""

    language: str
    tools: tuple[str, ...]
    header: str | None = None
    """Of a C++ library that its benchmarks include."""

    def missing(self) -> list[str]:
        """Return what this machine lacks."""
        absent = [tool for tool in self.tools if shutil.which(tool) is None]
        if not absent and self.header is not None:
            source = f"#include <{self.header}>\n"
            command = ["c++", "-E", "-x", "c++", "-"]
            if subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode:
                absent = [self.header]
        return absent


VERDICTS: Mapping[str, str] = {
    "regression": "regression",
    "inconclusive": "too noisy",
    "improvement": "improvement",
    "no-sign": "ok",
    "unchanged": "same",
    "identical": "unaffected",
}
"""Those of a result, the most telling first, and what people call them."""
TOOLCHAINS: Mapping[str, Toolchain] = {
    "tokenizer": Toolchain("C", ("make", "cc")),
    "csvtotals": Toolchain("C++", ("cmake", "c++"), "benchmark/benchmark.h"),
    "wordindex": Toolchain("Rust", ("cargo",)),
    "logfmt": Toolchain("Go", ("go",)),
    "textstats": Toolchain("Python", ("python3",)),
    "textsearch": Toolchain("Java", ("javac", "java")),
    "csvgroup": Toolchain("JavaScript", ("node",)),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What one check gave."""

    example: str
    branch: str
    subject: str
    """The first line of the commit."""
    told: str
    """Its verdict, the largest change, or that nothing was measured, and how long it took."""
    wrong: str | None
    """What was expected instead; None if the verdict is the expected one."""
    shows: str
    """The most telling verdict of a result; "": there is none."""
    noisy: bool
    """Whether it was too noisy as a whole."""


def examples() -> list[str]:
    """Return the examples that have changes, in the order of the languages above."""
    found = {folder.parent.name for folder in EXAMPLES.glob("*/changes")}
    return [name for name in TOOLCHAINS if name in found] + sorted(found - set(TOOLCHAINS))


def wrong(branch: str, code: int, report: Mapping[str, Any]) -> str | None:
    """Return what a check of this branch should have given, if it did not."""
    verdicts = {finding["verdict"] for finding in report["findings"]}
    if branch == "regression":
        right, expected = (report["verdict"], code) == ("regression", 1), "a regression"
    elif branch == "improvement":
        right, expected = (report["verdict"], code) == ("pass", 0) and "improvement" in verdicts, "an improvement"
    elif branch == "documentation":
        right, expected = (report["verdict"], code) == ("pass", 0) and verdicts == {"identical"}, "unaffected"
    else:
        right, expected = (report["verdict"], code) == ("pass", 0) and "improvement" not in verdicts, "no change"
    return None if right else expected


def largest(report: Mapping[str, Any]) -> str:
    """Name the result that changed most among those of the report's most telling verdict."""
    measured = [each for each in report["findings"] if each["verdict"] == telling(report) and each["ratio"]]
    if measured:
        most = max(measured, key=lambda each: abs(each["ratio"]["estimate"] - 1))
        return f"{most['benchmark']} {(most['ratio']['estimate'] - 1) * 100:+.0f}%"
    return "not measured" if report["findings"] else "no results"


def telling(report: Mapping[str, Any]) -> str:
    """Return the most telling verdict of the results; "": there are none."""
    found = {finding["verdict"] for finding in report["findings"]}
    return next((verdict for verdict in VERDICTS if verdict in found), "")


def without_machine(value: Any, names: Mapping[str, str]) -> Any:
    """Return JSON without what identifies the machine: some keys, and paths (`names`: path -> what stands for it)."""
    if isinstance(value, dict):
        return {key: without_machine(each, names) for key, each in value.items() if key not in OF_THE_MACHINE}
    if isinstance(value, list):
        return [without_machine(each, names) for each in value]
    if isinstance(value, str):
        for path, name in names.items():
            value = value.replace(path, name)
    return value


def perfgate(arguments: list[str | Path], directory: Path) -> subprocess.CompletedProcess[str]:
    """Run perfgate as a user does, with this environment's python3 first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}
    command = [sys.executable, ROOT / "perfgate.py", *arguments]
    return subprocess.run(command, cwd=directory, env=environment, check=False, capture_output=True, text=True)


def check(example: str, branch: str, repository: Path, pages: Path) -> Shown:
    """Check one branch, write its page and return what it gave."""
    run = repository.parent / f"{example}-{branch}"
    start = time.monotonic()
    done = perfgate(["check", "--base", "base", "--head", branch, "--out", run, "--quiet"], repository)
    seconds = time.monotonic() - start
    if not (run / "report.json").exists():
        raise RuntimeError(f"{example} {branch}: exit {done.returncode}, no report\n{done.stderr}")
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    write_page(run, pages, {str(repository.parent): "/tmp", str(ROOT): "perfgate", str(Path.home()): "~"})  # noqa: S108
    subject = subprocess.run(
        ["git", "log", "-1", "--format=%s", branch], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()
    told = f"{report['verdict']}, {largest(report)}, {seconds:.0f} s"
    noisy = report["verdict"] == "inconclusive"
    return Shown(example, branch, subject, told, wrong(branch, done.returncode, report), telling(report), noisy)


def write_page(run: Path, pages: Path, names: Mapping[str, str]) -> None:
    """Render a run again without what identifies the machine."""
    for file in (run / "report.json", run / "measurements.jsonl"):
        lines = file.read_text(encoding="utf-8")
        objects = [lines] if file.suffix == ".json" else lines.splitlines()
        hidden = [json.dumps(without_machine(json.loads(each), names)) for each in objects]
        file.write_text("\n".join(hidden) + "\n", encoding="utf-8")
    pages.mkdir(parents=True, exist_ok=True)
    done = perfgate(["report", ".", "--html", pages / "report.html"], run)
    if not (pages / "report.html").exists():
        raise RuntimeError(f"no report.html of {run.name}: {done.stderr}")


def language(example: str) -> str:
    """Return what an example is written in."""
    return TOOLCHAINS[example].language if example in TOOLCHAINS else example


def keep(rows: list[Shown], out: Path, folder: Path) -> None:
    """Write the page of the first check that shows each verdict into a folder, and its index."""
    for file in folder.glob("*.html"):
        file.unlink()
    lines = [
        "# Gallery",
        "",
        "One page for each verdict, made by `perfgate check` on the branches of [examples/](../../examples/README.md):",
        "",
        "| verdict | project | what the change says |",
        "| --- | --- | --- |",
    ]
    for verdict, called in VERDICTS.items():
        row = next((each for each in rows if each.shows == verdict and each.wrong is None), None)
        # a result is too noisy where another was expected
        row = row or next((each for each in rows if each.shows == verdict), None)
        if row is not None:
            page = f"{called.replace(' ', '-')}.html"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out / row.example / row.branch / "report.html", folder / page)
            lines.append(f"| [{called}]({page}) | {row.example} ({language(row.example)}) | {row.subject} |")
    lines += [
        "",
        "`make gallery` writes these, and the reports of all branches of all projects into `.gallery`. [Reading a",
        "report](../reading-a-report.md) says what a page shows.",
    ]
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def show(names: list[str], branches: list[str], out: Path, docs: Path | None = None) -> bool:
    """Check these branches of these examples, and return whether all verdicts are the expected ones."""
    rows: list[Shown] = []
    for name in names:
        missing = TOOLCHAINS[name].missing() if name in TOOLCHAINS else []
        if missing:
            print(f"{name} ({language(name)}): left out, this machine has no {', '.join(missing)}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="perfgate-gallery-") as scratch:
            repository = Path(scratch).resolve() / name
            make_repository(name, repository)
            for branch in branches:
                if not (EXAMPLES / name / "changes" / f"{branch}.patch").exists():
                    continue
                row = check(name, branch, repository, out / name / branch)
                if row.wrong is not None and row.noisy:
                    print(f"{name} {branch}: too noisy, again", flush=True)
                    row = check(name, branch, repository, out / name / branch)
                rows.append(row)
                told = "as expected" if row.wrong is None else f"not as expected: {row.wrong}"
                print(f"{name} {branch}: {row.told}, {told}", flush=True)
    if docs is not None:
        keep(rows, out, docs)
    print(f"pages: {os.path.relpath(out)}")
    return all(row.wrong is None for row in rows)


def main() -> int:
    """Read the command line; returns 0 when all verdicts are the expected ones."""
    parser = argparse.ArgumentParser(description="Checks every branch of every example, and writes their pages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples to check (default: all)")
    parser.add_argument("--branch", action="append", choices=CHANGES, help="branches to check (default: all)")
    parser.add_argument("--out", type=Path, default=GALLERY, help="folder of the pages (default: .gallery)")
    parser.add_argument("--docs", type=Path, help="folder of the pages that are kept, one a verdict (default: none)")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(examples())
    if unknown:
        parser.error(f"no such example: {', '.join(sorted(unknown))} (there are: {', '.join(examples())})")
    try:
        right = show(arguments.names or examples(), arguments.branch or list(CHANGES), arguments.out, arguments.docs)
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        parser.exit(1, f"gallery: {error}\n")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
