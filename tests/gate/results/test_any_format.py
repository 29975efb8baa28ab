"""A file of any format read as any other: refused in one line, or nothing is wrong with it."""

from pathlib import Path

import pytest

from gate.model import UserError
from gate.results.formats import names
from gate.results.reading import read
from gate.results.source import Source
from tests.support.foreign import DATA

FILES = sorted(f for folder in DATA.iterdir() for f in folder.iterdir() if f.is_file() and f.name != "README.md")


@pytest.mark.parametrize("name", names())
def test_files_of_other_formats(name: str) -> None:
    for file in FILES:
        why = ""
        try:
            read(Source("x", None, Path(file).read_bytes()), name)
        except UserError as error:
            why = str(error)
        assert "\n" not in why


@pytest.mark.parametrize("text", ['{"results":[{"command":"x","times":[1.0,2.5', '{"results":[{"command":"x","mea'])
def test_json_that_is_cut_off_is_said_to_be(text: str) -> None:
    with pytest.raises(UserError) as raised:
        read(Source("x.json", None, text.encode()), "hyperfine")
    assert str(raised.value) == (
        "x.json: hyperfine: hyperfine's JSON is cut off: copy the file again, or measure again"
    )
