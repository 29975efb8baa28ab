"""What programs wrote reaches the log of a workflow as text, and never as a command of it."""

from __future__ import annotations

import io
import re

import pytest

from gate.cli.main import Harmless, main


def written(*pieces: str) -> str:
    stream = io.StringIO()
    harmless = Harmless(stream)
    assert [harmless.write(piece) for piece in pieces] == [len(piece) for piece in pieces]
    return stream.getvalue()


@pytest.mark.parametrize(
    "pieces",
    [
        ("::error::pwn\n",),
        ("      ::stop-commands::tok\n",),
        ("      ", "::set-output name=x::y"),
        ("a\n", "\t ::add-mask::e"),
        ("a\r::error::x",),
        ("a", "\n", "::error::x"),
        ("\u3000::error::x",),
        ("##[error]x", "a ##[set-env name=LD_PRELOAD]/x.so"),
        (":", ":error::x", "\n#", "#", "[error]y", "\n  :", ":"),
        ("\n\n  ::debug::x\r\n::error::y",),
    ],
)
def test_no_line_is_a_command(pieces: tuple[str, ...]) -> None:
    text = written(*pieces)
    assert "##[" not in text
    assert not any(line.strip().startswith("::") for line in re.split(r"[\r\n]", text))
    assert re.sub(r"[\s:]", "", text) == re.sub(r"[\s:]", "", "".join(pieces))


def test_all_else_is_left_as_it_is() -> None:
    for pieces in (("std::vector", "::push", " a::b\n"), ("a", "::b"), ("[::1]\n", "", "c: :d\n"), ("  x", "::y")):
        assert written(*pieces) == "".join(pieces)


def test_the_command_line_writes_so_in_a_workflow_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for value in ("true", ""):
        monkeypatch.setenv("GITHUB_ACTIONS", value)
        err = io.StringIO()
        main(["report", "##[error]x"], io.StringIO(), err)
        said.append(err.getvalue())
    assert "##[error]x" not in said[0] and "## [error]x" in said[0] and "##[error]x" in said[1]
