import base64
import gzip
import re
import shlex
from typing import Any

import msgspec

from gate.model import Commit, Report
from gate.report.measurements import Attachment, Material
from gate.report.page import html
from gate.report.page.embedded import Again, again_of, data_of
from gate.report.page.html import page_of
from tests.gate.report import examples

LINES = b'{"type":"run"}\n'


def again(*names: str, options: list[str] | None = None, **facts: Any) -> Again:
    report = msgspec.structs.replace(examples.passing(), run=examples.run_facts(**facts))
    return again_of(report, data_of([Attachment(name, LINES) for name in names]), options or [])


def test_the_commands_name_the_file_as_the_page_saves_it() -> None:
    commands = again("measurements.jsonl")
    assert commands.decide == "perfgate decide measurements.jsonl.gz"
    assert commands.one == "perfgate report measurements.jsonl.gz"


def test_without_files_in_the_page_they_name_those_beside_it() -> None:
    assert again().decide == "perfgate decide measurements.jsonl"


def test_what_it_was_decided_with_is_part_of_the_commands() -> None:
    commands = again("a b.jsonl", options=["--set", "gate.threshold=1%", "--benchmark", "x*"])
    assert shlex.split(commands.decide)[2:] == ["a b.jsonl.gz", "--set", "gate.threshold=1%", "--benchmark", "x*"]
    # a second selection would add to the first
    assert shlex.split(commands.one)[2:] == ["a b.jsonl.gz", "--set", "gate.threshold=1%"]


def test_measuring_again_names_both_commits_and_the_seed() -> None:
    base, head = Commit(ref="main", sha="a" * 40, dirty=False), Commit(ref="HEAD", sha="b" * 40, dirty=False)
    assert again(seed=7, base=base, head=head).measure == (
        f"perfgate check --base {'a' * 40} --head {'b' * 40} --seed 7"
    )
    # what was not committed has no commit: check measures the working tree
    dirty = msgspec.structs.replace(head, dirty=True)
    assert "--head" not in again(seed=7, base=base, head=dirty).measure
    assert again(seed=None, base=base, head=head).measure == ""


def test_hostile_commits_stay_one_word_of_the_command() -> None:
    for name in examples.HOSTILE:
        words = again(seed=1, base=Commit(ref=name, sha=name, dirty=False), head=None).measure
        assert words.isprintable()


def test_a_file_saved_from_a_page_gives_the_same_file_again() -> None:
    first = data_of([Attachment("measurements.jsonl", LINES)]).files[0]
    saved = base64.b64decode(first.address.partition(",")[2])
    assert gzip.decompress(saved) == LINES
    assert data_of([Attachment(first.name, saved)]).files == (first,)


def overall(report: Report) -> list[str]:
    return [f"{fact.name}: {fact.text}" for fact in page_of(report, Material()).overall]


def test_the_overall_change_tells_its_confidence_and_what_it_is_over() -> None:
    (text,) = overall(examples.regression())[:1]
    assert re.search(r"95% interval over \d+ builds of each\), geometric mean of \d+ cases", text)


def test_a_failure_begins_with_the_name_as_it_is() -> None:
    assert "<h3>parse-large failed" in html.render(examples.only_failures())
