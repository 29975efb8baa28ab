"""The config of a text, and what is said of one that is wrong."""

import pytest

from gate.config.config_text import ConfigError, read_source
from gate.config.parse import parse
from gate.config.study import Study
from gate.config.types import Config


def config(text: str) -> Config:
    return parse(read_source(text, "perfgate.toml"))


def study(text: str) -> Study:
    found = config(text).study
    assert found is not None
    return found


def error(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        config(text)
    return str(caught.value)
