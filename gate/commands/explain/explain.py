"""The functions behind the regressions of a run, profiled now where that was not done."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

from gate.cli.groups import OutputOptions, RulesOptions
from gate.codes import Exit
from gate.commands.explain.command import Options
from gate.config.rules import matches
from gate.decide.importance import explanations_of, unprofiled_of
from gate.decide.report import Decided
from gate.document.terminal import Screen, lines, screen
from gate.evidence.records import DEFAULT_FOLDER, MEASUREMENTS, REPORT, read_inputs
from gate.model import Report, UserError
from gate.model.profile import Profile
from gate.planning.deciding import decide_inputs
from gate.report.formats.text import functions
from gate.report.material import Kept
from gate.report.outputs import fill, refuse_inputs, require_writable, show, targets, write_asked
from gate.words import reports, verdict_line
from gate.words.short_names import Names
from gate.writing.phrases import listed, none_of
from gate.writing.plain import visible, wrap
from gate.writing.units import format_duration, plural

_EXPLAINED = ("regression", "accepted")
_NOTHING = (
    "Nothing regressed, so there is nothing to explain. `perfgate explain --benchmark NAME` profiles a benchmark "
    "all the same"
)
_WRITTEN = "the profiles are in {}; the same command shows them again without profiling"
_NO_FOLDER = (
    "{}: has no profiles, and only a run's folder can get some: `perfgate explain .perfgate` in the project, "
    "or `gate.explain = true` for the job that measures"
)


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Explain what regressed, or what is asked for by name; from the run's profiles, or from new ones.

    Raises: UserError: no such run, no such benchmark, files that cannot be written, or a project that is not the run's.
    """
    outputs = options.outputs
    require_writable(outputs)
    named = Path(options.run or DEFAULT_FOLDER)
    # a report.json stands for the folder that it is in
    source = named.parent if named.name == REPORT and not named.is_dir() else named
    refuse_inputs([source], targets(outputs))
    decided = _decided(source)
    names = _names(decided.report, options.benchmarks)
    report = decided.report
    every = explanations_of(decided.evidence, report.findings)
    lacking = [name for name in names if name not in {each.benchmark for each in every}]
    if lacking:
        _profile(source, report, lacking, outputs, err)
        decided = _decided(source)
        every = explanations_of(decided.evidence, decided.report.findings)
    # also of what is not slower
    explanations = [each for each in every if each.benchmark in names]
    unprofiled = [each for each in unprofiled_of(decided.evidence, every) if each.benchmark in names]
    shown = replace(decided, report=replace(decided.report, explanations=explanations, unprofiled=unprofiled))
    write_asked(shown, outputs)
    found, failed = shown.report, not names and report.verdict == "error"
    if "-" in outputs.files.values():
        show(shown, outputs, out)
    else:
        seen = screen(out)
        most = None if outputs.every else max(1, len(found.explanations), len(found.unprofiled))
        view = Screen(seen.color and not outputs.quiet, seen.width, seen.width)
        told = lines(functions(found, Names(found), most), view, "")
        nothing = f"{verdict_line.text(report)}. {reports.next_step(report)}" if failed else _NOTHING
        out.write("\n".join(told or wrap(f"{nothing}.", seen.width)) + "\n")
    return Exit.ERROR if failed or (found.unprofiled and not found.explanations) else Exit.PASS


def _decided(source: Path) -> Decided:
    return decide_inputs(read_inputs([str(source)]), RulesOptions())


def _names(report: Report, globs: Sequence[str]) -> list[str]:
    """Return the benchmarks to be explained, each once.

    Raises: UserError: nothing that was measured has such a name.
    """
    if not globs:
        return list(dict.fromkeys(f.benchmark for f in report.findings if f.verdict in _EXPLAINED))
    every = dict.fromkeys([*(f.benchmark for f in report.findings), *(r.benchmark for r in report.recorded)])
    found = [name for name in every if any(matches(glob, name) for glob in globs)]
    if not found:
        given = " ".join(globs)
        raise UserError(f"{given}: {none_of(given, every)}", option="benchmark")
    return found


def _profile(source: Path, report: Report, names: Sequence[str], outputs: OutputOptions, err: TextIO) -> None:
    """Profile benchmarks of a finished run, and put the explanations into the report that its folder has.

    Raises: UserError: it is not a folder, or the project is not the run's.
    """
    from gate.report import json
    from gate.run.profiling import LIMIT, profile_run

    folder = source if source.is_dir() else source.parent
    if not (folder / MEASUREMENTS).is_file() or (not source.is_dir() and source.name != MEASUREMENTS):
        raise UserError(_NO_FOLDER.format(source))
    if not outputs.quiet:
        seconds = [build.seconds for build in report.run.builds if build.build == 0 and build.seconds is not None]
        builds = (
            f"builds base and head again (about {format_duration(sum(seconds))})" if seconds else "builds both again"
        )
        err.write(
            f"perfgate: no profile yet of {listed([visible(name) for name in names])}: {builds} and executes "
            f"{plural(len(names), 'benchmark')} of each side under a profiler "
            f"(at most {format_duration(LIMIT)} in all)\n"
        )
        err.flush()
    made = profile_run(folder, names, err, quiet=outputs.quiet)
    explained = _decided(folder).report
    # into the folder's report as it was decided, if it is of the same run
    with suppress(OSError, json.ReportError):
        kept = json.read((folder / REPORT).read_bytes())
        if kept.run.id == explained.run.id:
            filled = replace(kept, explanations=explained.explanations, unprofiled=explained.unprofiled)
            fill(folder, Kept(filled, folder / MEASUREMENTS))
    if not outputs.quiet and any(isinstance(each, Profile) for each in made):
        err.write(f"perfgate: {_WRITTEN.format(visible(str(folder)))}\n")
