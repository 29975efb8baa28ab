"""Minutes to a verdict, by what took them, on the examples and on public projects.

    python -m benchmarks.cost DIRECTORY [NAME...] [--write docs/cost.md]

DIRECTORY holds clones of the projects, DIRECTORY/NAME; one that is missing is cloned at the commit below. Of each there
are two commits on top of its own: one of documentation alone, and one that slows a hot function down.
DIRECTORY/cost.json keeps what came out, so that each can be measured again alone. The time is that of the whole
command; "other" is what no part accounts for, deciding and rendering among it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.relink import PROJECTS as LINKED
from gate.evidence.records import read
from gate.evidence.time_spent import cost_of
from gate.model import PARTS
from gate.writing.units import format_duration

ROOT = Path(__file__).parent.parent
CASES = ("docs", "slower")
BEGIN, END = "<!-- python -m benchmarks.cost -->", "<!-- end -->"
_WORDS = {"inconclusive": "too noisy", "no-sign": "ok", "unchanged": "same", "identical": "unaffected"}
_COLUMNS = ("set-up", "builds", "links", "probe", "measuring", "other")
PLAN = """
[plan]
builds = {min = 4, max = 12}
executions = 3
iterations = 3
"""


@dataclass(frozen=True)
class Project:
    """A public project: where it is, how it is measured, and what slows it down by a tenth to a third.

    url, commit: "" for an example of ours. edit: of a file, what stands there and what shall.
    """

    language: str
    url: str = ""
    commit: str = ""
    config: str = ""
    edit: tuple[str, str, str] = ("", "", "")


PROJECTS = {
    "tokenizer": Project("C, example"),
    "textstats": Project("Python, example"),
    "lz4": Project(
        "C",
        LINKED["lz4"].url,
        LINKED["lz4"].commit,
        f"""{PLAN}
[build]
setup = "seq 1 700000 > numbers"
command = "make -C programs clean && make -C programs -j2 lz4"
artifacts = ["programs/lz4"]
[[benchmark]]
name = "compress"
command = ["./programs/lz4", "-9", "-c", "numbers"]
warmup = 1
[[benchmark]]
name = "fast"
command = ["./programs/lz4", "-1", "-c", "numbers"]
warmup = 1
""",
        (
            "lib/lz4hc.c",
            "        size_t delta = idx - hashTable[h];\n",
            "        size_t delta = idx - hashTable[h];\n        { volatile int k; for (k = 0; k < 12; k++) {} }\n",
        ),
    ),
    "hexyl": Project(
        "Rust",
        LINKED["hexyl"].url,
        LINKED["hexyl"].commit,
        f"""{PLAN}
[build]
setup = "cargo fetch --locked && seq 1 70000 > numbers"
command = "touch src/main.rs && cargo build --release --offline --target-dir target"
artifacts = ["target/release/hexyl"]
[[benchmark]]
name = "dump"
command = ["./target/release/hexyl", "numbers"]
warmup = 1
""",
        (
            "src/lib.rs",
            "    fn print_byte(&mut self, i: usize, b: u8) -> io::Result<()> {\n",
            (
                "    fn print_byte(&mut self, i: usize, b: u8) -> io::Result<()> {\n"
                "        for k in 0..80u8 {\n            std::hint::black_box(k);\n        }\n"
            ),
        ),
    ),
    "mux": Project(
        "Go",
        "https://github.com/gorilla/mux",
        "db9d1d0073d27a0a2d9a8c1bc52aa0af4374d265",
        """
