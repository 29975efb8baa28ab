"""perfgate study analyse over hand-made files: text, study.json, tables, the page, and what cannot be analysed."""

import html
import io
import json
import math
import re
import shlex
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.cli.main import main
from tests.gate.commands.study.analysis import designs
from tests.gate.stats.design import published
from tests.support.lines import execution, text
from tests.support.pages import ROOT


def analyse(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["study", "analyse", *arguments], out, err)
    return code, out.getvalue(), err.getvalue()


def analysed(*arguments: str) -> str:
    """What is said of a study without fault, with single spaces."""
    code, out, err = analyse(*arguments)
    assert (code, err) == (0, "")
    return " ".join(out.split())


def responses(*arguments: str) -> Any:
    return json.loads(analyse(*arguments, "--json", "-")[1])["responses"][0]


@pytest.fixture(scope="module")
def additive(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("study") / "measurements.jsonl"
    file.write_text(text(designs.lines(designs.LOAD, designs.additive, 4)) + "\n", encoding="utf-8")
    return str(file)


def written(folder: Path, lines: list[dict[str, Any]]) -> str:
    file = folder / "m.jsonl"
    file.write_text(text(lines) + "\n", encoding="utf-8")
    return str(file)


def fraction_lines(replicates: int = 1) -> list[dict[str, Any]]:
    """2^(5-2) with D=AB and E=AC, in which D, or A and B together, act."""
    rng = np.random.default_rng(3)
    found: list[dict[str, Any]] = []
    for build in range(replicates):
        for run in published.standard_order("ABC", {"D": "AB", "E": "AC"}):
            value = 100 + 5 * run["D"] + 0.3 * run["A"] + rng.normal(0, 0.05)
            settings: dict[str, Any] = {name: "low" if sign < 0 else "up" for name, sign in run.items()}
            settings["D"] = 1 if run["D"] < 0 else 8
            found.append(execution("head", [value], build=build, factors=settings, order=len(found)))
    return found


@pytest.mark.parametrize("replicates", [1, 3])
def test_a_fraction_names_what_its_effects_cannot_be_told_from(tmp_path: Path, replicates: int) -> None:
    code, out, _ = analyse(written(tmp_path, fraction_lines(replicates)), "--out", str(tmp_path / "out"))
    assert code == 0
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    rows = re.findall(r"<th[^>]*scope=\"row\"[^>]*>(.*?)</th>", page, re.DOTALL)
    named = [html.unescape(re.sub(r"<[^>]*>", "", row)).strip() for row in rows]
    # the linear model, quantile regression (two tables), Lenth's contrasts
    assert sum(name == "D, or A:B" for name in named) >= 4
    assert "A, or one of B:D and C:E" in named
    assert sum(line.startswith("D, or A:B") for line in out.splitlines()) >= 4
    texts = re.findall(r"<text[^>]*>([^<]*)", page)
    # means, of contrasts the Pareto and the half-normal picture too, and effects by quantile with their own sign
    assert texts.count("D, or A:B") >= (3 if replicates == 1 else 1)
    assert "D, or A × B" in texts
    (response,) = json.loads((tmp_path / "out" / "study.json").read_text(encoding="utf-8"))["responses"]
    terms = {term["term"]: term["aliases"] for term in response["linear"]["terms"]}
    assert (terms["D"], terms["A"]) == (["A:B"], ["B:D", "C:E"])
    if replicates == 1:
        assert "Which contrasts are more than noise" in page and "Which contrasts are more than noise" in out
        contrasts = response["lenth"]["contrasts"]
        first, second = contrasts[:2]
        assert (first["term"], first["aliases"], first["active"]) == ("D", ["A:B"], True)
        assert first["estimate"] == pytest.approx(5, abs=0.1)
        assert (second["term"], second["aliases"]) == ("A", ["B:D", "C:E"])
        assert len(contrasts) == 7
    else:
        assert "Which contrasts are more than noise" not in page
        assert response["lenth"] is None


def test_a_plackett_burman_design_says_what_its_main_effects_also_hold(tmp_path: Path) -> None:
    lines = [
        execution("head", [math.exp(value)], factors=run, order=k)
        for k, (run, value) in enumerate(zip(published.burman(), published.FATIGUE, strict=True))
    ]
    page = tmp_path / "page.html"
    said = "effects also hold a part of interactions: A "
    assert said in analysed(written(tmp_path, lines), "--order", "1", "--scale", "log", "--html", str(page))
    assert said in page.read_text(encoding="utf-8")


def test_the_text_says_what_matters_and_the_folder_has_page_and_numbers(additive: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--settings", "load=idle,busy", "--without", "load=busy,sched=cfs", "--iid")
    code, told, err = analyse(additive, "--out", str(out), *options)
    assert (code, err) == (0, f"perfgate: {out / 'study.html'} has the tables and pictures\n")
    assert max(map(len, told.splitlines())) <= 140
    told = " ".join(told.split())
    assert "load (idle, busy) x clients (1, 8) x sched (bfs, cfs): 8 treatments, 4 starts each" in told
    assert "Executions are the units of the linear model" in told
    for part in ("What it shows", "Effects on the mean", "Effects on p70 in s", "Block plots", "residuals"):
        assert part in told
    assert "load: idle below busy in all 4 boxes" in told
    report = json.loads((out / "study.json").read_text(encoding="utf-8"))
    response = report["responses"][0]
    taus = [model["tau"] for model in response["quantiles"]["models"]]
    assert taus == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99], "those of the paper"
    assert len(response["treatments"]) == 8
    assert [each["name"] for each in response["abridged"]] == ["without load=busy, sched=cfs"]
    assert all(model["iid"] for model in response["quantiles"]["models"])
    page = (out / "study.html").read_text(encoding="utf-8")
    for part in ("Effects on the mean", "Effects over the distribution", "Block plots", "Without some treatments"):
        assert part in page
    # --iid promises a reason
    assert "those intervals are too narrow" in " ".join(page.split())
    assert "<script" not in page


def test_a_factor_is_analysed_at_the_settings_that_are_named(additive: str) -> None:
    response = responses(additive, "--settings", "clients=8")
    assert {t["settings"]["clients"] for t in response["treatments"]} == {8}
    assert all("clients" not in term["factors"] for term in response["linear"]["terms"])


def test_a_treatment_of_the_design_without_measurements_is_named(tmp_path: Path) -> None:
    config = {
        "benchmark": [{"name": "bench", "command": "x", "instrument": "values"}],
        "study": {"factor": {"load": ["idle", "busy"], "clients": [1, 8], "sched": ["bfs", "cfs"]}, "order": 1},
    }
    lines = designs.lines(
        designs.LOAD, designs.additive, 2, leave_out=lambda at: at["load"] == "busy" and at["clients"] == 8
    )
    file = written(tmp_path, [{"type": "run", "config": config}, *lines])
    code, out, _ = analyse(file, "--json", "-")
    report = json.loads(out)
    assert (code, report["order"]) == (0, 1)
    # the order of the design, not of the alphabet
    assert report["responses"][0]["factors"][0]["settings"] == ["idle", "busy"]
    lacking = "load=busy, clients=8, sched=bfs; load=busy, clients=8, sched=cfs"
    assert f"2 treatments of the design have no measurements: {lacking}" in report["warnings"]


def test_what_failed_or_was_not_measured_is_said_and_costs_exit_4(tmp_path: Path) -> None:
    failure = {"type": "failure", "kind": "execution", "benchmark": "bench", "side": "head", "build": 0, "execution": 0,
               "factors": {"load": "busy"}, "status": "exit 1", "stderr": "chrt: not permitted"}  # fmt: skip
    code, out, _ = analyse(written(tmp_path, [*designs.lines({"a": [1, 2]}, designs_values, 3), failure]))
    assert code == 4 and "bench" in out and "failed on head: chrt: not permitted" in out
    code, out, _ = analyse(written(tmp_path, [{"type": "run"}]))
    assert code == 4 and "Nothing was measured" in out


def designs_values(_: designs.Settings, rng: np.random.Generator) -> list[float]:
    return list(1 + rng.random(3))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--without", "vm=on"], "--without vm=on: there is no factor vm; there are load, clients, sched"),
        (["--only", "load=full"], "--only load=full: load was measured at busy, idle"),
        (["--settings", "load=full"], "--settings load=full: full was not measured; there are busy, idle"),
        (["--settings", "vm=on"], "there is no factor vm; there are clients, load, sched"),
        (["--benchmark", "other*"], "--benchmark other*: matches none of bench"),
        (["--response", "memory"], "response memory: no start has values of it; measured were time"),
        (["--sample", "vm=on"], "--sample vm=on: there is no factor vm; there are load, clients, sched"),
        (["--sample", "load=busy"], "--sample load=busy: 4 treatments have these settings: name clients, sched too"),
        (["--histogram", "load=full"], "--histogram load=full: load was measured at busy, idle"),
        (["--host-factor", "machine"], "is no factor of hosts: write NAME=KEY, such as machine=cpu"),
        (["--host-factor", "machine=cpu"], "has no run line before it that names its host"),
        (["--json", "-", "--html", "-"], "both want standard output"),
        (["--quantiles", "1.5"], "is not a quantile"),
    ],
)
def test_bad_options_are_one_line_and_exit_2(additive: str, options: list[str], said: str) -> None:
    code, _, err = analyse(additive, *options)
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) <= (2 if "--host-factor" in options else 1)


