"""What the first step hands to the others: names that no two gates share, and nothing that is too long for them."""

import itertools
import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from gate.model import UserError
from gate.model.warnings.base import Said
from gate.publishing.request import as_inputs, folded, id_of, leg_of, request_of, slug_of
from tests.support.workflow_job import Job, changed

TOP = Path("/repository")
DEFAULT = {"repository": {"full_name": "acme/widget", "default_branch": "main"}}


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
    many = [Said(f"lib/{number}", "submodule-absent") for number in range(700)]
    assert folded(many) == [*many[:10], Said("and 690 more warnings")]
    assert folded(many[:11])[-1] == Said("and 1 more warning")
    assert folded(many[:10]) == many[:10]
    (short,) = folded([Said("long " * 1000 + "end\x1b\n")])
    assert isinstance(short, Said)
    assert len(short.text) <= 500 and short.text.startswith("long ") and short.text.isprintable()
    assert folded(["of an older step"]) == [Said("of an older step")]


def test_a_flood_of_warnings_is_cut_in_log_and_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gate.commands.action.commits import Sides

    many = tuple(Said(f"lib/{number}") for number in range(700))
    monkeypatch.setattr("gate.commands.action.commits.fetch_missing", lambda *_, **__: Sides(None, warnings=many))
    job = Job(changed(tmp_path / "repository", base=0.1, head=0.1), tmp_path / "job", "push", DEFAULT)
    prepared = job.step("prepare")
    expected = [*many[:10], Said("and 690 more warnings")]
    assert prepared.said("warning") == [*(each.sentence() for each in expected)]
    assert request_of({"INPUT_REQUEST": prepared.outputs["request"]}).warnings == expected


def test_two_gates_of_one_folder_are_told_apart_by_their_files() -> None:
    names = [id_of("", TOP / "sub", TOP, config) for config in (None, "perfgate.toml", "a.toml", "ci/b.toml")]
    assert names[0] == names[1] == "sub"
    assert len(set(names)) == 3
    assert id_of("", TOP, TOP, "a.toml") == "a"
    assert id_of("named", TOP, TOP, "a.toml") == "named"


# --- legs of a matrix -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "leg"),
    [
        *((nothing, "") for nothing in ("null", "{}", "", "nonsense", "[1]", '"linux"', "3")),
        ('{"os": "ubuntu-24.04", "python": "3.12"}', "ubuntu-24.04_3.12"),
        ('{"version": 3.12, "debug": true, "n": 0}', "3.12_true_0"),
        ('{"os": "linux"}', "linux"),
    ],
)
def test_a_leg_is_called_by_its_values(matrix: str, leg: str) -> None:
    assert leg_of(matrix) == leg


def test_no_two_legs_have_one_name() -> None:
    values: list[Any] = [
        *("x", "y", "x_y", "x y", "x-y", "X/Y", "perfgate", "", "ü", "x" * 70, "x" * 70 + "y"),
        *(1, "1 ", None, True, {"cc": "gcc", "v": 12}, {"cc": "gcc", "v": 13}, ["a", "b"]),
    ]
    legs = [{"a": one} for one in values] + [{"a": one, "b": two} for one, two in itertools.product(values, values)]
    names = [leg_of(json.dumps(leg)) for leg in legs]
    assert len(set(names)) == len(legs)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,60}", name) and name != "perfgate" for name in names)


def test_which_part_of_a_gate_is_measured_makes_no_other_gate() -> None:
    planned = {"shard": "1/2", "session": 0, "sessions": 3, "name": "shard 1 of 2, session 0"}
    parts = {"1/2", "0", "3"}
    assert leg_of(json.dumps(planned), parts) == ""
    assert leg_of(json.dumps({"os": "linux", **planned}), parts) == "linux"
    assert leg_of(json.dumps({"part": "1/2", "name": "linux"}), {"1/2"}) == "linux"
    assert leg_of(json.dumps(planned)) != "", "a check measures all of a gate, whatever its leg is called"


def test_the_leg_follows_the_folder_and_an_id_stands_alone() -> None:
    assert id_of("", TOP, TOP, None, "linux_3.12") == "linux_3.12"
    assert id_of("", TOP / "lib", TOP, None, "linux") == "lib_linux"
    assert id_of("mine", TOP / "lib", TOP, None, "linux") == "mine"
    long = [id_of("", TOP / ("f" * 50), TOP, None, leg) for leg in ("a" * 50, "a" * 49 + "b")]
    assert long[0] != long[1] and all(len(name) == 60 for name in long)


# --- between the steps ------------------------------------------------------------------------------------------------


def test_messages_name_inputs_where_the_command_line_has_options() -> None:
    error = UserError("gate.thresh=5%: no such key", option="set")
    assert (str(error), as_inputs(error)) == (
        "--set gate.thresh=5%: no such key",
        "input set gate.thresh=5%: no such key",
    )
    assert as_inputs(UserError("take --set out")) == "take --set out"
    assert as_inputs(UserError("5: is for studies", option="replicates")) == "--replicates 5: is for studies"
