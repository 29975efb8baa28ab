"""The pages of docs/: what is generated is current, what is shown is true, what is linked exists."""

import io
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

from gate.cli.main import main
from gate.codes import MEANINGS
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.study import OF_RUNS
from gate.config.types import Builds, Columns, Config, Table
from scripts import docs
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
    assert described == set(Table.__subclasses__())


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_configurations_on_pages_are_valid(page: Path) -> None:
    for text in TOML.findall(page.read_text(encoding="utf-8")):
        parse(read_source(text, page.name))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    # a link within code is shown, not followed
    blocks = re.sub(r"^( *)(`{3,}).*?\n(?:.*\n)*?\1\2 *$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*\]\([^`\n]*`", "", blocks)
    for target, fragment in LINK.findall(text):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if fragment:
            assert fragment in anchors(file), f"{page.name} links to {target}#{fragment}"


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
