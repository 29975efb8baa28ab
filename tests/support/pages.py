"""The commands that a page of documentation shows, run as a reader would run them.

The convention of README.md and docs/:

- A block fenced as ```console or ```sh holds commands: the lines that begin with `$ `. A backslash at the end of a line
  continues on the next, and so do lines that begin with `> ` (a here-document, as a shell prompts for it).
- All commands of a page run in order in one repository, that of examples/textstats: main is checked out, with the tag
  base and the branches regression, improvement, no-change and documentation. From a line `<!-- example: logfmt, needs: go -->` on they
  run in the repository of that example; `needs` names the programs that it is built with.
- A command succeeds, unless its line ends in a comment that tells otherwise: `# exit 1`.
- Lines after a command are its output on both streams; `...` stands for anything, also for several lines. Numbers,
  footnote marks, bars and the amount of white space may be others: what is shown was printed on another machine. A
  command without such lines may print what it wants.
- `<!-- not run: reason -->` on the line before the fence leaves the block out, `<!-- exact -->` wants the very numbers,
  `<!-- at night -->` runs it in `make nightly` only.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>not run: \S.*|exact|at night) -->\n)?```(?:console|sh)\n(?P<body>(?s:.*?))^```$", re.MULTILINE
)
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*\n(?:> ?.*\n)*)(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
EXAMPLE = re.compile(r"^<!-- example: (?P<name>\w+)(?:, needs: (?P<needs>.*))? -->\n", re.MULTILINE)
EXIT = re.compile(r"\s+# exit (\d+)$")
# no number inside a word: a commit or a file's name is not one
BAR = re.compile("[░│┼─├┤●◄►]+")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)|[¹²³⁴⁵⁶⁷⁸⁹⁰]+")


class Shown(NamedTuple):
    """A command of a page, the exit code it is shown with, and the output shown below it."""

    command: str
    code: int
    output: str
    exact: bool = False


def shown_commands(text: str, *, night: bool = True) -> Iterator[Shown]:
    """Find the commands of a page that are to be run, of the nightly run or not; a fenced block without any is a mistake."""
    for block in BLOCK.finditer(text):
        commands = list(COMMAND.finditer(block["body"]))
        assert commands, f"no line begins with '$ ' in:\n{block['body']}"
        mark = block["mark"] or ""
        if mark.startswith("not run") or (mark == "at night" and not night):
            continue
        for match in commands:
            first, *more = match["command"].rstrip("\n").split("\n")
            command = "\n".join([first, *(re.sub("^> ?", "", line) for line in more)])
            code = EXIT.search(command)
            yield Shown(command, int(code[1]) if code else 0, match["output"].strip(), mark == "exact")


class Part(NamedTuple):
    """What a page shows in the repository of one example."""

    example: str
    needs: list[str]
    text: str


def parts(text: str) -> list[Part]:
    """Divide a page at the lines that name an example."""
    before, *named = re.split(f"(?={EXAMPLE.pattern})", text, flags=re.MULTILINE)[::3]
    found = [Part("textstats", [], before)]
    for part in named:
        line = EXAMPLE.match(part)
        assert line is not None
        found.append(Part(line["name"], re.findall(r"[\w+.-]+", line["needs"] or ""), part))
    return found


def matches(output: str, shown: str, *, exact: bool = False) -> bool:
    """Return whether an output is the one that is shown, as far as the convention goes."""
    pattern = ".*".join(re.escape(_plain(part, exact=exact).strip()) for part in shown.split("..."))
    outputs = (output, _without_host(output))
    return not shown or any(re.fullmatch(pattern, _plain(each, exact=exact).strip()) for each in outputs)


def _without_host(output: str) -> str:
    """Leave out what the machine that runs the tests did meanwhile: it is no part of what a page shows."""
    text = re.sub(r"^  - host: .*\n(?:    .*\n)*", "", output, flags=re.MULTILINE)
    if text == output:
        return text
    text = re.sub(r"^warnings\n(?!  - )", "", text, flags=re.MULTILINE)
    return re.sub(r"; \d+ warnings?$", "", text, flags=re.MULTILINE) if "\n  - " not in text else text


def _plain(text: str, *, exact: bool) -> str:
    text = text if exact else NUMBER.sub(lambda number: "0" if number[0].isascii() else "", BAR.sub(" ", text))
    return re.sub(r"\s+", " ", text)


def environment(directory: Path) -> dict[str, str]:
    """Give that of a newcomer: perfgate on PATH, nothing of CI, of Python or of somebody's git set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_", "PYTHON"))}
    kept.pop("CI", None)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # rustup finds its toolchains at home, and go what it has compiled of its own library
    toolchains = {
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup"),
        "GOCACHE": os.environ.get("GOCACHE") or str(Path.home() / ".cache" / "go-build"),
    }
    # wide, so that one more footnote does not turn a table into another form
    return kept | toolchains | {"PATH": path, "HOME": str(directory), "NO_COLOR": "1", "COLUMNS": "120"}


def run_all(commands: list[Shown], directory: Path, env: dict[str, str]) -> None:
    """Run commands and compare each with what its page says."""
    for shown in commands:
        done = subprocess.run(
            ["sh", "-c", shown.command],
            cwd=directory,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        told = f"$ {shown.command}\n{done.stdout}"
        # An uncaught exception exits with 1 too, the code of a regression.
        assert "Traceback" not in done.stdout, f"the page leads to an exception:\n{told}"
        assert done.returncode == shown.code, f"exit {done.returncode}, the page says {shown.code}:\n{told}"
        assert matches(done.stdout, shown.output, exact=shown.exact), f"{told}\nthe page shows:\n{shown.output}"


def run_page(page: Path, scratch: Path, *, night: bool = False) -> int:
    """Run the commands of a page in a fresh repository, of the nightly run or not; returns how many there were.

    A page that measures may be wrong once: a verdict over a few milliseconds is true of most hosts at most times, and a
    page that is wrong is wrong twice.
    """
    count = 0
    for part in parts(page.read_text(encoding="utf-8")):
        commands = list(shown_commands(part.text, night=night))
        if commands:
            try:
                _run_in(scratch / "first", part.example, commands)
            except AssertionError:
                _run_in(scratch / "second", part.example, commands)
        count += len(commands)
    return count


def _run_in(scratch: Path, example: str, commands: list[Shown]) -> None:
    scratch.mkdir(exist_ok=True)
    repository = scratch / example
    subprocess.run([sys.executable, ROOT / "examples" / "make_repo.py", example, repository], check=True)
    run_all(commands, repository, environment(scratch))
