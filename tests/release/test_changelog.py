"""The notes of a release are its section of CHANGELOG.md, readable where only they are shown."""

from datetime import date
from pathlib import Path

import pytest

from scripts.release.changelog import Changelog, released
from scripts.release.errors import ReleaseError
from scripts.release.links import absolute

ROOT = Path(__file__).parents[2]
BLOB = "https://github.com/perfgate/perfgate/blob"
TEXT = """\
# Changelog

All changes.

## [Unreleased]

- A later thing.

## [1.1.0] - 2027-02-28

### Added

- `perfgate sing` is described in
  [docs/sing.md](docs/sing.md#tunes), and
  takes two lines.
- Another:

  ```console
  $ perfgate sing
  [no](link.md)
  ```

A paragraph
of two lines.

## [1.0.0] - 2026-12-01

- First.
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(TEXT)
    return tmp_path


def test_notes_are_the_section_of_the_release(top: Path) -> None:
    changelog = Changelog.read(top)
    assert [release.version for release in changelog.releases] == ["1.1.0", "1.0.0"]
    assert changelog.notes("1.0.0") == "- First.\n"
    assert changelog.preview() == "- A later thing.\n"


def test_notes_are_without_line_breaks_and_relative_links_but_code_stays(top: Path) -> None:
    assert (
        Changelog.read(top).notes("1.1.0")
        == f"""\
### Added

- `perfgate sing` is described in [docs/sing.md]({BLOB}/v1.1.0/docs/sing.md#tunes), and takes two lines.
- Another:

  ```console
  $ perfgate sing
  [no](link.md)
  ```

A paragraph of two lines.
"""
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("## [1.1.0] - 2027-02-28", "## 1.1.0"), "'## 1.1.0' is not a heading"),
        (("2027-02-28", "2027-02-30"), "2027-02-30 is not a date"),
        (("## [Unreleased]\n", ""), "no line `## [Unreleased]`"),
    ],
)
def test_another_form_is_refused(top: Path, change: tuple[str, str], words: str) -> None:
    (top / "CHANGELOG.md").write_text(TEXT.replace(*change))
    with pytest.raises(ReleaseError) as caught:
        Changelog.read(top)
    assert words in str(caught.value)


def test_a_release_without_notes_is_refused(top: Path) -> None:
    (top / "CHANGELOG.md").write_text(TEXT.replace("- First.\n", ""))
    with pytest.raises(ReleaseError, match="nothing under"):
        Changelog.read(top).notes("1.0.0")
    with pytest.raises(ReleaseError, match="has no"):
        Changelog.read(top).notes("0.9.0")


def test_what_is_unreleased_becomes_a_release(top: Path) -> None:
    (top / "CHANGELOG.md").write_text(released(TEXT, "1.2.0", date(2027, 3, 1)))
    changelog = Changelog.read(top)
    assert changelog.unreleased.strip() == ""
    assert changelog.newest and (changelog.newest.version, changelog.newest.date) == ("1.2.0", "2027-03-01")
    assert changelog.notes("1.2.0") == "- A later thing.\n"
    assert [release.version for release in changelog.releases] == ["1.2.0", "1.1.0", "1.0.0"]


@pytest.mark.parametrize(("text", "version"), [(TEXT.replace("- A later thing.\n", ""), "1.2.0"), (TEXT, "1.1.0")])
def test_nothing_to_release_or_released_already(text: str, version: str) -> None:
    with pytest.raises(ReleaseError):
        released(text, version, date(2027, 3, 1))


def test_our_own_changelog_can_be_released() -> None:
    Changelog.read(ROOT)
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if Changelog.read(ROOT).unreleased.strip():
        assert "\n## [99.0.0] - 2027-03-01\n" in released(text, "99.0.0", date(2027, 3, 1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[a](b.md)", f"[a]({BLOB}/v1/docs/b.md)"),
        ("[a](../b.md#c)", f"[a]({BLOB}/v1/b.md#c)"),
        ("[`a[0]`](b)", f"[`a[0]`]({BLOB}/v1/docs/b)"),
        ("![a](i.svg)", "![a](https://raw.githubusercontent.com/perfgate/perfgate/v1/docs/i.svg)"),
        (
            "[![a](i.svg)](b.md)",
            f"[![a](https://raw.githubusercontent.com/perfgate/perfgate/v1/docs/i.svg)]({BLOB}/v1/docs/b.md)",
        ),
        (
            '<img alt="x" src="i.svg">',
            '<img alt="x" src="https://raw.githubusercontent.com/perfgate/perfgate/v1/docs/i.svg">',
        ),
        ("[a](mailto:a@example.org)", "[a](mailto:a@example.org)"),
        ("```\n[a](b.md)\n```", "```\n[a](b.md)\n```"),
    ],
)
def test_links(before: str, after: str) -> None:
    assert absolute(before, "v1", page="docs/x.md") == after
