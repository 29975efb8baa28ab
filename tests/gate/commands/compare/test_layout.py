"""How several columns look: beside each other, below each other in a terminal that is too narrow, in every format."""

import json
import re
from pathlib import Path

import pytest

from tests.support.compared import hyperfine, in_terminal, shown


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four columns of three builds; the second has no `sort`, and the third is 20% slower."""
    found = []
    for column, factor in {"a": 1.0, "b": 1.01, "c": 1.2, "d": 0.9}.items():
        means = {"parse": 0.1, "sort": 0.2, "encode/a-very-long-name-that-fills-the-line": 0.3}
        if column == "b":
            del means["sort"]
        for k in range(3):
            spread = [factor * (1 + 0.01 * ((k * 7 + i * 3) % 4)) for i in range(3)]
            values = {name: [mean * each for each in spread] for name, mean in means.items()}
            found.append(f"{column}={hyperfine(tmp_path / f'{column}{k}.json', values)}")
    return found


@pytest.mark.parametrize(("width", "parts"), [(80, 3), (100, 3), (139, 2)])
def test_a_terminal_has_what_fits_beside_each_other_and_the_base_in_each_part(
    files: list[str], width: int, parts: int
) -> None:
    out = in_terminal(*files, width=width)
    assert max(map(len, out.split("\n"))) <= width
    heads = [line.split() for line in out.split("\n") if line.startswith("benchmark")]
    assert all(head[:2] == ["benchmark", "a"] for head in heads)
    assert [name for head in heads for name in head[2::2]] == ["b", "c", "d"]
    assert len(heads) == parts
    assert "time in ms, lower is better; changes against a with 95% intervals\n" in out


def test_rows_that_a_column_lacks_have_empty_cells_and_json_has_the_documented_keys(files: list[str]) -> None:
    (line,) = (line for line in shown(*files, "--format", "markdown").split("\n") if line.startswith("| `sort`"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert (cells[2], cells[3]) == ("", "")
    assert all(cells[place] for place in (0, 1, 4, 5, 6, 7))
    found = json.loads(shown(*files, "--format", "json"))
    assert (found["schema"], found["base"], [c["title"] for c in found["columns"]]) == (1, "a", ["a", "b", "c", "d"])
    assert [row["benchmark"] for row in found["rows"]][1::2] == ["sort", "all"]
    row, sort = found["rows"][:2]
    assert sort["cells"]["b"] is None
    assert sort["changes"].keys() == {"c", "d"}
    page = (Path(__file__).parents[4] / "docs" / "compare.md").read_text(encoding="utf-8")
    documented = page[page.index("`--format json` has stable keys") :].partition("\n\n")[0]
    keys = {*found, *found["columns"][0], *row, *row["cells"]["a"], *row["changes"]["c"]}
    assert keys == set(re.findall(r"`(\w+)`", documented))


def test_the_page_has_a_table_and_nothing_from_elsewhere(files: list[str]) -> None:
    text = shown(*files, "--format", "html")
    tags = re.findall(r"<(\w+)", text)
    assert tags.count("table") == 1 and not {"script", "link", "img", "svg"} & set(tags)
    assert not re.search(r"(src|href)=(?!\"#)", text)
    assert [text.count(f'class="badge {tone}"') for tone in ("regression", "improvement")] == [3, 3]


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
    assert "geomean" not in shown(a, b, "--filter", "metric:err/op")
