"""The tool Criterion.rs: `cargo bench`, or a compiled benchmark."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from gate.formats import criterion
from gate.formats.parts.output import EmptyError, OutputError, Suite
from gate.walking import walk
from gate.writing.plain import visible
from harness.instruments.declaration import built_in
from harness.instruments.protocol import at_least
from harness.instruments.suite import Call, SuiteInstrument
from harness.instruments.values import read_values
from harness.process.execute import ProcessEnd

_LEAST = 10
"""The smallest --sample-size that Criterion takes."""
_RESAMPLES = 1001
"""For Criterion's own analysis, which nobody reads: its default of 100,000 takes long, and it warns of 1000."""
_FOREIGN = re.compile(r"error: Unrecognized option: '([^'\n]*)'")
_PANIC = re.compile(r"^thread '.*panicked at .*:\n(?!Baseline)(.+)", re.MULTILINE)
_ZERO = re.compile(r"At least one measurement of benchmark (.*) took zero time")
_SHOWN = 120


class Criterion(SuiteInstrument):
    """Gives Criterion a directory of its own, so that nothing of an earlier run is read, and reads its samples."""

    reason = re.compile(r"^(?:error(?:\[E\d+\])?: |Baseline '.*' must exist).*", re.MULTILINE)

    def options(self, call: Call) -> tuple[str, ...]:
        """Return the number of samples, behind cargo's "--"; a compiled benchmark only measures with --bench."""
        cargo = any(PurePath(word).name == "cargo" for word in call.words)
        added = [] if cargo or _given(call, "bench") else ["--bench"]
        if not _given(call, "noplot") and "-n" not in call.words:
            added.append("--noplot")
        if not _given(call, "sample-size") and not _given(call, "quick"):
            added.append(f"--sample-size={max(_LEAST, call.values)}")
        if not _given(call, "nresamples") and not _given(call, "quick"):
            added.append(f"--nresamples={_RESAMPLES}")
        return ("--", *added) if cargo and "--" not in call.words else tuple(added)

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the filter for what globs name, of which a compiled benchmark takes one; none where it has its own."""
        cargo = any(PurePath(word).name == "cargo" for word in call.words)
        own = call.words[call.words.index("&&") + 1 :] if "&&" in call.words else call.words
        named = any(not word.startswith("-") for word in own[1:])
        return () if cargo or named else (f"^{at_least(globs)}($|/)",)

    def environment(self, call: Call) -> dict[str, str]:
        """Set where Criterion keeps its files."""
        return {"CRITERION_HOME": str(call.output)}

    def read(self, call: Call) -> Suite:
        """Read every directory "new" of benchmarks under {output}.

        Raises: OutputError: there is none, a file is not a regular file, or they hold more than the limit.
        """
        if call.output.is_symlink() or (call.output.exists() and not call.output.is_dir()):
            raise OutputError("the output is a link or a file, and Criterion's is a directory")
        found, left = {}, call.limit
        # directories "new" in which there are files; a group may itself be called so
        places = sorted(
            Path(place).parent for place, _, files in walk(call.output) if Path(place).name == "new" and files
        )
        for directory in places:
            benchmark = read_values(directory / "new" / "benchmark.json", left)
            sample = read_values(directory / "new" / "sample.json", left)
            left -= len(benchmark or b"") + len(sample or b"")
            if left < 0:
                raise OutputError(f"the output is longer than max_output ({call.limit:.0f} bytes)")
            again = (directory / "change").is_dir()
            found[str(directory.relative_to(call.output))] = criterion.Files(benchmark, sample, again)
        # Criterion leaves such a benchmark out, and ends with 0
        left_out = {visible(name): "a measurement took zero time" for name in _ZERO.findall(call.stderr)}
        if not found and not left_out:
            raise EmptyError("Criterion wrote no results: no benchmark ran, or CRITERION_HOME did not reach it")
        suite = criterion.suite(found)
        return Suite(suite.benchmarks, suite.errors | left_out)

    def explain(self, outcome: ProcessEnd, said: str) -> str:
        """Say which option was refused by what, or what failed."""
        foreign = _FOREIGN.search(said)
        if foreign:
            return (
                f"{outcome.status}: a bench target that is not of Criterion does not know --{foreign[1]}: name "
                "Criterion's with --bench NAME, or set bench = false for [lib] and [[bin]] in Cargo.toml"
            )
        panic = _PANIC.search(said)
        return f"{outcome.status}: panic: {visible(panic[1])[:_SHOWN]}" if panic else super().explain(outcome, said)


def _given(call: Call, name: str) -> bool:
    behind = call.words[call.words.index("--") :] if "--" in call.words else call.words
    return any(word == f"--{name}" or word.startswith(f"--{name}=") for word in behind)


INSTRUMENT = built_in(Criterion())