def test_the_same_execution_twice_names_both_lines(tmp_path: Path) -> None:
    code, _, err = analyse(written(tmp_path, [execution("head", [1.0], factors={"a": 1})] * 2))
    assert code == 2 and "m.jsonl:1 and" in err and "m.jsonl:2: the same start twice" in err


@pytest.mark.parametrize("values", [lambda at, _: [at["a"]], lambda _, __: [0.0], lambda _, rng: [rng.random()] * 3])
def test_small_and_constant_data_never_ends_in_an_exception(values: Callable[..., Any], tmp_path: Path) -> None:
    for replicates in (1, 2, 3):
        lines = designs.lines({"a": [1.0, 2.0]}, values, replicates)
        code, out, err = analyse(written(tmp_path, lines), "--out", str(tmp_path / "out"))
        assert (code, "internal error" in err) == (0, False), err
        assert out


HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m{{7*7}}\u202e__import__('os').system('x')"


def test_names_from_files_are_text_and_never_code(tmp_path: Path) -> None:
    lines = designs.lines(
        {HOSTILE: ["</script>", HOSTILE], "C(x)": [1, 2]}, designs_values, 3, benchmark=HOSTILE, metric=HOSTILE
    )
    code, out, err = analyse(written(tmp_path, lines), "--out", str(tmp_path / "out"))
    assert code == 0, err
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    assert not [code for code in ("<img src=x", "</script>", "\x1b") if code in page]
    assert "\x1b" not in out and "\u202e" not in out


