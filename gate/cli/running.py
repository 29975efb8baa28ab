"""Parsed command lines -> the commands, each imported only when it runs, so that --help loads nothing heavy."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TextIO

from gate.cli.arguments import measuring_of, outputs_of, rules_of
from gate.commands.action import options as action_options
from gate.commands.compare import options as compare_options
from gate.commands.publish import options as publish_options
from gate.model import UserError
from gate.run import matrix


def run_init(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Write a configuration."""
    if parsed.workflow is not None:
        workflow = import_module("gate.commands.init.workflow")
        options = workflow.WorkflowOptions(Path.cwd(), parsed.workflow, parsed.action, parsed.force)
        written: int = workflow.run(options, out, err)
        return written
    if parsed.action is not None:
        raise UserError("--action: goes with --workflow only")
    init = import_module("gate.commands.init.init")
    code: int = init.run(init.InitOptions(Path.cwd(), parsed.kind, parsed.force), out, err)
    return code


def run_check(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Measure and decide."""
    check = _measuring_command("gate.commands.check.check")
    code: int = check.run(measuring_of(parsed), rules_of(parsed), outputs_of(parsed), out, err)
    return code


def run_measure(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Measure."""
    measure = _measuring_command("gate.commands.measure.measure")
    code: int = measure.run(measuring_of(parsed), rules_of(parsed), out, err, quiet=parsed.quiet)
    return code


def _measuring_command(name: str) -> ModuleType:
    # asked first: where measuring is not supported its modules cannot even be loaded
    import_module("gate.run.refusal").require_measuring()
    return import_module(name)


def run_decide(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    """Decide over files."""
    decide = import_module("gate.commands.decide.command")
    code: int = decide.run(parsed.files, rules_of(parsed), outputs_of(parsed), out)
    return code


def run_report(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Render a run again."""
    report = import_module("gate.commands.report.report")
    links = report.links_with(parsed.report_url, parsed.run_url)
    options = report.ReportOptions(tuple(parsed.runs), parsed.format, parsed.out, parsed.all, links)
    code: int = report.run(options, rules_of(parsed), outputs_of(parsed), out, err)
    return code


def run_compare(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    """Put two runs side by side."""
    compare = import_module("gate.commands.compare.compare")
    code: int = compare.run(compare_options.options_of(parsed), rules_of(parsed), out)
    return code


def run_plan(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Plan the next runs."""
    wanted = matrix.options_of(parsed)
    if wanted is not None:
        printed: int = matrix.run(wanted, rules_of(parsed), out)
        return printed
    plan = import_module("gate.commands.plan.plan")
    options = plan.PlanOptions(
        tuple(parsed.runs), parsed.history, parsed.budget, parsed.target, parsed.detect, parsed.json
    )
    code: int = plan.run(options, rules_of(parsed), out, err)
    return code


def run_doctor(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Look at the host."""
    if parsed.metrics:
        if not parsed.argv:
            raise UserError("--metrics: needs a command: perfgate doctor --metrics -- COMMAND")
        if parsed.strict:
            raise UserError("--strict: does not go with --metrics")
        return _run_metrics(parsed, out, err)
    if parsed.argv:
        raise UserError(f"{parsed.argv[0]}: a command belongs to --metrics; see perfgate doctor --help")
    doctor = _measuring_command("gate.commands.doctor.doctor")
    code: int = doctor.run(doctor.DoctorOptions(parsed.strict, parsed.json), out)
    return code


def _run_metrics(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    metrics = _measuring_command("gate.commands.doctor.metrics")
    code: int = metrics.run(metrics.MetricsOptions(command=tuple(parsed.argv), json=parsed.json), out, err)
    return code


def run_config(parsed: argparse.Namespace, out: TextIO, _: TextIO) -> int:
    """Show the configuration."""
    config = import_module("gate.commands.config.command")
    options = config.ConfigOptions(parsed.base, parsed.head, parsed.schema)
    code: int = config.run(options, rules_of(parsed), out)
    return code


def run_publish(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Put a report on a pull request."""
    publish = import_module("gate.commands.publish.publish")
    code: int = publish.run(publish_options.options_of(parsed), out, err)
    return code


def run_action(parsed: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Run a step of the GitHub Action."""
    action = import_module("gate.commands.action.command")
    code: int = action.run(action_options.options_of(parsed), out, err)
    return code
