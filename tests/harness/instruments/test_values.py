import math
import os
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate.config.commands import by_hand, mentions
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.rules import matches
from gate.config.types import Benchmark, Columns, MetricRules
from gate.model import Metric
from gate.writing.units import Duration, Quantity
from harness.instruments.protocol import Context, Unusable, arguments
from harness.instruments.values import Enough, Values, so_far
from harness.process.execute import ProcessExecutor
from tests.harness.instruments.conftest import collected

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def benchmark(command: str | list[str], **options: Any) -> Benchmark:
    return Benchmark(name="b", command=command, instrument="values", **options)


def measured(context: Context, command: str | list[str], **options: Any) -> dict[str, Metric] | Unusable:
    found: dict[str, Metric] | Unusable = collected(Values(), benchmark(command, **options), context)
    return found


def status(context: Context, command: str | list[str], **options: Any) -> str:
    found = measured(context, command, **options)
    assert isinstance(found, Unusable)
    assert "\n" not in found.status
    return found.status


def time_metric(*values: float, dropped: tuple[float, ...] = (), step: float | None = 0.1) -> dict[str, Metric]:
    return {"time": Metric(unit="s", better="lower", values=list(values), dropped=list(dropped), step=step)}


def test_only_given_names_are_replaced_and_a_command_by_hand_is_what_one_types() -> None:
    values = {"seed": "{output}", "output": "/a b/{seed}"}
    assert arguments(["x", "{seed}{output}", "{SEED} {0} {{seed}} ${output}"], values) == (
        "x",
        "{output}/a b/{seed}",
        "{SEED} {0} {{output}} $/a b/{seed}",
    )
    assert arguments("p {seed} '{other}' {output}", values) == ("sh", "-c", "p '{output}' '{other}' '/a b/{seed}'")
    assert by_hand("set -e\nmake\n", {}) == "(\nset -e\nmake\n)"
    assert by_hand(["./a b", "it's", "{seed}"], {"seed": "1"}) == "'./a b' 'it'\"'\"'s' 1"
    assert by_hand("make && ./x {seed}", {"seed": "1"}) == "make && ./x 1"
    assert mentions(["a", "--o={output}"], "output")
    assert not mentions("a output {Output}", "output")


def test_metrics_that_a_program_names_itself_are_chosen_like_those_of_a_suite(context: Context) -> None:
    parse(
        from_tables({"benchmark": [{"name": "b", "command": "b", "instrument": "values", "exclude": ["other*"]}]}, "x")
    )
    lines = "\n".join(f'{{"metric":"{name}","value":1,"unit":"s"}}' for name in ("own: a", "own: b", "other: a"))
    found = measured(context, f"echo {shlex.quote(lines)}", exclude=["other*"])
    assert isinstance(found, dict) and [*found] == ["own: a", "own: b"]
    found = measured(context, f"echo {shlex.quote(lines)}", include=["*a"])
    assert isinstance(found, dict) and [*found] == ["own: a", "other: a"]


def test_what_the_program_is_told(context: Context) -> None:
    command = Values().prepare(benchmark(["./b", "{seed}", "{output}"], warmup=2, timeout=Duration(9)), context)
    output = str(context.scratch / "output")
    assert command.argv == ("./b", "17", output)
    assert command.environment == ENVIRONMENT | {
        "PERFGATE_ITERATIONS": "3",
        "PERFGATE_WARMUP": "2",
        "PERFGATE_OUTPUT": output,
        "PERFGATE_SIDE": "head",
        "PERFGATE_SEED": "17",
        "PERFGATE_PADDING": "xxxxx",
    }
    chosen = Values().prepare(benchmark(["./b"], include=["a", "b c"], exclude=["*d*"]), context).environment
    assert (chosen["PERFGATE_INCLUDE"], chosen["PERFGATE_EXCLUDE"]) == ("a\nb c", "*d*")
    assert (command.timeout, command.stdout, command.directory) == (9, context.scratch / "stdout", context.directory)