def test_huge_numbers_are_settings_but_no_values_and_places_in_the_run_need_not_differ(tmp_path: Path) -> None:
    rng = np.random.default_rng(16)
    lines = [
        execution("head", (1 + rng.random(4)).tolist(), build=build, execution=n, factors={"x": x}, order=0)
        for build in range(4)
        for n, x in enumerate((1e300, -1e308, 0))
    ]
    analysed(written(tmp_path, lines), "--html", str(tmp_path / "page.html"))
    lines[5]["metrics"]["time"]["values"] = [1e300]
    code, _, err = analyse(written(tmp_path, lines))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "m.jsonl:6: time holds 1e+300" in err


def numeric(folder: Path, level: Callable[[str, int], float]) -> str:
    """A factor with three numbers for settings beside one of two names; the last combination is lacking."""
    rng = np.random.default_rng(11)
    lines = []
    for build, (n, (load, clients)) in product(range(6), enumerate([*product(("idle", "busy"), (1, 8, 64))][:-1])):
        own = level(load, clients) * (1 + 0.02 * rng.normal())
        values = (own * (1 + 0.01 * rng.random(40))).tolist()
        lines.append(execution("head", values, build=build, execution=n, factors={"load": load, "clients": clients}))
    return written(folder, lines)


def steps(load: str, clients: int) -> float:
    return 0.0021 + 0.0003 * {1: 0, 8: 3, 64: 4.5}[clients] + (0.0008 if load == "busy" else 0.0)


