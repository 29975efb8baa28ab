"""The man page and docs/commands.md: tests/test_docs.py says that they are current, this that they are whole and read."""

import os
import re
import shutil
import subprocess

import pytest

from gate.cli.catalogue import entries
from gate.codes import MEANINGS
from scripts import docs
from scripts.command_pages import commands_page, man_page

# of man(7), and of what roff itself takes
MACROS = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi", ".ad", '.\\"'}


def test_the_man_page_has_every_command_option_and_exit_code() -> None:
    text = man_page().replace("\\-", "-")
    for entry in entries():
        section = text.split(f'.SH "PERFGATE {entry.name.upper()}"\n')[1].split("\n.SH ")[0]
        for each in entry.parameters:
            assert f"\n.TP\n.B {each.shown}\n" in section.replace("\\(dq", '"')
    for code in MEANINGS:
        assert f"\n.TP\n.B {code:d}\n" in text


def test_the_man_page_is_made_of_known_macros_and_no_text_is_taken_for_one() -> None:
    lines = man_page().splitlines()
    assert {line.split(" ")[0] for line in lines if line.startswith((".", "'"))} <= MACROS
    assert lines[1].startswith(".TH PERFGATE 1 ")
    # a page that changes with the day would never be current
    assert not re.search(r"20\d\d", lines[1])
    assert all(line.isascii() and line for line in lines)


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_man_renders_it_without_a_warning(width: str) -> None:
    command = ["man", "--warnings", "-E", "UTF-8", "-l", str(docs.MAN)]
    environment = {**os.environ, "MANWIDTH": width, "MANPAGER": "cat"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    assert "--benchmark GLOB" in done.stdout


def test_the_reference_describes_every_option_once_and_names_it_with_each_command() -> None:
    page = commands_page()
    common = rows(page.split("\n## Common options\n")[1].split("\n## ")[0])
    for entry in entries():
        section = page.split(f"\n## perfgate {entry.name}\n")[1].split("\n## ")[0]
        named, above = (
            re.findall(r"`(--[\w-]+)`", "".join(re.findall(rf"{begin}: (.*)\n", section)))
            for begin in (r"\(#common-options\)", r"\nAs `perfgate \w+` above")
        )
        assert sorted([*rows(section), *named, *above]) == sorted(
            each.flag if each.flag in [*named, *above] else each.shown for each in entry.parameters
        )
        leader = page.split(f"\n## perfgate {entry.name.partition(' ')[0]}\n")[1].split(
            f"\n## perfgate {entry.name}\n"
        )[0]
        for each in entry.parameters:
            assert each.flag not in named or each.shown in common
            assert each.flag not in above or each.shown in rows(leader)
        assert entry.usage in section and entry.command.example in section
    assert "- `--base REF`: commit to compare with (default: the merge base with the default branch)\n" in page


def rows(section: str) -> list[str]:
    return re.findall(r"^- `(.*?)`: ", section, re.MULTILINE)
