"""What the first step hands to the others: names that no two gates share, and nothing that is too long for them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from gate.github.publishing.request import LONGEST, as_inputs, folded, id_of, request_of, slug_of
from gate.model import UserError
from gate.model.warnings.base import Said
from gate.model.warnings.checkout import MoreWarnings, SubmoduleAbsent
from tests.support.workflow_job import Job, changed

TOP = Path("/repository")


def named(folder: str) -> str:
    return id_of("", TOP / folder, TOP)


@pytest.mark.parametrize("folder", ["a-b", "crate", "A.b_c-9", "x" * 60])
def test_a_plain_folder_is_its_name(folder: str) -> None:
    assert named(folder) == slug_of(PurePosixPath(folder)) == folder


def test_no_two_folders_have_one_name() -> None:
    folders = ["a-b", "a/b", "a b", "ü", "ö", "x" * 60, "x" * 61 + "1", "x" * 61 + "2", "perfgate", "\udcff"]
    names = [named(folder) for folder in folders]
    assert len({name.casefold() for name in names} | {id_of("", TOP, TOP)}) == len(folders) + 1
    for name in names:
        assert id_of(name, TOP, TOP) == name, "what a folder is named could have been the input"
    # whoever wrote it into a required check needs it to stay
    assert named("a/b") == "a-b-c14cddc0"
    assert named("x" * 61).startswith("x" * 51 + "-") and len(named("x" * 61)) == 60


def test_many_warnings_are_folded() -> None:
    many = [SubmoduleAbsent(f"lib/{number}") for number in range(700)]
    assert folded(many) == [*many[:10], MoreWarnings(690)]
    assert folded(many[:11])[-1] == MoreWarnings(1)
    assert folded(many[:10]) == many[:10]
    (short,) = folded([SubmoduleAbsent("long " * 1000 + "end\x1b\n")])
    assert isinstance(short, SubmoduleAbsent)
    assert len(short.path) <= 500 and short.path.startswith("long ") and short.path.isprintable()
    assert folded(["of an older step"]) == [Said("of an older step")]


def test_what_one_step_cannot_give_the_next_is_refused(tmp_path: Path) -> None:
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = Job(project, tmp_path / "job", "push", {"repository": {"full_name": "acme/widget", "default_branch": "main"}})
    # each fits its own variable
    for inputs in (
        {"benchmark": "\n".join(f"bench-{number:06}" for number in range(8_000))},
        {"set": "\n".join(f"gate.x{number:06}=1" for number in range(8_000))},
        {"set": "\n".join("\x01" * 60 for number in range(2_000))},
        {"set": "\n".join(map(str, range(8_000)))},
        {"base": "b" * 120_000},
        {"config": "\U0001f600" * 30_000},
    ):
        job.project.git("switch", "-q", "main")
        prepared = job.step("prepare", **inputs)
        text = prepared.outputs["request"]
        assert prepared.outputs["measure"] == "false"
        assert len(text.encode()) < LONGEST
        request = request_of({"INPUT_REQUEST": text})
        assert request.notices[0].code == 2
        assert job.run(**inputs).code == 2
    assert job.step("prepare", benchmark="\n".join(["bench"] * 100)).outputs["measure"] == "true"


def test_a_flood_of_warnings_reaches_neither_log_nor_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gate.commands.action.commits import Sides

    many = tuple(SubmoduleAbsent(f"lib/{number}") for number in range(700))
    monkeypatch.setattr("gate.commands.action.commits.fetch_missing", lambda *_, **__: Sides(None, warnings=many))
    project = changed(tmp_path / "repository", base=0.1, head=0.1)
    job = Job(project, tmp_path / "job", "push", {"repository": {"full_name": "acme/widget", "default_branch": "main"}})
    prepared = job.step("prepare")
    expected = [*many[:10], MoreWarnings(690)]
    assert prepared.said("warning") == [*(each.sentence() for each in expected)]
    assert request_of({"INPUT_REQUEST": prepared.outputs["request"]}).warnings == expected


def test_two_gates_of_one_folder_are_told_apart_by_their_files() -> None:
    names = [id_of("", TOP / "sub", TOP, config) for config in (None, "perfgate.toml", "a.toml", "ci/b.toml")]
    assert names[0] == names[1] == "sub"
    assert len(set(names)) == 3
    assert id_of("", TOP, TOP, "a.toml") == "a"
    assert id_of("named", TOP, TOP, "a.toml") == "named"


def test_messages_name_inputs_where_the_command_line_has_options() -> None:
    error = UserError("gate.thresh=5%: no such key", option="set")
    assert (str(error), as_inputs(error)) == (
        "--set gate.thresh=5%: no such key",
        "input set gate.thresh=5%: no such key",
    )
    assert as_inputs(UserError("take --set out")) == "take --set out"
    assert as_inputs(UserError("5: is for studies", option="replicates")) == "--replicates 5: is for studies"
