"""What a file says: the example of the design, defaults, places, the table in pyproject.toml, another tool's file."""

from pathlib import Path

import pytest

from gate.config.config_text import (
    ConfigError,
    line_of,
    project_source,
    read_source,
)
from gate.config.parse import parse
from gate.config.types import Config, Detectable
from gate.units import Share
from tests.gate.config.reading import config

EXAMPLE = (Path(__file__).parents[2] / "data/config/gate.toml").read_text(encoding="utf-8")


def test_the_example_of_the_design() -> None:
    found = config(EXAMPLE)
    assert found.gate.threshold == 0.03
    assert float(found.plan.budget) == 900
    assert found.accept[0].until.isoformat() == "2026-12-31"
    assert found.env.pass_ == ["LD_LIBRARY_PATH"]
    assert found.benchmark[1].metric["latency"].threshold == 0.05


def test_an_empty_file_is_all_defaults() -> None:
    assert config("") == Config()
    assert config("\ufeff# with a byte order mark\r\n") == Config()


def test_a_place_is_the_line_where_the_statement_begins() -> None:
    text = '# top\n[a]\nx = """\ny\n"""\n\n# about z\nz = {b = 1}\n[[c]]\nd = 1\n[[c]]\n"e f" = 2\n'
    lines = [("a", "x"), ("a", "z", "b"), ("c", 0), ("c", 1, "e f"), ("nothing",)]
    assert [line_of(text, path) for path in lines] == [3, 8, 9, 12, None]


def test_pyproject_holds_the_same_keys() -> None:
    text = '[project]\nname = "x"\n\n[tool.perfgate.gate]\nthreshold = "x%"\n'
    source = project_source(None, text, "base")
    assert source is not None
    with pytest.raises(ConfigError, match=r"^base: pyproject.toml:5: gate.threshold: 'x%' is not a share: write "):
        parse(source)
    assert project_source(None, '[project]\nname = "perfgate"\n') is None
    with pytest.raises(ConfigError, match="keep one of them"):
        project_source("", text)


def test_a_threshold_of_0_may_stay_open_where_no_sign_is_enough() -> None:
    text = '[gate]\ninconclusive = "fail"\n[[override]]\nbenchmark = "a"\nthreshold = 0\ndetectable = "10%"\n'
    assert parse(read_source(text, "perfgate.toml")).override[0].detectable == Share(0.1)
    # an override that another one gives a smaller threshold
    # as `show` had it, which is read on
    old = parse(read_source(text.replace('detectable = "10%"', 'show = "no-sign"'), "perfgate.toml"))
    assert old == parse(read_source(text, "perfgate.toml"))
    assert parse(read_source('[gate]\nshow = "not-worse"\n', "perfgate.toml")).gate.detectable == Detectable(0)
    # the default, of a size that depends on the metric, where it does not have to win
    for line, size in (("", None), ('inconclusive = "fail"\n', Detectable(0.1))):
        assert parse(read_source(f'[gate]\nshow = "no-sign"\n{line}', "perfgate.toml")).gate.detectable == size
    large = parse(read_source('[gate]\nthreshold = "12%"\ninconclusive = "fail"\nshow = "no-sign"\n', "perfgate.toml"))
    other = parse(read_source('[gate]\nthreshold = "12%"\n[[override]]\nshow = "no-sign"\n', "perfgate.toml"))
    assert large.gate.detectable == other.override[0].detectable == Share(0.24)
    with pytest.raises(ConfigError, match=r'gate\.show: unknown key; write detectable = "threshold"'):
        parse(read_source('[gate]\nshow = "all"\n', "perfgate.toml"))
    text = '[[override]]\nthreshold = "1%"\n[[override]]\ndetectable = "2%"\n'
    assert parse(read_source(text, "perfgate.toml")).override[1].detectable == Share(0.02)


OURS = '[gate]\nthreshold = "3%"\n'
TABLE = '[tool.perfgate.gate]\nthreshold = "3%"\n'


def test_one_of_two_configurations_is_refused() -> None:
    with pytest.raises(ConfigError, match="keep one of them"):
        project_source(OURS, TABLE)
