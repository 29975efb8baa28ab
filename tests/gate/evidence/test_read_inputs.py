"""Which files an argument names: labels, globs, folders, standard input, and what a commit holds."""

import gzip
import subprocess
from pathlib import Path

import pytest

from gate.evidence.foreign import is_plain, named
from gate.evidence.records import read_inputs
from gate.model import UserError
from tests.support.lines import builds, text

EXPORT = '{"results":[{"command":"x","mean":1.0,"times":[1.0,2.0]}]}'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json", "runs/2.json", "runs/deep/1.json", "odd=name.json"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(EXPORT, encoding="utf-8")
    Path("runs/notes.txt").write_text("no result\n", encoding="utf-8")


def found(*arguments: str) -> list[tuple[str | None, str]]:
    return [(label, source.name) for label, source in named(arguments)]


def test_labels_globs_and_folders() -> None:
    assert found("a.json", "new=b.json") == [(None, "a.json"), ("new", "b.json")]
    assert found("old=[ab].json") == [("old", "a.json"), ("old", "b.json")]
    assert found("x=runs") == [("x", "runs/2.json"), ("x", "runs/deep/1.json")]
    # a file that is there is a file, whatever its name looks like
    assert found("odd=name.json") == [(None, "odd=name.json")]
    assert found("-") == [(None, "standard input")]
    assert [is_plain(a) for a in ("a.json", "x/y", "a=b", "git:main:a", "a*", "./a=b")] == [
        True, True, False, False, False, True,
    ]  # fmt: skip


def test_a_text_that_quotes_results_is_no_result_of_a_folder() -> None:
    line = "BenchmarkParse-8   1000   1052341 ns/op\n"
    Path("go").mkdir()
    for name in ("run.txt", "README.md", "parse_test.go"):
        Path("go", name).write_text(line)
    assert found("go") == [(None, "go/run.txt")]
    assert found("go/README.md") == [(None, "go/README.md")]


def test_one_run_in_several_files_of_a_folder_is_one() -> None:
    Path("out").mkdir()
    Path("out/x.json").write_text(EXPORT)
    Path("out/x.csv").write_text("command,mean,stddev,median,user,system,min,max\nx,1,0,1,0,0,1,1\n")
    Path("out/x.json.gz").write_bytes(gzip.compress(EXPORT.encode()))
    Path("out/y.json").write_text(EXPORT)
    assert found("out") == [(None, "out/x.json"), (None, "out/y.json")]
    head = "# callgrind format\ncreator: callgrind-3.19.0\ncmd: ./x\npositions: line\nevents: Ir\nsummary: 1\n"
    Path("calls").mkdir()
    for process in (1, 2):
        Path(f"calls/callgrind.out.{process}").write_text(head)
    assert len(found("calls")) == 2


def test_the_exports_of_benchmarkdotnet_are_of_one_run() -> None:
    Path("results").mkdir()
    for name in ("A", "B"):
        for end in ("report.csv", "report-brief.json", "report-full.json"):
            text = "Method,Job,Mean,Error,StdDev\nx,Default,1.0 ns,0.1 ns,0.1 ns\n"
            document = '{"Title":"A","HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.13"},"Benchmarks":[]}'
            Path(f"results/{name}-{end}").write_text(document if end.endswith("json") else text)
    assert [name for _, name in found("results")] == ["results/A-report-full.json", "results/B-report-full.json"]


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments], check=True, capture_output=True)


def test_what_a_commit_holds() -> None:
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "results")
    Path("a.json").write_text("changed", encoding="utf-8")
    ((_, kept),) = named(["git:main:a.json"])
    assert "".join(kept.lines()) == EXPORT
    assert found("git:main", "a.json") == [(None, "git:main:a.json"), (None, "a.json")]
    assert found("old=git:HEAD:runs") == [("old", "git:HEAD:runs/2.json"), ("old", "git:HEAD:runs/deep/1.json")]
    assert found("git:main", "new=runs")[:2] == [(None, "git:main:runs/2.json"), (None, "git:main:runs/deep/1.json")]
    for argument, message in {
        "git:main": "git:main: names no file: write git:main:PATH, with the path in the repository",
        "git:none:a.json": "git:none:a.json: ",
        "git:main:none.json": "git:main:none.json: ",
    }.items():
        with pytest.raises(UserError, match=message):
            named([argument])


def test_standard_input_comes_once() -> None:
    with pytest.raises(UserError, match="only one of the files can come from standard input"):
        named(["-", "x=-"])


# --- what a RUN argument stands for -----------------------------------------------------------------------------------


def left(folder: Path) -> Path:
    """Leave measurements in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "measurements.jsonl"
    file.write_text(text(builds("base", [[[0.1]]])))
    return file


def test_a_folder_of_downloads_stands_for_all_parts(tmp_path: Path) -> None:
    parts = [left(tmp_path / f"perfgate-x-data-shard{number}of2-session0") for number in (2, 1)]
    left(tmp_path / "something-else")
    assert read_inputs([str(tmp_path)]).files == parts[::-1]
    own = left(tmp_path)
    assert read_inputs([str(tmp_path)]).files == [own]
    # earlier runs are no parts
    left(tmp_path / "old/runs/perfgate-x-data")
    left(tmp_path / "old/calibration")
    with pytest.raises(UserError, match=r"has no measurements\.jsonl"):
        read_inputs([str(tmp_path / "old")])


def test_a_commit_keeps_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = left(tmp_path / "kept")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "kept"]):
        named = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(["git", *named, *command], cwd=tmp_path, check=True, capture_output=True)
    kept = read_inputs([str(file)]).records
    file.write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("git:main:kept", "git:HEAD:kept/measurements.jsonl"):
        found = read_inputs([name])
        assert ([each.record for each in found.records], found.files) == ([each.record for each in kept], [])
        assert {each.path.partition(":")[0] for each in found.records} == {"git"}


@pytest.mark.parametrize("name", ["study.json", "study.html", "report.html"])
def test_a_result_is_no_measurements(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=rf"{name}: is a result, not measurements: give its folder"):
        read_inputs([str(tmp_path / name)])


@pytest.mark.parametrize(
    "content", ['{"name": "x", "version": "1"}', "a,b\n1,2\n", '<?xml version="1.0"?>\n<testsuites/>\n', "SF:a.c\n"]
)
def test_a_file_that_is_neither_measurements_nor_a_result(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other"
    file.write_text(content, encoding="utf-8")
    for argument in (str(file), f"base={file}", f"base={tmp_path}/o*r"):
        with pytest.raises(UserError, match="other: is in no format that perfgate knows"):
            read_inputs([argument])


@pytest.mark.parametrize("content", ["", "\n", '{"ty'])
def test_measurements_that_ended_at_once_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.jsonl").write_text(content, encoding="utf-8")
    assert read_inputs([str(tmp_path / "m.jsonl")]).records == []


def test_a_report_stands_for_the_run_beside_it(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text('{"findings": []}', encoding="utf-8")
    with pytest.raises(UserError, match=r"is a report without its measurements\.jsonl beside it; `perfgate report"):
        read_inputs([str(report)])
    measured = left(tmp_path)
    assert read_inputs([str(report)]).files == [measured]