[plan]
builds = {min = 4, max = 12}
executions = 2
iterations = 5
[build]
command = "go test -c -o bench.test ."
artifacts = ["bench.test"]
[[benchmark]]
name = "mux"
instrument = "go"
command = ["./bench.test", "-test.run=^$", "-test.bench=^BenchmarkMux", "-test.benchtime=50ms"]
warmup = 1
""",
        (
            "route.go",
            "func (r *Route) Match(req *http.Request, match *RouteMatch) bool {\n",
            (
                "var spent int\n\nfunc (r *Route) Match(req *http.Request, match *RouteMatch) bool {\n"
                "\tfor k := 0; k < 60; k++ {\n\t\tspent += k\n\t}\n"
            ),
        ),
    ),
}


def git(directory: Path, *arguments: str) -> str:
    """Run git without the settings of the user, and return what it says."""
    quiet = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgSign=false"]
    told = subprocess.run(["git", *quiet, *arguments], cwd=directory, check=True, stdout=subprocess.PIPE, text=True)
    return told.stdout.strip()


def prepare(name: str, clones: Path, checkout: Path) -> None:
    """Make a checkout with the tags base, docs and slower."""
    project = PROJECTS[name]
    if not project.url:
        subprocess.run([sys.executable, str(ROOT / "examples" / "make_repo.py"), name, str(checkout)], check=True)
        # a project has something to document already: a new file in a directory that a program lists is another matter
        git(checkout, "switch", "--quiet", "--detach", "base")
        (checkout / "README.md").write_text("An example.\n", encoding="utf-8")
        git(checkout, "add", "README.md")
        git(checkout, "commit", "--quiet", "--message=README.md")
        git(checkout, "tag", "--force", "base")
        git(checkout, "cherry-pick", "regression")
        git(checkout, "tag", "slower")
    else:
        clone = clones / name
        if not clone.exists():
            subprocess.run(["git", "clone", "--quiet", project.url, str(clone)], check=True)
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(clone), str(checkout)], check=True)
        git(checkout, "switch", "--quiet", "--create", "costs", project.commit)
        (checkout / "perfgate.toml").write_text(project.config, encoding="utf-8")
        git(checkout, "add", "--force", "perfgate.toml")
        git(checkout, "commit", "--quiet", "--message=perfgate.toml")
        git(checkout, "tag", "--force", "base")
        path, was, instead = project.edit
        text = (checkout / path).read_text(encoding="utf-8")
        if was not in text:
            sys.exit(f"{name}: {path} has no {was!r}")
        (checkout / path).write_text(text.replace(was, instead, 1), encoding="utf-8")
        git(checkout, "commit", "--quiet", "--all", "--message=slower")
        git(checkout, "tag", "--force", "slower")
    git(checkout, "switch", "--quiet", "--detach", "base")
    with (checkout / "README.md").open("a", encoding="utf-8") as readme:
        readme.write("\nOne more sentence.\n")
    git(checkout, "add", "README.md")
    git(checkout, "commit", "--quiet", "--message=docs")
    git(checkout, "tag", "--force", "docs")


def check(checkout: Path, case: str, budget: str) -> dict[str, Any]:
    """Check one commit against its base, and return what that took and what came out."""
    # nothing that an earlier check has built or measured helps; what Go keeps by itself stays where it is
    shutil.rmtree(checkout.parent / "cache", ignore_errors=True)
    shutil.rmtree(checkout / ".perfgate", ignore_errors=True)
    go = os.environ.get("GOCACHE") or str(
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "go-build"
    )
    own = {
        name: str(checkout.parent / folder)
        for name, folder in (("PERFGATE_HISTORY", "history"), ("XDG_CACHE_HOME", "cache"))
    }
    environment = os.environ | own | {"GOCACHE": go}
    command = [
        sys.executable,
        str(ROOT / "perfgate.py"),
        "check",
        "--base",
        "base",
        "--head",
        case,
        "--quiet",
        "--set",
        f"plan.budget={budget}",
    ]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    try:
        report = json.loads((checkout / ".perfgate" / "report.json").read_text(encoding="utf-8"))
    except OSError:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    file = checkout / ".perfgate" / "measurements.jsonl"
    cost = cost_of([located.record for located in read(str(file), file.read_bytes()).records])
    parts = {part: getattr(cost, part) or 0.0 for part in PARTS if part != "other"}
    counts = {verdict: sum(f["verdict"] == verdict for f in report["findings"]) for verdict in _verdicts(report)}
    return {
        "seconds": seconds,
        **parts,
        "other": seconds - sum(parts.values()),
        "builds": cost.compiled,
        "links": cost.linked,
        "rounds": report["run"]["rounds"]["done"],
        "verdict": report["verdict"],
        "findings": counts,
    }


def _verdicts(report: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(finding["verdict"] for finding in report["findings"]))


def table(results: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write the results as a table of Markdown."""
    columns = ["project", "commit", "to the verdict", *_COLUMNS, "verdict"]
    rows = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for name in names:
        for case in CASES:
            found = results.get(f"{name} {case}")
            if found is not None:
                rows.append(_row(name, case, found))
    return "\n".join(rows) + "\n"


def _row(name: str, case: str, found: Mapping[str, Any]) -> str:
    first = f"{name} ({PROJECTS[name].language})" if case == CASES[0] else ""
    what = {"docs": "documentation", "slower": "slower"}[case]
    counted = ", ".join(f"{count} {_WORDS.get(verdict, verdict)}" for verdict, count in found["findings"].items())
    cells = [
        first,
        what,
        f"**{format_duration(found['seconds'])}**",
        _cell(found["setup"]),
        _cell(found["compile"], found["builds"]),
        _cell(found["link"], found["links"]),
        _cell(found["probe"]),
        _cell(found["measure"]),
        _cell(found["decide"] + found["other"]),
        f"{found['verdict']} ({counted or 'no finding'})",
    ]
    return f"| {' | '.join(cells)} |"


def _cell(seconds: float, count: int = 0) -> str:
    text = format_duration(seconds) if seconds >= 0.05 else ""
    return f"{text} ({count})" if text and count else text


def main() -> int:
    """Measure what is asked for, and print the table of all that is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", default=list(PROJECTS), metavar="NAME")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the table in it")
    options = parser.parse_intermixed_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    kept = options.directory / "cost.json"
    results: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name in options.names:
        with tempfile.TemporaryDirectory() as made:
            checkout = Path(made) / name
            prepare(name, options.directory, checkout)
            for case in CASES:
                results[f"{name} {case}"] = check(checkout, case, options.budget)
                kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                sys.stderr.write(f"{name}, {case}: {results[f'{name} {case}']}\n")
    written = table(results, list(PROJECTS))
    sys.stdout.write(written)
    if options.write is not None:
        text = options.write.read_text(encoding="utf-8")
        head, _, rest = text.partition(BEGIN)
        tail = rest.partition(END)[2]
        options.write.write_text(f"{head}{BEGIN}\n{written}{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
