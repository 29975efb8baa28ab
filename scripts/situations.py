"""The situations that scripts/same records: input files, and the command lines that read them."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gate.model.history import Machine
from tests.gate.commands.study.analysis import designs
from tests.support import histories, runs
from tests.support.lines import execution, text
from tests.support.mangled import mangled
from tests.support.runs import Line, Shape

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
SOURCES = {".c", ".cpp", ".go", ".java", ".md", ".mod", ".py", ".rs", ".toml"}
OF_NO_TOOL = {"github", "hosts", "perf", "profilers", "trial", "surface.txt"}
FILES = ["--json", "report.json", "--html", "page.html", "--markdown", "comment.md", "--junit", "junit.xml"]
_NUMBER = re.compile(rb"(?<![\w.:+-])(\d+\.\d{2,}|\d{4,12})(?![\w.:-])")
COPIES = 5
Commands = list[list[str]]

# --- result files of other tools --------------------------------------------------------------------------------------


def of_tools(top: Path) -> Iterator[tuple[str, Commands]]:
    """Yield each stored output: imported, compared, decided over with varied copies of it; and one damaged."""
    for number, file in enumerate(sorted(DATA.rglob("*"))):
        where = file.relative_to(DATA)
        if (
            not file.is_file()
            or file.suffix in SOURCES
            or file.name.startswith("README")
            or where.parts[0] in OF_NO_TOOL
        ):
            continue
        name, folder = f"tools/{where}", top / "tools" / where
        folder.mkdir(parents=True)
        shutil.copyfile(file, folder / file.name)
        data = file.read_bytes()
        for side, change in (("b", 1.0), ("h", (1.0, 1.1, 0.9)[number % 3])):
            for copy in range(COPIES):
                (folder / f"{side}{copy}{file.suffix}").write_bytes(varied(data, f"{where}{side}{copy}", change))
        (folder / f"damaged{file.suffix}").write_bytes(list(mangled(data, 1, where))[-1])
        (folder / f"torn{file.suffix}").write_bytes(data[: len(data) * 2 // 3])
        sides = [f"base=b*{file.suffix}", f"head=h*{file.suffix}"]
        yield name, [
            ["import", file.name], ["import", f"damaged{file.suffix}"], ["compare", f"torn{file.suffix}", file.name],
            *(decided(sides) + at_widths("compare", sides) if number % 5 == 0 else [["decide", *sides, *FILES[:2]]]),
        ]  # fmt: skip
    for place in (
        "results/asv/results",
        "results/criterion/baselines",
    ):
        shutil.copytree(DATA / place, top / "folders" / place / "in")
        yield f"folders/{place}", [["import", "in"], *at_widths("compare", ["in"]), *decided(["base=in", "head=in"])]


def varied(data: bytes, seed: str, change: float) -> bytes:
    """Multiply all measured numbers by one factor, so that what a tool derives from its values still fits them."""
    factor = random.Random(seed).gauss(change, 0.004)
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(varied(gzip.decompress(data), seed, change), mtime=0)

    def other(found: re.Match[bytes]) -> bytes:
        digits = len(found[0].partition(b".")[2])
        return f"{float(found[0]) * factor:.{digits}f}".encode()

    return _NUMBER.sub(other, data)


# --- measurements -----------------------------------------------------------------------------------------------------


# fmt: off
def measurements() -> Iterator[tuple[str, Iterable[Line], Commands]]:
    """Yield runs: their lines, and what is done with them beside deciding."""
    m = "m.jsonl"
    for name, make in runs.RUNS.items():
        yield name, make(), [["report", m, "--format", "csv"], ["compare", m], ["plan", m]]
    small, four = Shape(cases=4, builds=6), Shape(cases=5, builds=6, executions=2, iterations=4)
    for interval in ("fieller", "fieller-kj", "fieller-paired", "fieller-moderated", "paired", "paired-shared", "bootstrap",
                     "bootstrap-bca"):
        yield f"interval-{interval}", runs.plain(small), [["decide", m, "--set", f"gate.interval={interval}", *FILES]]
    for setting in ("gate.family=none", "gate.threshold=0%", "gate.threshold=50%", "gate.floor=2ms",
                    "gate.confidence=0.99", "gate.detectable=threshold", "gate.detectable=2%", "gate.inconclusive=fail",
                    "gate.min_builds=9", "gate.implausible=5%", "gate.sessions=fixed", "gate.interval=bootstrap:FLAT"):
        yield f"set-{setting}", runs.plain(four), [["decide", m, "--set", setting, *FILES]]
    yield "many", runs.plain(Shape(cases=60, executions=2, iterations=3)), [["report", m, "--all"], ["decide", m, "--quiet"]]
    yield "fixed-sessions", runs.plain(replace(small, sessions=5)), [["decide", m, "--set", "gate.sessions=fixed", *FILES]]
    yield "only-some", runs.plain(four), [["decide", m, "--benchmark", "*case-00[12]"], ["decide", m, "--benchmark", "x"]]
    for unit, metric in (("B", "memory"), ("", "instructions"), ("MB/s", "throughput"), ("ops/s", "rate"), ("", "odd")):
        yield f"metric-{metric}", [runs.run_line(["a", "b"], four), *runs.measured(four, ["a", "b"], metric=metric, unit=unit)], []
    yield "quantiles", _with_config({"metric": {"time": {"statistics": ["mean", "p50", "p99"]}}}, 200), []
    yield "exact", _with_config({"metric": {"time": {"exact": True}}}, 3), []
    yield "accepted", _with_rules(accept=[{"benchmark": "*1", "up_to": "20%", "until": "2026-12-24", "reason": "faster later"},
                                          {"benchmark": "*3", "up_to": "20%", "until": "2026-11-01", "reason": "too late"}]), []
    yield "overrides", _with_rules(override=[{"benchmark": "*1", "threshold": "15%"}, {"benchmark": "*", "detectable": "threshold"}]), []
    factors = [{**line, "factors": {"load": ("idle", "busy")[k % 2]}} for k, line in enumerate(_executions(four))]
    yield "factors", [runs.run_line(["a"], four), *factors], [["compare", m, "--by", "load"], ["study", "analyse", m]]
    yield "no-run-line", list(_executions(four)), [["plan", m]]
    yield "one-side", [line for line in _executions(four) if line["side"] == "head"], [["compare", m]]
    yield "missing-in-head", [line for line in runs.plain(four) if not (line.get("side") == "head" and str(line.get("benchmark")).endswith("2"))], []
    proof = {"type": "same", "differ": ["README.md"], "differ_count": 1, "read_count": 12, "hash": {"base": "sha256:a", "head": "sha256:b"}}
    names = runs.names(four)
    yield "some-same", [runs.run_line(names, four), *runs.measured(four, names[:3]), *({**proof, "benchmark": each} for each in names[3:])], []
    yield "all-same", [runs.run_line(names, four), *({**proof, "benchmark": each} for each in names)], [["compare", m]]
    ended = {"type": "host", "when": "end", "time": "2026-11-20T09:15:00Z", "stop": "budget", "rounds": 3, "seconds": 900.0,
             "unproved": {names[0]: {"kind": "changed", "path": "src/a.c"}, names[1]: {"kind": "no-tracer"}},
             "cut": {"phase": "execution", "side": "head", "benchmark": names[1], "build": 3, "execution": 1, "seconds": 2.5}}
    yield "out-of-budget", [*(line for line in runs.plain(four) if line.get("build", 0) < 4 and line["type"] != "host"), ended], []
    warned = [{"kind": "torn-line", "file": "x.jsonl"}, "in words"]
    yield "warnings", [runs.run_line(names, four, warnings=warned), *runs.measured(four, names)], []
    yield "turns", [runs.run_line(names, four, turns=True), *runs.measured(four, names)], []
    nights = [{"run": f"night-{k}", "day": f"2026-11-{k:02}", "pin": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "commit": f"{k:040}",
               "log_ratio": 0.02 + k / 1000, "variance": 1e-5} for k in range(1, 16)]
    cases = [{"benchmark": each, "metric": "time", "statistic": "mean", "factors": {}, "nights": nights} for each in names]
    pin = {"against": "latest-tag", "tag": "v1.0", "sha": nights[0]["pin"], "commits": 42}
    yield "creep", [runs.run_line(names, four, creep={"pin": pin, "cases": cases, "unused": None}), *runs.measured(four, names)], []
    sessions = [{"session": f"s{k}", "created": f"2026-11-{k:02}T09:00:00Z", "rounds": 6, "executions": 2.0, "iterations": 4.0,
                 **{level: {"value": 1e-5 * k, "df": 20.0} for level in ("iteration", "execution", "build", "contrast")}} for k in (3, 5, 9)]
    found = [{"benchmark": each, "metric": "time", "factors": {}, "statistic": "mean", "sessions": sessions} for each in names]
    memory = {"findings": found, "contrast_nu": 12.0, "build_nu": None, "unused": []}
    yield "memory", [runs.run_line(names, four, memory=memory), *runs.measured(four, names)], [["plan", m], ["decide", m, "--set", "gate.interval=fieller-moderated"]]
    yield "no-lines", [], []
    yield "unknown-line", [{"type": "of-later"}, *runs.plain(four)], []
    yield "of-later-schema", [runs.run_line(names, four, schema=99)], []
    yield "twice", [*runs.plain(four), *_executions(four)], []
    for key, value in (("side", "left"), ("build", -1), ("metrics", {}), ("metrics", {"time": {"values": ["x"]}}), ("benchmark", 3),
                       ("metrics", {"time": {"unit": "s", "values": [1e308]}}), ("metrics", {"time": {"unit": "s", "values": [-1.0, 0.0]}}),
                       ("metrics", {"time": {"unit": "parsec", "values": [1.0]}}), ("execution", 2**60), ("seconds", "soon")):
        yield f"bad-{key}-{json.dumps(value)[:50]}", [*_executions(four), {**execution("head", [0.1], build=99), key: value}], []
    for scale in (1e-12, 1e6, 1e150, 1e-150):
        yield f"scale-{scale:g}", [_scaled(line, scale) for line in runs.plain(small)], []
    yield "study", designs.lines(designs.LOAD, designs.additive, 4), [
        ["study", "analyse", m, "--html", "study.html", "--json", "study.json"]]
    yield "study-tail", designs.lines({"sched": ["bfs", "cfs"], "load": ["idle", "busy"]}, designs.tail, 6), [
        ["study", "analyse", m, "--order", "1", "--json", "-"]]


# fmt: on
def _executions(shape: Shape) -> Iterator[Line]:
    return (line for line in runs.measured(shape) if line["type"] == "execution")


def _scaled(line: Line, scale: float) -> Line:
    return (
        {
            **line,
            "metrics": {"time": {"unit": "s", "values": [each * scale for each in line["metrics"]["time"]["values"]]}},
        }
        if "metrics" in line
        else line
    )


def _with_config(benchmark: dict[str, Any], iterations: int) -> list[Line]:
    shape = Shape(cases=3, builds=6, executions=2, iterations=iterations)
    first, *others = runs.plain(shape)
    first["config"]["benchmark"] = [
        {"name": each, "command": "./app", "instrument": "values", **benchmark} for each in runs.names(shape)
    ]
    return [first, *others]


def _with_rules(**tables: Any) -> list[Line]:
    first, *others = runs.plain(Shape(cases=5, builds=6, executions=2, iterations=4))
    first["config"] |= tables
    return [first, *others]


def of_history(top: Path) -> Iterator[tuple[str, Commands]]:
    """Yield a store of records: one case that becomes slower, one that creeps, one that does not change."""
    rng = np.random.default_rng(1)
    true = {"slow": histories.step(40, 20, 0.08), "creeps": histories.creep(rng, 40, 5), "flat": histories.flat(40)}
    machines = [histories.MACHINE] * 30 + [Machine(id="m2", facts={**histories.FACTS, "kernel": "6.8"})] * 10
    kept = histories.kept(top / "history" / "store", histories.history(1, true, machines=machines))
    where = ["--history", f"../{kept.name}"]
    formats = [["history", "trend", *where, *more] for more in ([], ["--markdown", "-"], ["--json", "-"],
                                                                ["--html", "trend.html"], ["--benchmark", "slow"])]  # fmt: skip
    yield "history/views", [["history", *where], ["60", "history", *where], *formats, ["60", "history", "trend", *where],
                            ["history", "export", *where, "--csv", "-"]]  # fmt: skip


def of_measurements(top: Path) -> Iterator[tuple[str, Commands]]:
    """Yield runs, decided over at all widths, and what else is done with them."""
    for name, lines, more in measurements():
        folder = top / "measured" / re.sub(r"[^\w.+=%-]+", "-", name)
        folder.mkdir(parents=True)
        written = text(lines)
        (folder / "m.jsonl").write_text(written, encoding="utf-8")
        usual = [*decided(["m.jsonl"]), ["report", "m.jsonl", "--format", "summary"]]
        yield f"measured/{folder.name}", more if more and "--set" in more[0] else usual + more
    shape, folder = Shape(cases=6), top / "measured" / "shards"
    folder.mkdir()
    halves = runs.names(shape)[:3], runs.names(shape)[3:]
    for number, names in enumerate(halves, 1):
        lines = [runs.run_line(names, shape, shard=f"{number}/2"), *runs.measured(shape, names)]
        (folder / f"{number}.jsonl").write_text(text(lines), encoding="utf-8")
        (folder / f"torn{number}.jsonl").write_text(text(lines)[:-200], encoding="utf-8")
    yield "measured/shards/both", decided(["../1.jsonl", "../2.jsonl"])
    yield "measured/shards/one-lacks", decided(["../1.jsonl"])
    yield "measured/shards/torn", decided(["../torn1.jsonl", "../2.jsonl"])
    yield "measured/shards/twice", decided(["../1.jsonl", "../1.jsonl"])


def decided(files: list[str]) -> Commands:
    """Return the command lines that decide: every format, and the text at each width."""
    return [["decide", *files, *FILES], ["60", "decide", *files], ["200", "decide", *files]]


def at_widths(command: str, files: list[str]) -> Commands:
    """Return the command lines of a table: its formats, and the text at each width."""
    return [[command, *files, "--format", "html"], ["60", command, *files], ["200", command, *files],
            [command, *files, "--format", "markdown"], [command, *files, "--format", "json"]]  # fmt: skip


# --- rules, command lines, small odd files ----------------------------------------------------------------------------

B = '[[benchmark]]\nname = "a"\ncommand = "x"\n'
RULES = (
    "", "x", "[gate]\nthreshold = 3", '[gate]\nthreshold = "3%"\n', '[gate]\nthresold = "3%"', "[gate]\nconfidence = 95",
    "[gate]\nconfidence = 0.5", '[gate]\nfamily = "hom"', '[gate]\ninterval = "bootstrp"', '[gate]\nfloor = "1 parsec"',
    '[gate]\nshow = "x"\n', "[gate]\nmin_builds = 1", '[gate]\nimplausible = "-5%"', "[gat]\nx = 1", "gate = 3",
    "[plan]\nbuilds = 0", "[plan]\nbuilds = {min = 5}", "[plan]\nbuilds = {min = 9, max = 4}", '[plan]\nbudget = "15 minuts"',
    '[plan]\npairing = "duet"\n' + B, "[plan]\nsessions = 99999", '[build]\nshare = ["../data"]',
    '[build]\nperturb = ["pth"]', '[build]\ncommand = ["make", 3]', B, B + B, B + 'instrument = "hyperfin"', B + "timeout = -1",
    B + 'instrument = "values"\ncolumn = "ms"', B + 'service = {command = "s", ready = 8080}', B + 'format = "gatling"',
    B + 'instrument = "go"\ninclude = ["a*"]', B + '[benchmark.metric.time]\nstatistics = ["p99", "p999", "q5"]',
    B + 'same_output = "x"\ncpus = "0-"', "[[override]]\nbenchmark = 3", '[[override]]\nbenchmark = "a"\nthreshold = "9%"\n' + B,
    '[[accept]]\nbenchmark = "a"\nup_to = "5%"\nuntil = 2026-12-24\nreason = "r"\n' + B, '[[accept]]\nbenchmark = "a"',
    '[creep]\nagainst = "v1"\n' + B, "[study]\nreplicates = 0", '[study]\nfactor.load = ["idle", "busy"]\n' + B,
    '[study]\nfactor.load = ["idle", "busy"]\ngate = true\n' + B, '[study]\nfactor.a = [1]\n' + B, '[env]\nset = {A = 1}',
    '[env]\nset = {A = "1"}\n' + B, "[gate]\nhistory = 3", '[gate]\nthreshold = "3%"\n[gate]\n', "a = 1e400", "[gate]\nx = [",
)  # fmt: skip
LINES = (
    "", "--help", "--version", "chek", "help", "decide", "decide nothing.jsonl", "decide m.jsonl --sett x", "decide m.jsonl --set",
    "decide m.jsonl --set x", "decide m.jsonl --set gate.x=1", "decide m.jsonl --set gate.threshold=3", "decide m.jsonl --format x",
    "decide m.jsonl --json no/where.json", "decide m.jsonl m.jsonl", "decide base=m.jsonl", "decide m.jsonl --min-builds 3",
    "decide m.jsonl --interaction", "compare", "compare m.jsonl nothing", "compare a=m.jsonl b=m.jsonl --base c", "compare m.jsonl --by x",
    "compare m.jsonl --statistic p99", "compare m.jsonl --statistic q", "compare m.jsonl --filter x:", "compare m.jsonl --sort x",
    "compare m.jsonl --sort change", "compare m.jsonl --rows benchmark --by side",
    "import m.jsonl", "import m.jsonl --from nothing", "import m.jsonl --from parquet", "import m.parquet", "report --schema",
    "config --schema", "report", "report m.jsonl --format junit", "report m.jsonl --format x", "plan m.jsonl --budget 5m",
    "plan m.jsonl --target 1% --json -", "plan m.jsonl --detect 2%", "plan m.jsonl --budget soon", "study analyse m.jsonl",
    "simulate m.jsonl --reports 40 --cores 1", "simulate --reports 20 --cases 3 --builds 3,5 --cores 1",
    "simulate --builds x", "history --history store", "history trend --history store", "completion bash", "completion zsh",
    "completion fish", "completion csh", "explain m.jsonl", "study analyse nothing", "publish", "action",
)  # fmt: skip
COMMANDS = (
    "init", "check", "try", "measure", "decide", "report", "compare", "explain", "import", "plan", "calibrate", "simulate",
    "bisect", "study", "doctor", "history", "publish", "action", "config", "completion",
)  # fmt: skip
ODD: dict[str, bytes] = {
    "empty.json": b"", "blank.txt": b"\n\n", "zeros.bin": bytes(64), "bom.json": b"\xef\xbb\xbf{}", "nan.json": b'{"benchmarks":[NaN]}',
    "list.json": b"[]", "number.json": b"3", "two.json": b"{}\n{}", "deep.json": b"[" * 3000, "latin.txt": "grün\n".encode("latin-1"),
    "utf16.txt": "Benchmark 1\n".encode("utf-16"), "half.json": b'{"results": [{"command": "a", "mea', "text.txt": b"no results here\n",
    "go.txt": b"goos: linux\nBenchmarkA-8 \t 100\t 10.5 ns/op\nBenchmarkA-8 \t 100\t 10.7 ns/op\nPASS\n", "go-nan.txt": b"BenchmarkA 1 NaN ns/op\n",
    "go-crlf.txt": b"BenchmarkA-8 100 10 ns/op 0 B/op 0 allocs/op\r\nBenchmarkB-8 100 10 ns/op\r\n", "go-open.txt": b"BenchmarkA 1 10 ns/op",
    "go-zero.txt": b"BenchmarkA 1 0 ns/op\nBenchmarkA 1 0 ns/op\n", "lib.txt": b"test a ... bench: 1,234.5 ns/iter (+/- 10)\n",
    "lib-ms.txt": b"test a ... bench: 1.5 ms/iter (+/- 0.1)\n", "values.csv": b"a,b\n1,2\n", "lines.jsonl": b'{"name":"a","value":1}\n',
}  # fmt: skip


def odd(top: Path) -> Iterator[tuple[str, Commands]]:
    """Yield rules and command lines, right and wrong ones, and files that hold little."""
    folder = top / "odd"
    folder.mkdir()
    (folder / "m.jsonl").write_text(text(runs.plain(Shape(cases=4, builds=6))), encoding="utf-8")
    yield "odd/help", [words for each in COMMANDS for words in ([each, "--help"], ["60", each, "--help"])]
    for number, line in enumerate(LINES):
        own = folder / f"line-{number:02}"
        own.mkdir()
        shutil.copyfile(folder / "m.jsonl", own / "m.jsonl")
        yield f"odd/{own.name}", [["100", *line.split()]]
    for number, rules in enumerate(RULES):
        own = folder / f"rules-{number:02}"
        own.mkdir()
        (own / "rules.toml").write_text(rules, encoding="utf-8")
        yield f"odd/{own.name}", [["decide", "../m.jsonl", "--rules", "rules.toml", "--json", "report.json"]]
    for name, data in ODD.items():
        own = folder / name
        own.mkdir()
        (own / name).write_bytes(data)
        yield f"odd/{name}", [["import", name], ["compare", name], ["decide", f"base={name}", f"head={name}"]]


def write(top: Path) -> dict[str, Commands]:
    """Write all inputs below a folder; return the situations by the folder in which their commands run.

    The first word of a command line may be the width of the terminal; 100 columns otherwise.
    """
    found = {}
    for part in (of_tools, of_measurements, of_history, odd):
        for name, commands in part(top):
            (top / name).mkdir(parents=True, exist_ok=True)
            found[name] = commands
    return found
