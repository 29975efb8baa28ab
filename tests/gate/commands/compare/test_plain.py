"""Files of one build a column are compared without arrays, and come out as with them: on all result files there are."""

import csv
import io
import math
import subprocess
import sys
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.commands.compare import tabulation
from tests.support.seeds import some

ROOT = Path(__file__).parents[4]
RESULTS = ROOT / "tests" / "data" / "results"
FORMATS = sorted(folder.name for folder in RESULTS.iterdir() if folder.is_dir())


def shown(*argv: str) -> tuple[int, list[list[str]]]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["compare", *argv, "--format", "csv"], out, err)
    assert "internal error" not in err.getvalue()
    return code, list(csv.reader(io.StringIO(out.getvalue(), newline="")))


def same(one: str, other: str) -> bool:
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=1e-9)
    except ValueError:
        return False


@pytest.mark.parametrize("name", some([*FORMATS[::6], *sorted({*FORMATS} - {*FORMATS[::6]})], 6, pytest.mark.nightly))
def test_the_arrays_would_say_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted(str(file) for file in (RESULTS / name).iterdir() if file.name != "README.md")
    other = [[files[0], files[-1], "--statistic", "median,min,max,p99,p10"]]
    for file in files:
        for argv in ([file, files[-1]], *(other if file == files[0] else ())):
            plain = shown(*argv)
            with monkeypatch.context() as patch:
                patch.setattr(tabulation, "is_plain", lambda *_: False)
                arrays = shown(*argv)
            assert plain[0] == arrays[0], argv
            assert len(plain[1]) == len(arrays[1]), argv
            for own, others in zip(plain[1], arrays[1], strict=True):
                assert all(map(same, own, others)), (argv, own, others)


def test_small_files_load_no_arrays(tmp_path: Path) -> None:
    data = ROOT / "tests" / "data" / "compare"
    argv = ["-X", "importtime", "-m", "gate", "compare", str(data / "old.txt"), str(data / "new.txt")]
    done = subprocess.run(
        [sys.executable, *argv], capture_output=True, text=True, check=True, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "msgspec" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "pandas", "statsmodels", "jinja2"})
