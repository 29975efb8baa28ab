"""How several columns look: beside each other, below each other in a terminal that is too narrow, in every format."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gate.cli.main import main
from tests.support.compared import Terminal


def shown(*argv: str, width: int | None = None) -> str:
    """What a terminal of a width shows, or a pipe."""
    out = io.StringIO() if width is None else Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", str(width or 80))
        assert main(["compare", *argv], out, io.StringIO()) == 0
    return out.getvalue()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four columns of three builds; the second has no `sort`, and the third is 20% slower."""
    found = []
    for column, factor in enumerate((1.0, 1.01, 1.2, 0.9)):
        for k in range(3):
            names = {"parse": 0.1, "sort": 0.2, "encode/a-very-long-name-that-fills-the-line": 0.3}
            results = [
                {
                    "command": name,
                    "mean": 1,
                    "times": [mean * factor * (1 + 0.01 * ((k * 7 + i * 3) % 4)) for i in range(3)],
                }
                for name, mean in names.items()
                if (name, column) != ("sort", 1)
            ]
            file = tmp_path / f"{column}{k}.json"
            file.write_text(json.dumps({"results": results}))
            found.append(f"{'abcd'[column]}={file}")
    return found


def test_a_pipe_has_all_columns_beside_each_other(files: list[str]) -> None:
    head = next(line for line in shown(*files).split("\n") if line.startswith("benchmark"))
    assert head.split() == ["benchmark", "a", "b", "change", "c", "change", "d", "change"]
    assert "time in ms, lower is better; changes against a with 95% intervals\n" in shown(*files)


@pytest.mark.parametrize("width", [80, 100, 139])
def test_a_terminal_has_what_fits_beside_each_other_and_the_base_in_each_part(files: list[str], width: int) -> None:
    out = shown(*files, width=width)
    assert max(map(len, out.split("\n"))) <= width
    heads = [line.split() for line in out.split("\n") if line.startswith("benchmark")]
    assert all(head[:2] == ["benchmark", "a"] for head in heads)
    assert [name for head in heads for name in head[2::2]] == ["b", "c", "d"]
    assert len(heads) == {80: 3, 100: 3, 139: 2}[width]


def test_a_narrow_terminal_has_a_row_a_paragraph(files: list[str]) -> None:
    out = shown(*files, width=40)
    assert re.search(r"\nparse\n  a \S+ ± \S+\n  b \S+ ± \S+\n    ~ ", out)
    assert max(map(len, out.split("\n"))) <= 40


def test_rows_that_a_column_lacks_have_empty_cells_everywhere(files: list[str]) -> None:
    table = [line for line in shown(*files, "--format", "markdown").split("\n") if line.startswith("| `sort`")]
    assert len(table) == 1
    cells = [cell.strip() for cell in table[0].strip("|").split("|")]
    assert (cells[2], cells[3]) == ("", "")
    assert all(cells[place] for place in (0, 1, 4, 5, 6, 7))
    row = next(row for row in json.loads(shown(*files, "--format", "json"))["rows"] if row["benchmark"] == "sort")
    assert row["cells"]["b"] is None
    assert row["changes"].keys() == {"c", "d"}


def test_json_has_the_documented_keys(files: list[str]) -> None:
    page = (Path(__file__).parents[4] / "docs" / "compare.md").read_text(encoding="utf-8")
    text = page[page.index("`--format json` has stable keys") :].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", text))
    found = json.loads(shown(*files, "--format", "json"))
    row = found["rows"][0]
    keys = {*found, *found["columns"][0], *row, *row["cells"]["a"], *row["changes"]["c"]}
    assert keys == named


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_has_a_table_a_picture_and_nothing_from_elsewhere(files: list[str]) -> None:
    text = shown(*files, "--format", "html")
    page = _Page()
    page.feed(text)
    assert page.tags.count("table") == page.tags.count("svg") == 1
    assert "script" not in page.tags and "link" not in page.tags and "img" not in page.tags
    assert {
        value for name, value in page.attributes if name in ("src", "href") and not str(value).startswith("#")
    } == set()
    # three rows and their geometric mean
    assert text.count('class="badge regression"') == 4
    assert text.count('class="badge improvement"') == 4


def test_two_values_that_are_0_are_no_riddle(tmp_path: Path) -> None:
    for side, errors in (("a", 0), ("b", 0), ("c", 3)):
        text = f"BenchmarkParse 10 5 ns/op {errors} err/op\nBenchmarkWrite 10 7 ns/op {errors} err/op\n"
        (tmp_path / f"{side}.txt").write_text(text, encoding="utf-8")
    a, b, c = (str(tmp_path / f"{side}.txt") for side in "abc")
    assert "BenchmarkParse     0     0  both 0 ¹\n" in shown(a, b)
    assert "BenchmarkParse     0     3  no ratio ²\n" in shown(a, c)
    assert "² the base is 0, so there is no ratio\n" in shown(a, c)
    # with one build of each that is why, also of an extreme
    assert "one build of each" in shown(a, c, "--statistic", "min")
    # what has no ratio is in no geometric mean
    assert "geomean" not in shown(a, b, "--metric", "err/op")


def test_a_geometric_mean_whose_values_say_something_else_has_a_note(tmp_path: Path) -> None:
    def files(side: str, times: list[float]) -> list[str]:
        for number, time in enumerate(times):
            text = f"BenchmarkA 10 {time} ns/op\nBenchmarkB 10 {2 * time} ns/op\n"
            (tmp_path / f"{side}{number}.txt").write_text(text, encoding="utf-8")
        return [f"{side}={tmp_path / f'{side}{number}.txt'}" for number in range(len(times))]

    quiet, slow_once = files("a", [10, 11, 10.5]), files("b", [10, 11, 90])
    note = "the change is over the logarithms of builds"
    assert note in shown(*quiet, *slow_once)
    assert note not in shown(*quiet, *files("c", [20, 21, 20.5]))
