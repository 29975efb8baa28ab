"""The pages of docs/ and the man page: what is generated is current and whole, what is shown true, what is linked there."""

import io
import os
import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

from gate.cli.catalogue import entries
from gate.cli.main import main
from gate.codes import MEANINGS
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.study import OF_RUNS
from gate.config.types import Builds, Columns, Config, TomlTable
from scripts import docs
from scripts.command_pages import commands_page, man_page
from tests.support.pages import ROOT, parts, run_page, shown_commands

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TOML = re.compile(r"^```toml\n((?s:.*?))^```$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]*))?\)")
OF_DOCS = {page: page.read_text(encoding="utf-8") for page in PAGES if page.parent != ROOT}
BY_DAY = [page for page, text in OF_DOCS.items() if any(shown_commands(text, night=False))]
AT_NIGHT = [page for page, text in OF_DOCS.items() if "\n<!-- at night -->\n" in text]


def test_generated_files_are_current() -> None:
    for file, text in docs.generated().items():
        written = file.read_text(encoding="utf-8") if file.exists() else ""
        assert written == text, f"{file.relative_to(ROOT)} is stale: run `make docs`"


@pytest.mark.parametrize(
    ("command", "file"), [("config", docs.SCHEMA), ("report", docs.ROOT / "gate" / "report.schema.json")]
)
def test_the_command_prints_the_shipped_schema(command: str, file: Path) -> None:
    out = io.StringIO()
    assert main([command, "--schema"], out, io.StringIO()) == 0
    assert out.getvalue() == file.read_text(encoding="utf-8")


def test_the_reference_has_every_table() -> None:
    # Builds and Columns are inline tables, described where they stand
    described = {section.table for section in docs.sections()} | {Config, Builds, Columns}
    assert described == set(TomlTable.__subclasses__())


def test_each_key_stands_on_one_page() -> None:
    shown = Counter((section.table, field.name) for section in docs.sections() for field in section.fields)
    known = {(table, field.name) for table in docs.TABLES.values() for field in msgspec.structs.fields(table)}
    assert set(shown.values()) == {1}
    assert {name for _, name in known - set(shown)} <= set(OF_RUNS)
    assert sum(len(section.fields) for section in docs.sections() if section.page == docs.REFERENCE) <= 40


@pytest.mark.parametrize("section", docs.sections(), ids=lambda section: f"{section.page.stem} {section.heading}")
def test_examples_show_every_key_and_are_valid(section: docs.Section) -> None:
    for example in section.examples:
        parse(read_source(example, "example"))
    for field in section.fields:
        key = re.escape(field.encode_name)
        shown = re.compile(rf"^(\[.*\.)?{key}( = |\.)", re.MULTILINE)
        assert any(shown.search(example) for example in section.examples), f"no {field.encode_name}"


def test_exit_codes() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8").replace("`", "")
    rows = dict(re.findall(r"^\| (\d) \| (.*) \|$", page, re.MULTILINE))
    assert {int(code) for code in rows} == set(MEANINGS)
    assert [code for code, meaning in MEANINGS.items() if not rows[str(code.value)].startswith(meaning)] == []


def test_configurations_on_pages_are_valid() -> None:
    for page in PAGES:
        for text in TOML.findall(page.read_text(encoding="utf-8")):
            parse(read_source(text, page.name))


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        # a link within code is shown, not followed
        blocks = re.sub(r"^( *)(`{3,}).*?\n(?:.*\n)*?\1\2 *$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        text = re.sub(r"`[^`\n]*\]\([^`\n]*`", "", blocks)
        for target, fragment in LINK.findall(text):
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name} links to {target}"
            assert not fragment or fragment in anchors(file), f"{page.name} links to {target}#{fragment}"


@cache
def anchors(page: Path) -> set[str]:
    # as the forges make them of headings
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/design.md", "docs/releasing.md", "docs/dependencies.md"])
def test_targets_and_files_named_to_contributors_exist(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", page, re.MULTILINE)) - set(targets) == set()
    files = re.findall(r"(?<![\w/.-])((?:gate|harness|scripts|templates|tests|examples|benchmarks)/[\w./-]+)", page)
    assert [file for file in files if "NAME" not in file and not (ROOT / file.rstrip(".")).exists()] == []


def test_make_evidence_writes_its_page_by_the_command_that_the_page_names() -> None:
    page = (ROOT / "docs/evidence.md").read_text(encoding="utf-8")
    [command] = re.findall(r"^    python (-m benchmarks.evidence .*)$", page, re.MULTILINE)
    assert f" {command}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.endtoend
@pytest.mark.parametrize("page", BY_DAY, ids=lambda page: page.name)
def test_commands_on_pages(page: Path, tmp_path: Path) -> None:
    run_with_its_programs(page, tmp_path)


@pytest.mark.endtoend
@pytest.mark.nightly
@pytest.mark.parametrize("page", AT_NIGHT, ids=lambda page: page.name)
def test_commands_that_take_long(page: Path, tmp_path: Path) -> None:
    run_with_its_programs(page, tmp_path, night=True)


def run_with_its_programs(page: Path, scratch: Path, *, night: bool = False) -> None:
    if re.search(r"^\$ jq ", page.read_text(encoding="utf-8"), re.MULTILINE) and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    missing = [
        need for part in parts(page.read_text(encoding="utf-8")) for need in part.needs if not shutil.which(need)
    ]
    if missing:
        pytest.skip(f"absent: {', '.join(missing)}")
    run_page(page, scratch, night=night)


# --- the commands, in docs/commands.md and in the man page --------------------------------------------------------------

# of man(7), and of what roff itself takes
OF_ROFF = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi", ".ad", '.\\"'}


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
    assert {line.split(" ")[0] for line in lines if line.startswith((".", "'"))} <= OF_ROFF
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
        leader = page.split(f"\n## perfgate {entry.name.partition(' ')[0]}\n")[1]
        leader = leader.split(f"\n## perfgate {entry.name}\n")[0]
        for each in entry.parameters:
            assert each.flag not in named or each.shown in common
            assert each.flag not in above or each.shown in rows(leader)
        assert entry.usage in section and entry.command.example in section
    assert "- `--base REF`: commit to compare with (default: the merge base with the default branch)\n" in page


def rows(section: str) -> list[str]:
    return re.findall(r"^- `(.*?)`: ", section, re.MULTILINE)
