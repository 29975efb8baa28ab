"""The commands that README.md shows, run in the order a reader meets them; the convention is in tests/support/pages.py."""

from pathlib import Path

import pytest

from tests.support.pages import ROOT, Shown, environment, matches, run_all, run_page, shown_commands


@pytest.mark.endtoend
def test_the_readme(tmp_path: Path) -> None:
    assert run_page(ROOT / "README.md", tmp_path)


PAGE = """\
Some text with `$ inline`.

```console
$ echo one; echo two
one
$ false  # exit 1
$ echo a \\
    b
a...
$ cat <<'END'
> c
> END
c
```

```toml
$ = "not a command"
```

<!-- not run: takes long -->
```sh
$ exit 9
```

<!-- exact -->
```sh
$ cd /
```

<!-- at night -->
```sh
$ sleep 1
```
"""


def test_what_a_page_shows() -> None:
    assert list(shown_commands(PAGE)) == [
        Shown("echo one; echo two", 0, "one"),
        Shown("false  # exit 1", 1, ""),
        Shown("echo a \\\n    b", 0, "a..."),
        Shown("cat <<'END'\nc\nEND", 0, "c"),
        Shown("cd /", 0, "", exact=True),
        Shown("sleep 1", 0, ""),
    ]
    assert [each.command for each in shown_commands(PAGE, night=False)][-1] == "cd /"


@pytest.mark.parametrize(
    ("output", "shown", "expected"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nb\n", "a\n...", True),
        ("a\n", "a\n...\n", True),
        ("ratio 1.02 (1.01 to 1.03)\n", "ratio ... (... to ...)", True),
        ("ratio 1.02 (-1.1% to +1.03%)\n", "ratio 10.2  (1.01% to -1.0e-3%)", True),
        ("regression ³ ²\n", "regression ¹ ²", True),
        ("a\nb\n", "", True),
        ("a\nb\n", "a", False),
        ("a.b\n", "a+b", False),
        ("1 ms\n", "1 us", False),
        ("commit 3a82e8b\n", "commit 4a82e8b", False),
    ],
)
def test_output_is_compared(output: str, shown: str, expected: bool) -> None:
    assert matches(output, shown) is expected


@pytest.mark.parametrize(
    "shown", [Shown("true", 1, ""), Shown("false", 0, ""), Shown("echo a", 0, "b"), Shown("echo Traceback", 0, "")]
)
def test_a_page_that_lies_fails(shown: Shown, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the page"):
        run_all([shown], tmp_path, environment(tmp_path))
