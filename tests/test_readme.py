"""The commands that README.md shows, run in the order a reader meets them.

The convention of README.md:

- A block fenced as ```console or ```sh holds commands: the lines that begin with `$ ` (a backslash at the end continues
  on the next line).
- All of them run in one repository, that of examples/textstats: main is checked out, with the tag base and the branches
  regression, improvement and no-change.
- A command succeeds, unless its line ends in a comment that tells otherwise: `# exit 1`.
- Lines after a command are its output on both streams; `...` stands for anything, also for several lines. A command
  without such lines may print what it wants.
- `<!-- not run: reason -->` on the line before the fence leaves the block out.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^(?P<skip><!-- not run: \S.* -->\n)?```(?:console|sh)\n(?P<body>(?s:.*?))^```$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
EXIT = re.compile(r"\s+# exit (\d+)$")


class Shown(NamedTuple):
    command: str
    code: int
    output: str


def shown_commands(text: str) -> Iterator[Shown]:
    """The commands of a page that are to be run; a fenced block without any is a mistake."""
    for block in BLOCK.finditer(text):
        commands = list(COMMAND.finditer(block["body"]))
        assert commands, f"no line begins with '$ ' in:\n{block['body']}"
        if block["skip"]:
            continue
        for match in commands:
            code = EXIT.search(match["command"])
            yield Shown(match["command"], int(code[1]) if code else 0, match["output"].strip())


def matches(output: str, shown: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return not shown or re.fullmatch(pattern, output.strip(), flags=re.DOTALL) is not None


def environment(directory: Path) -> dict[str, str]:
    """That of a newcomer: perfgate on PATH, nothing of CI, of Python or of somebody's git set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_", "PYTHON"))}
    kept.pop("CI", None)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return kept | {"PATH": path, "HOME": str(directory), "NO_COLOR": "1"}


def run_all(commands: list[Shown], directory: Path, env: dict[str, str]) -> None:
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
        assert "Traceback" not in done.stdout, f"README leads to an exception:\n{told}"
        assert done.returncode == shown.code, f"exit {done.returncode}, README says {shown.code}:\n{told}"
        assert matches(done.stdout, shown.output), f"{told}\nREADME shows:\n{shown.output}"


@pytest.mark.xdist_group("measures")
def test_the_readme(tmp_path: Path) -> None:
    repository = tmp_path / "textstats"
    subprocess.run([sys.executable, ROOT / "examples" / "make_repo.py", "textstats", repository], check=True)
    commands = list(shown_commands((ROOT / "README.md").read_text(encoding="utf-8")))
    assert commands
    run_all(commands, repository, environment(tmp_path))


PAGE = """\
Some text with `$ inline`.

```console
$ echo one; echo two
one
$ false  # exit 1
$ echo a \\
    b
a...
```

```toml
$ = "not a command"
```

<!-- not run: takes long -->
```sh
$ exit 9
```

```sh
$ cd /
```
"""


def test_what_a_page_shows() -> None:
    assert list(shown_commands(PAGE)) == [
        Shown("echo one; echo two", 0, "one"),
        Shown("false  # exit 1", 1, ""),
        Shown("echo a \\\n    b", 0, "a..."),
        Shown("cd /", 0, ""),
    ]


def test_a_block_without_commands_is_refused() -> None:
    with pytest.raises(AssertionError, match="no line begins with"):
        list(shown_commands("```console\nmake test\n```\n"))


@pytest.mark.parametrize(
    ("output", "shown", "expected"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nb\n", "a\n...", True),
        ("ratio 1.02 (1.01 to 1.03)\n", "ratio ... (... to ...)", True),
        ("a\nb\n", "", True),
        ("a\nb\n", "a", False),
        ("a.b\n", "a+b", False),
    ],
)
def test_output_is_compared(output: str, shown: str, expected: bool) -> None:
    assert matches(output, shown) is expected


@pytest.mark.parametrize(
    "shown", [Shown("true", 1, ""), Shown("false", 0, ""), Shown("echo a", 0, "b"), Shown("echo Traceback", 0, "")]
)
def test_a_page_that_lies_fails(shown: Shown, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="README"):
        run_all([shown], tmp_path, environment(tmp_path))
