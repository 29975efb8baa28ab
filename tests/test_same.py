"""scripts/same: what it says of two recordings, and that its inputs are the same each time."""

from pathlib import Path

from scripts.same import differences, shown
from scripts.situations import varied, write

JSON = b'{"version": "1.15.0", "time": 0.0123456, "count": 1000, "date": "2026-11-28T09:00:00"}'


def recorded(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_difference_is_named_once_with_its_places(tmp_path: Path) -> None:
    old = recorded(
        tmp_path / "old", {"a/1 decide.txt": "x\n1\ny\n", "b/1 decide.txt": "1\n", "c/1 decide.txt": "z\n", "d/1 x": ""}
    )
    new = recorded(
        tmp_path / "new", {"a/1 decide.txt": "x\n2\ny\n", "b/1 decide.txt": "2\n", "c/1 decide.txt": "z\n", "e/1 x": ""}
    )
    found = differences(old, new)
    assert found["-1\n+2\n"] == ["a/1 decide.txt", "b/1 decide.txt"]
    assert sorted(len(places) for places in found.values()) == [1, 1, 2]
    assert next(shown(found)) == "== 2 times, in 2 files: a/1 decide.txt, b/1 decide.txt"
    assert list(differences(old, new, "^b/")) == ["-1\n+2\n"]
    assert not differences(old, old)


def test_copies_of_a_result_file_vary_by_one_factor() -> None:
    changed = varied(JSON, "a", 1.1)
    assert changed == varied(JSON, "a", 1.1) != varied(JSON, "b", 1.1)
    for kept in (b'"1.15.0"', b"2026-11-28T09:00:00"):
        assert kept in changed


def test_there_are_enough_situations_and_each_has_a_folder(tmp_path: Path) -> None:
    found = write(tmp_path)
    assert len(found) > 360
    assert all((tmp_path / name).is_dir() and commands for name, commands in found.items())
    # what a command writes is looked for below its folder
    assert not [name for name in found if any(other.startswith(f"{name}/") for other in found)]
