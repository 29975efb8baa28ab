import pytest

from gate.config.config_text import ConfigError, project_source, tables_of_namesake, why_namesake

ITS = '[defaults]\nrepeat = 7\nthreshold = 0.2\n\n[[bench]]\nname = "pst_extract"\ncommand = ["sh", "-c", "true"]\n'
OURS = '[gate]\nthreshold = "3%"\n'
TABLE = '[tool.perfgate.gate]\nthreshold = "3%"\n'


def test_the_other_tools_file_is_no_configuration() -> None:
    assert project_source(ITS, None) is None


def test_beside_it_the_table_in_pyproject_counts() -> None:
    source = project_source(ITS, TABLE)
    assert source is not None
    assert (source.name, source.tables) == ("pyproject.toml", {"gate": {"threshold": "3%"}})
    with pytest.raises(ConfigError, match="keep one of them"):
        project_source(OURS, TABLE)


def test_a_file_of_ours_with_one_of_its_tables_is_ours() -> None:
    source = project_source(OURS + ITS, None)
    assert source is not None
    assert tables_of_namesake(source.tables) == ()


@pytest.mark.parametrize("tables", [{}, {"benchmarks": []}, {"tool": {}}])
def test_a_file_with_none_of_its_tables_is_not_its(tables: dict[str, object]) -> None:
    assert tables_of_namesake(tables) == ()


def test_its_tables_are_named_as_they_are_written() -> None:
    why = why_namesake({"ratchet": {}, "bench": [{}], "unknown": 1})
    assert "[[bench]], [ratchet]" in why
    assert "unknown" not in why