def powers(load: str, clients: int) -> float:
    return 0.0021 * clients * (1.5 if load == "busy" else 1.0)


def test_what_is_not_estimable_beside_an_empty_cell_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    out = analysed(numeric(tmp_path, steps), "--settings", "load=idle,busy", "--html", str(page))
    assert "not separable: load:clients: load=busy was not measured with clients=64" in out
    html = page.read_text(encoding="utf-8")
    # the quantile shown first has its values: of 240 a treatment ten are beyond p90, two beyond p99
    assert html.index("Effects on p90") < html.index("Intervals at the other quantiles") < html.index("Effects on p99")
    assert html.index("Quantiles with too few values beyond them") < html.index("Effects on p99")
    assert "Too few values beyond p99 in some treatment to be sure." in html


def test_words_tables_and_pictures_have_one_unit(tmp_path: Path) -> None:
    # from microseconds to seconds
    file = numeric(tmp_path, lambda load, clients: 2e-5 * clients**2 * (1.5 if load == "busy" else 1.0))
    page = tmp_path / "page.html"
    out = analysed(file, "--html", str(page), "--scale", "plain")
    assert "values are in ms" in out
    shown = page.read_text(encoding="utf-8").split("Run and host")[0]
    other = re.compile(r"\d (us|µs|ns|s)\b|, (us|µs|ns|s)(<|²| \()| in (us|µs|ns|s)\b")
    assert other.findall(out) == other.findall(shown) == []
    # small numbers keep their digits in the larger unit
    assert "0.02" in out


@pytest.mark.parametrize(
    ("level", "options", "log"),
    [
        (powers, (), True),
        (powers, ("--scale", "plain"), False),
        (powers, ("--scale", "log"), True),
        # the spread does not grow with the level
        (steps, (), False),
    ],
)
def test_the_scale_is_chosen_once(
    tmp_path: Path, level: Callable[[str, int], float], options: tuple[str, ...], log: bool
) -> None:
    file, page, data = numeric(tmp_path, level), tmp_path / "page.html", tmp_path / "study.json"
    analysed(file, "--html", str(page), "--json", str(data), *options)
    (response,) = json.loads(data.read_text(encoding="utf-8"))["responses"]
    assert response["scale"] == ("log" if log else "value")
    assert response["other_scale"].startswith("On the plain scale" if log else "On the log scale")
    html = page.read_text(encoding="utf-8")
    assert ("(log axis)" in html.split("How large a sample")[0]) is log
    assert ("Effects on the mean in percent" in html) is log
    assert ("On the plain scale" in html) is log
    assert ("On the log scale" in html) is not log