@pytest.mark.parametrize(
    "command",
    [
        "printf '0.2\\n0.1\\n' > {output}",
        'printf "0.2\\n0.1\\n" > "$PERFGATE_OUTPUT"; echo not a number',
        "printf '0.2\\n0.1\\n'",
        "touch \"$PERFGATE_OUTPUT\"; printf '0.2\\n0.1\\n'",
        ["printf", "0.2\\n0.1\\n"],
        [sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write('2e-1\\r\\n.1\\r\\n')", "{output}"],
    ],
)
def test_the_ways_to_give_values(context: Context, command: str | list[str]) -> None:
    assert measured(context, command) == time_metric(0.2, 0.1)


def test_values_are_of_metrics_with_a_warm_up_and_digits(context: Context) -> None:
    # the first values of each metric are warm-up
    lines = '9\n{"metric":"size","value":8,"unit":"B"}\n1\n2\n{"metric":"size","value":3}\n'
    rules = {"size": MetricRules(unit="B", better="higher"), "time": MetricRules()}
    assert measured(context, ["printf", "%s", lines], warmup=1, metric=rules) == {
        "time": Metric(unit="s", better="lower", values=[1, 2], dropped=[9], step=1),
        "size": Metric(unit="B", better="higher", values=[3], dropped=[8], step=1),
    }
    # of few values the digits are known
    found = measured(context, ["printf", "9.0\\n12.00\\n12.0\\n12.00\\n"], warmup=1)
    assert found == time_metric(12, 12, 12, dropped=(9,), step=0.1)
    assert isinstance(found, dict)
    assert {type(value) for value in (*found["time"].values, *found["time"].dropped)} == {float}
    lines = '{"metric":"time","value":12,"unit":"ms"}\n' * 2
    assert measured(context, ["printf", "%s", lines]) == time_metric(0.012, 0.012, step=0.001)
    # the only declared metric takes plain numbers
    rules = {"rate": MetricRules(unit="req/s", better="higher")}
    assert measured(context, ["echo", "-5"], metric=rules) == {
        "rate": Metric(unit="req/s", better="higher", values=[-5], dropped=[], step=1)
    }


LIMIT = {"max_output": Quantity.parse("1kB")}
IRREGULAR = "the output is not a regular file"


@pytest.mark.parametrize(
    ("command", "options", "why"),
    [
        ("printf '\\n\\n'", {}, "no values"),
        ("printf '1\\ninf'", {}, "line 2 of the output: 'inf' is not a finite number"),
        ("printf '%b' '1\\n\\0377'", {}, "line 2 of the output: '\ufffd' is not a number"),
        ("echo -1", {}, "line 1 of the output: '-1' is below 0"),
        ("printf '1\\n2\\n'", {"warmup": 2}, "2 values of 'time', and warmup takes 2"),
        ("echo 1", {"metric": {"latency": MetricRules(), "size": MetricRules()}}, "no values of 'latency', 'size'"),
        ("echo 1; : {output}", {}, "no values: the program did not write {output}"),
        ("echo 1; touch {output}", {}, "no values"),
        ("echo 1 > real; ln -s $PWD/real {output}", {}, "the output is a link, not a file"),
        ("mkfifo {output}", {}, IRREGULAR),
        ("mkdir {output}", {}, IRREGULAR),
        ("head -c 1001 /dev/zero > {output}", LIMIT, "the output is longer than max_output (1000 bytes)"),
        ("head -c 1001 /dev/zero", LIMIT, "the output is longer than max_output (1000 bytes)"),
        ("yes 1", LIMIT, "more than 1000 bytes on standard output"),
        ("truncate -s 1T {output}", {}, "the output is longer than max_output (256000000 bytes)"),
        ("echo a,b > {output}", {"column": "nope"}, "the CSV has no column 'nope': there are 'a, b'"),
        (["./missing"], {}, 'cannot start: there is no program "./missing"'),
        ("sleep 9", {"timeout": Duration(0.2)}, "time-out after 0.2s"),
    ],
)
def test_what_cannot_be_used(context: Context, command: str | list[str], options: dict[str, Any], why: str) -> None:
    assert status(context, command, **options) == why


def test_a_failure_tells_what_the_program_said(context: Context) -> None:
    assert measured(context, "echo 1; echo oh >&2; exit 3") == Unusable("exit 3", "oh\n")
    found = measured(context, "echo 'why it failed'; echo noise >&2; exit 3; : {output}")
    assert found == Unusable("exit 3", "--- standard output ---\nwhy it failed\n--- standard error ---\nnoise\n")
    silent = measured(context, "echo 1; echo connecting; sleep 60", timeout=Duration(1))
    assert silent == Unusable("time-out after 1s", "1\nconnecting")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_output_that_cannot_be_read(context: Context) -> None:
    assert status(context, "touch {output}; chmod 0 {output}") == "the output cannot be read: permission denied"


def test_other_formats_go_through_their_readers(context: Context) -> None:
    program = "printf 'id,latency_ms\\n1,8\\n2,2.5\\n' > {output}"
    assert measured(context, program, column="latency_ms", warmup=1) == {
        "latency": Metric(unit="s", better="lower", values=[0.0025], dropped=[0.008], step=0.0001)
    }
    assert measured(context, "echo 1.5 > {output}", format="values") == time_metric(1.5)
    (context.scratch / "output").unlink()
    # a share of all requests has no warm-up
    rows = "latency_ms,success\\n8,true\\n5,true\\n7,false\\n6,true\\n"
    assert measured(context, ["printf", rows], column="latency_ms", warmup=1) == {
        "latency": Metric(unit="s", better="lower", values=[0.005, 0.006], dropped=[0.008]),
        "success": Metric(unit="", better="higher", values=[0.75]),
    }
    everything = measured(context, ["printf", rows], column=Columns(value="latency_ms", success=""))
    assert isinstance(everything, dict) and {name: len(each.values) for name, each in everything.items()} == {
        "latency": 4
    }


LIBTEST = "test m::a ... bench: 12 ns/iter (+/- 3)\ntest m::ab ... bench: 13 ns/iter (+/- 3)\n"


@pytest.mark.parametrize(
    ("command", "include", "starts"),
    [
        (["./bench", "--bench"], ["m::a"], ["--bench m::a --exact"]),
        ("cd . && ./bench --bench\n", ["m::a"], ["--bench m::a --exact"]),
        # bencher takes one name a start
        (["./bench", "--bench"], ["m::a", "m::ab"], ["--bench m::a --exact", "--bench m::ab --exact"]),
        # of which part is meant nobody knows
        ("cd . && ./bench --bench", ["m::a", "m::ab"], ["--bench"]),
        # what a glob surely holds; of several all
        (["./bench"], ["m::a*"], ["m::a"]),
        (["./bench"], ["*"], [""]),
        (["./bench"], ["m::a*", "m::ab"], [""]),
        (["./cargo", "bench"], ["m::a"], ["bench -- m::a --exact"]),
        ("./cargo bench -- --nocapture", ["m::a"], ["bench -- --nocapture m::a --exact"]),
    ],
)
def test_of_rusts_own_benches_only_what_is_named_is_run(
    context: Context, command: str | list[str], include: list[str], starts: list[str]
) -> None:
    # it prints what it was asked for, or all
    script = f"""#!/bin/sh
echo "$*" >>asked
case "$*" in
*"m::a --exact") printf '{LIBTEST}' | head -n 1;; *"m::ab --exact") printf '{LIBTEST}' | tail -n 1;; *) printf '{LIBTEST}';;
esac
"""
    for name in ("bench", "cargo"):
        (context.directory / name).write_text(script)
        (context.directory / name).chmod(0o755)
    found = measured(context, command, format="libtest", include=include)
    assert isinstance(found, dict), found
    assert (context.directory / "asked").read_text().splitlines() == starts
    assert [*found] == [name for name in ("m::a", "m::ab") if any(matches(glob, name) for glob in include)]


def test_what_an_ended_program_had_told_is_its_whole_lines(context: Context) -> None:
    each = benchmark(["sh", "-c", f"printf '{LIBTEST}test m::c ... '"], format="libtest")
    ProcessExecutor().run(Values().prepare(each, context))
    values = [(name, *metric.values) for name, metric in so_far(each, context).items()]
    assert values == [("m::a", pytest.approx(12e-9)), ("m::ab", pytest.approx(13e-9))]
    nothing = benchmark(["printf", "running 3 tests\ntest m::c ... "], format="libtest")
    ProcessExecutor().run(Values().prepare(nothing, context))
    assert so_far(nothing, context) == {}
    lines = benchmark('echo \'{"metric": "a", "value": 2}\' >$PERFGATE_OUTPUT; printf \'{\' >>$PERFGATE_OUTPUT')
    ProcessExecutor().run(Values().prepare(lines, context))
    assert [*so_far(lines, context)] == ["a"]


def test_of_a_format_only_what_is_named_is_run_and_read(context: Context) -> None:
    tree = Path(__file__).parents[2] / "data/results/divan/tree.txt"
    command = ["sh", "-c", f'cat {shlex.quote(str(tree))}; echo "$@" >asked', "sh"]
    every = measured(context, command, format="divan")
    assert isinstance(every, dict)
    first = next(iter(every))
    one = measured(context, command, format="divan", include=[first])
    assert isinstance(one, dict)
    assert {name: each.view_of for name, each in one.items()} == {
        first: None,
        f"{first}.median": first,
        f"{first}.fastest": first,
    }
    assert len(one) < len(every)
    assert (context.directory / "asked").read_text() == f"^[^:]+::({first})($|::)\n"


def said(enough: Enough) -> str:
    return "ended" if enough() else ""


def test_a_program_is_ended_once_it_has_printed_what_is_wanted(context: Context) -> None:
    """By each name of include, or by time once anything is there; the values are those that it had printed."""
    script = "import time; print('a: 5 ms'); print('b: 6 ms'); time.sleep(60); print('c: 7 ms')"
    for include, seconds, names in ((["b", "a"], math.inf, {"a", "b"}), (["*"], 1.0, {"a", "b"})):
        each = benchmark([sys.executable, "-c", script], format="printed", include=include)
        enough = Enough(each, context, seconds)
        outcome = ProcessExecutor().run(Values().prepare(each, context), partial(said, enough))
        assert (outcome.status, enough.cut) == ("ended", include == ["*"])
        found = Values().collect(each, context, replace(outcome, status=""))
        assert isinstance(found, dict) and {*found} == names


def test_a_program_runs_to_its_end_where_something_wanted_is_not_printed(context: Context) -> None:
    each = benchmark(["echo", "a: 5 ms"], format="printed", include=["a", "b"])
    enough = Enough(each, context)
    assert ProcessExecutor().run(Values().prepare(each, context)).status == ""
    assert not enough()
    # nor is the output of any other format looked at
    assert not Enough(benchmark(["echo", "5"]), context, 0.0)()
