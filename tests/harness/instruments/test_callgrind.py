from pathlib import Path
from typing import Any

from gate.config.types import Benchmark, MetricRules
from gate.model import Metric
from harness.instruments.callgrind import Callgrind, find_callgrind
from harness.instruments.declaration import FoundInstrument
from harness.instruments.protocol import Context, Unusable
from harness.process.execute import ProcessEnd
from tests.harness.instruments.conftest import collected, install

OK = ProcessEnd("", "", 1.0, "")
PROFILE = "events: Ir\ntotals: {}\n"
# stands for valgrind where the host has none: two profiles, as of a command with a child
FAKE = """#!/bin/sh
test "$1" = --version && { echo valgrind-3.19.0; exit; }
while test "$1" != --; do case $1 in --callgrind-out-file=*) out=${1#*=};; esac; shift; done; shift
base=$(printf '%s' "$out" | sed 's/%p$//; s/%%/%/g')
printf 'events: Ir\\ntotals: 40\\n' > "${base}7"
printf 'events: Ir\\ntotals: 2\\n' > "${base}7.1"
exec "$@"
"""


def benchmark(command: str | list[str], **options: Any) -> Benchmark:
    return Benchmark(name="b", command=command, instrument="callgrind", **options)


def test_the_call(context: Context) -> None:
    each = benchmark(["./b", "{seed}"])
    command = Callgrind("/bin/valgrind", ("/bin/setarch", "x86_64", "-R")).prepare(each, context)
    assert command.argv[:5] == ("/bin/setarch", "x86_64", "-R", "/bin/valgrind", "--tool=callgrind")
    assert command.argv[-3:] == ("--", "./b", "17")
    # valgrind would put the process id for %p
    out = str(context.scratch).replace("%", "%%")
    assert f"--callgrind-out-file={out}/callgrind.out.%p" in command.argv
    assert f"--log-file={out}/valgrind.log.%p" in command.argv
    assert command.environment["PYTHONHASHSEED"] == "0"
    inner = Context(context.directory, {"PYTHONHASHSEED": "5"}, "base", 1, 0, 1, context.scratch)
    assert Callgrind("/v", ()).prepare(each, inner).environment["PYTHONHASHSEED"] == "5"


def test_one_value_of_all_processes_unless_the_program_failed(tmp_path: Path, context: Context) -> None:
    found = find_callgrind(install(tmp_path / "bin", valgrind=FAKE))
    assert isinstance(found, FoundInstrument), found
    assert found.version == "3.19.0"
    each = benchmark(["sh", "-c", "echo x >> starts"], warmup=2)
    assert collected(found.instrument, each, context) == {
        "instructions": Metric(unit="", better="lower", values=[42.0], dropped=[])
    }
    assert (tmp_path / "starts").read_text() == "x\n"
    found = find_callgrind(install(tmp_path / "bin", valgrind=FAKE))
    assert isinstance(found, FoundInstrument)
    each = benchmark("echo why >&2; exit 3")
    assert collected(found.instrument, each, context) == Unusable("exit 3", "why\n")


def test_what_cannot_start_or_be_used(context: Context) -> None:
    callgrind, each = Callgrind("/v", ()), benchmark(["./b"])
    assert callgrind.collect(each, context, OK) == Unusable("callgrind wrote no profile", "")
    (context.scratch / "callgrind.out.7").write_text("events: Ir\n")
    assert callgrind.collect(each, context, OK) == Unusable("a profile of callgrind is cut off: no totals", "")
    (context.scratch / "callgrind.out.7").write_text(PROFILE.format(1))
    declared = benchmark(["./b"], metric={"time": MetricRules()})
    assert callgrind.collect(declared, context, OK) == Unusable(
        "no values of 'time' (callgrind gives instructions)", ""
    )
    higher = benchmark(["./b"], metric={"instructions": MetricRules(better="higher")})
    assert callgrind.collect(higher, context, OK) == {"instructions": Metric(unit="", better="higher", values=[1.0])}
    (context.scratch / "callgrind.out.7").unlink()
    said = "valgrind: ./b: No such file or directory\n"
    found = callgrind.collect(each, context, ProcessEnd("exit 127", "", 0.1, said, 127))
    assert found == Unusable('cannot start: there is no program "./b"', said, True)
    found = callgrind.collect(each, context, ProcessEnd("exit 126", "", 0.1, "", 126))
    assert found == Unusable('cannot start: "./b" is not executable', "", True)
    # with a profile it was the program's own exit
    (context.scratch / "callgrind.out.7").write_text(PROFILE.format(1))
    assert callgrind.collect(each, context, ProcessEnd("exit 127", "", 0.1, "", 127)) == Unusable("exit 127", "", True)


def test_a_host_without_valgrind_or_without_fixed_addresses(tmp_path: Path) -> None:
    assert find_callgrind({"PATH": str(tmp_path)}) == "valgrind is not installed (the package is called valgrind)"
    script = '#!/bin/sh\ntest "$1" = --version || { echo "cannot run here" >&2; exit 1; }\n'
    found = find_callgrind(install(tmp_path, valgrind=script, setarch="#!/bin/sh\nexit 1\n"))
    assert isinstance(found, str)
    assert found.endswith("valgrind fails: cannot run here")
    refused = install(tmp_path / "bin", valgrind=FAKE, setarch="#!/bin/sh\nexit 1\n")
    found = find_callgrind(refused)
    assert isinstance(found, FoundInstrument)
    assert found.instrument == Callgrind(str(tmp_path / "bin" / "valgrind"), ())
    assert [limit.split(" (")[0] for limit in found.limits] == ["addresses cannot be fixed here"]
    fixed = find_callgrind(install(tmp_path / "bin", setarch='#!/bin/sh\nshift 2\nexec "$@"\n'))
    assert isinstance(fixed, FoundInstrument)
    assert isinstance(fixed.instrument, Callgrind)
    assert (fixed.instrument.fixed[2], fixed.limits) == ("-R", ())