def test_the_treatments_of_samples_and_histograms_are_chosen(tmp_path: Path) -> None:
    def values(at: designs.Settings, rng: np.random.Generator) -> list[float]:
        return [float(10 + at["a"] + rng.normal())]

    file = written(tmp_path, designs.lines({"a": [1, 2], "b": ["x", "y"]}, values, 45))
    page = tmp_path / "page.html"
    chosen = ("--sample", "a=2,b=y", "--histogram", "a=1", "--without", "a=1,b=x")
    response = responses(file, *chosen, "--html", str(page))
    assert response["sample_sizes"]["settings"] == {"a": 2, "b": "y"}
    assert response["histograms"] == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]
    assert response["questionable"] == [{"a": 1, "b": "x"}]
    assert page.read_text(encoding="utf-8").count("Histogram of bench, ") == 2
    few = responses(written(tmp_path, designs.lines({"a": [1, 2]}, values, 12)), "--sample", "a=1")
    assert "no study of sample sizes: a=1 has 12 executions, and it needs 40" in few["warnings"]


def test_files_of_several_hosts_become_the_table_over_machines(tmp_path: Path) -> None:
    files = []
    for cpu, means in (("Athlon", (558.0, 548.0)), ("Atom", (470.0, 455.0))):
        for kernel, mean in zip(("3.6-vanilla", "3.6-ck"), means, strict=True):
            folder = tmp_path / f"{cpu}-{kernel}"
            folder.mkdir()
            run = {"type": "run", "host": {"cpu": cpu, "kernel": kernel, "cores": 2}}
            lines = [execution("head", [mean + 0.1 * k], build=0, execution=k, order=k) for k in range(5)]
            files.append(written(folder, [run, *lines]))
    hosts = ["--host-factor", "machine=cpu", "--host-factor", "kernel=kernel"]
    out = tmp_path / "out"
    analysed(*files, *hosts, "--settings", "kernel=3.6-vanilla,3.6-ck", "--out", str(out), "--quiet")
    response = json.loads((out / "study.json").read_text(encoding="utf-8"))["responses"][0]
    rows = [(r["at"], round(r["difference"], 6), r["words"]) for r in response["percents"] if r["factor"] == "kernel"]
    assert rows == [({"machine": "Athlon"}, -10.0, "1.8% faster"), ({"machine": "Atom"}, -15.0, "3.2% faster")]
    page = (out / "study.html").read_text(encoding="utf-8")
    table = page[page.index("kernel, setting against setting") :]
    for cell in ("machine", "kernel=3.6-vanilla", "kernel=3.6-ck", "Athlon", "1.8% faster"):
        assert f"<bdi>{cell}</bdi>" in table
    code, _, err = analyse(*files, "--host-factor", "machine=kernell")
    assert code == 2
    assert "says nothing of it; of its host it names cores, cpu, kernel" in err


PAPERS = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").split("\n## ")[1:]
QR = {"sched": ["bfs", "cfs"], "load": ["compile", "encode"], "machine": ["core2", "p4"], "vmstat": ["off", "on"]}
NIST = {"os": [0, 1], "fp": [0, 1], "prf": [0, 1, 2]}


@pytest.mark.parametrize(
    ("section", "factors"),
    [
        # large ones: all that they write is written for small ones too
        pytest.param("Born de Oliveira", QR, marks=pytest.mark.nightly),
        pytest.param("NIST", NIST, marks=pytest.mark.nightly),
        ("graysky", {"kernel": ["vanilla", "ck"]}),
    ],
)
def test_the_commands_of_the_papers_run(section: str, factors: dict[str, list[Any]], tmp_path: Path) -> None:
    def values(_: designs.Settings, rng: np.random.Generator) -> list[float]:
        return [float(v) for v in 10 + rng.random(3)]

    lines = designs.lines(factors, values, 3)
    if section == "graysky":
        lines = [{**line, "factors": {}, "execution": number} for number, line in enumerate(lines)]
    file = written(tmp_path, [{"type": "run", "host": {"cpu": "Atom", "kernel": "3.6"}}, *lines])
    text = next(part for part in PAPERS if part.startswith(section))
    commands = dict.fromkeys(re.findall(r"`ANALYSE([^`]*)`", text))
    assert commands
    for command in commands:
        code, _, err = analyse(file, *shlex.split(command), "--out", str(tmp_path / "out"), "--quiet")
        assert code == 0, (command, err)
