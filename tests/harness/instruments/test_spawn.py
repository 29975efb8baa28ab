import dataclasses
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gate.config.types import Benchmark, MetricRules
from gate.model import Metric
from harness.instruments.protocol import Context, Unusable
from harness.instruments.spawn import Spawn
from harness.process.execute import Outcome, ProcessExecutor

ENVIRONMENT = {"PATH": os.environ["PATH"]}
COUNT = 'echo x >> count; test "$(wc -l < count)" -lt 3 || { echo third >&2; exit 4; }'


def measured(context: Context, command: str | list[str], **options: Any) -> dict[str, Metric] | Unusable:
    each, spawn = Benchmark(name="b", command=command, instrument="spawn", **options), Spawn()
    # as in a run: each execution has a scratch directory for itself
    context = dataclasses.replace(context, scratch=Path(tempfile.mkdtemp(dir=context.scratch)))
    return spawn.collect(each, context, ProcessExecutor().run(spawn.prepare(each, context)))


def good(found: dict[str, Metric] | Unusable) -> dict[str, Metric]:
    assert not isinstance(found, Unusable), found
    return found


def test_the_times_and_the_memory_of_a_program(context: Context) -> None:
    found = good(measured(context, ["sleep", "0.05"], warmup=1))
    elapsed, user, system = found["time"], found["user"], found["system"]
    assert [each.unit for each in (elapsed, user, system)] == ["s", "s", "s"]
    assert [each.better for each in (elapsed, user, system)] == ["lower"] * 3
    assert [(len(each.values), len(each.dropped)) for each in (elapsed, user, system)] == [(3, 1)] * 3
    assert all(value >= 0.05 for value in [*elapsed.values, *elapsed.dropped])
    assert all(0 <= value < 0.05 for value in [*user.values, *system.values])
    # memory below the launcher's own is not told
    assert set(good(measured(context, ["true"]))) == {"time", "active", "user", "system"}
    found = measured(context, ["true"], metric={"memory": MetricRules()})
    assert isinstance(found, Unusable)
    assert found.status.startswith("no values of 'memory' (spawn cannot measure memory below ")
    assert found.status.endswith(" MiB, the launcher's own size)")


def test_the_environment_of_a_program_is_its_own_and_none_reaches_the_launcher(context: Context) -> None:
    script = 'env | sort > seen; cat > input; echo "$@" > arguments; ls -l /dev/fd > files; echo out; echo err >&2'
    good(measured(context, ["sh", "-c", script, "sh", "a b", "{seed}", "{x}", "🐢\n'"]))
    seen = (context.directory / "seen").read_text().splitlines()
    assert set(seen) - {"_=/usr/bin/env"} == {
        f"PATH={ENVIRONMENT['PATH']}",
        f"PWD={context.directory}",
        "PERFGATE_SIDE=head",
        "PERFGATE_SEED=17",
        "PERFGATE_PADDING=xxxxx",
    }
    assert (context.directory / "input").read_text() == ""
    assert (context.directory / "arguments").read_text() == "a b 17 {x} 🐢\n'\n"
    # it has the default signals
    assert measured(context, "kill -PIPE $$") == Unusable("signal SIGPIPE", "")
    # a poisoned environment does not reach the launcher
    (context.directory / "os.py").write_text("raise SystemExit('not the real os')")
    (context.directory / "resource.py").write_text("raise SystemExit('not the real resource')")
    poison = {
        "PYTHONPATH": str(context.directory),
        "PYTHONHOME": "/nowhere",
        "PYTHONSTARTUP": "x",
        "PYTHONINSPECT": "1",
    }
    inner = Context(context.directory, ENVIRONMENT | poison, "base", 1, 0, 1, context.scratch)
    assert "time" in good(measured(inner, ["true"]))


@pytest.mark.parametrize("lc_ctype", [None, "", "C", "POSIX", "de_DE.UTF-8"])
def test_the_locale_of_the_launchers_python_stays_its_own(context: Context, lc_ctype: str | None) -> None:
    # a Python started under the C locale sets LC_CTYPE for itself and its children
    added = {} if lc_ctype is None else {"LC_CTYPE": lc_ctype}
    inner = Context(context.directory, ENVIRONMENT | added, "base", 1, 0, 1, context.scratch)
    good(measured(inner, "env > seen"))
    seen = (context.directory / "seen").read_text().splitlines()
    assert [line for line in seen if line.startswith("LC_")] == ([] if lc_ctype is None else [f"LC_CTYPE={lc_ctype}"])


def test_the_launcher_itself_failed(context: Context) -> None:
    each, spawn = Benchmark(name="b", command=["true"], instrument="spawn"), Spawn()
    outcome = Outcome("exit 1", "", 0.1, "Traceback", 1)
    assert spawn.collect(each, context, outcome) == Unusable("spawn: exit 1", "Traceback")
    assert spawn.collect(each, context, Outcome("signal SIGKILL", "", 0.1, "")) == Unusable("signal SIGKILL", "")
    assert spawn.collect(each, context, Outcome("", "", 0.1, "")) == Unusable("spawn: no result", "")


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="this kernel counts no waiting")
def test_active_time_of_several_starts_is_sharp_where_one_task_does_the_work(context: Context) -> None:
    work = "sum(range(10**6))"
    alone = good(measured(context, [sys.executable, "-I", "-S", "-c", work]))
    child = good(measured(context, ["sh", "-c", f"{sys.executable} -I -S -c '{work}'; true"]))
    assert [found["active"].view_of for found in (alone, child)] == ["time", "time"]
    assert [found["active"].sharp for found in (alone, child)] == [True, False]
