import io
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse

TEXT = '[gate]\nthreshold = "3%"\nconfidense = 0.95\n\n[[benchmark]]\nname = "a"\n\tcommand = 3\n'
MARKED = """\
  |
3 | confidense = 0.95
  | ^^^^^^^^^^
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_error_shows_the_line_of_the_file() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(read_source(TEXT, "perfgate.toml"))
    first, second = (each.excerpt for each in caught.value.errors)
    assert f"{first}\n" == MARKED
    assert second.splitlines()[1:] == ["7 |     command = 3", "  |     ^^^^^^^"]


def test_only_a_terminal_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    rules, measured = tmp_path / "small.toml", tmp_path / "m.jsonl"
    rules.write_text(TEXT)
    measured.write_text("")
    said = []
    for err in (io.StringIO(), Terminal()):
        assert main(["decide", str(measured), "--rules", str(rules)], io.StringIO(), err) == 2
        said.append(err.getvalue())
    assert said[0].count("\n") == said[0].count("perfgate: ") and MARKED not in said[0]
    assert MARKED in said[1]
