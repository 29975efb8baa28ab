"""Each step of a release: `python -m scripts.release --help`. docs/releasing.md says when each is needed."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from scripts.release import changelog, packages, publish, version
from scripts.release.errors import ReleaseError

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; 1 and a line for each reason if it cannot be done."""
    options = _parser().parse_args(arguments)
    try:
        options.step(options)
    except (ReleaseError, OSError) as error:
        sys.stderr.write("".join(f"release: {line}\n" for line in str(error).splitlines()))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.release", description=__doc__)
    parser.add_argument("--top", type=Path, default=ROOT, help=argparse.SUPPRESS)
    steps = parser.add_subparsers(metavar="STEP", required=True)

    step = steps.add_parser("prepare", help="write the version and the date into gate/__init__.py and CHANGELOG.md")
    step.add_argument("version", help="such as 1.2.3, or 1.2.3rc1")
    step.set_defaults(step=_prepare)

    step = steps.add_parser("check", help="do the tag, gate/__init__.py and CHANGELOG.md name one version?")
    step.add_argument("tag", help="such as v1.2.3")
    step.add_argument("--on", metavar="BRANCH", help="the branch that the tagged commit must be on")
    step.set_defaults(step=_check)

    step = steps.add_parser("notes", help="print the notes of a release, from CHANGELOG.md")
    step.add_argument("tag", nargs="?", help="default: what is unreleased")
    step.set_defaults(step=_notes)

    step = steps.add_parser("build", help="build wheel and sdist of a commit, always with the same bytes")
    step.add_argument("--commit", default="HEAD", help="default: HEAD")
    step.add_argument("--out", type=Path, default=Path("dist"), help="folder for them (default: dist)")
    step.set_defaults(step=_build)

    step = steps.add_parser("publish", help="make the GitHub release of a tag, and move v1 and v1.2 to it")
    step.add_argument("tag", help="the release, such as v1.2.3; it is at the remote already")
    step.add_argument("--dist", type=Path, default=Path("dist"), help="folder of packages/ and notes.md")
    step.add_argument("--remote", default="origin", help="default: origin")
    step.add_argument("--dry-run", action="store_true", help="only show what would be done")
    step.set_defaults(step=_publish)

    step = steps.add_parser("plan", help="the workflow's first step: check the tag, write notes.md")
    step.add_argument("--dist", type=Path, default=Path("dist"), help="folder for notes.md (default: dist)")
    step.add_argument("--on", metavar="BRANCH", default="origin/main", help="default: origin/main")
    step.set_defaults(step=_plan)
    return parser


def _prepare(options: argparse.Namespace) -> None:
    wanted = version.Version.parse(options.version)
    module, log = options.top / "gate" / "__init__.py", options.top / changelog.NAME
    present = version.declared(options.top)
    if wanted < present:
        raise ReleaseError(f"{wanted} is before {present}, which gate/__init__.py has")
    text = changelog.released(log.read_text(encoding="utf-8"), str(wanted), datetime.now(UTC).date())
    declared = module.read_text(encoding="utf-8").replace(f'"{present}"', f'"{wanted}"')
    log.write_text(text, encoding="utf-8")
    module.write_text(declared, encoding="utf-8")
    _print(f"gate/__init__.py and {changelog.NAME} have {wanted}")
    _print(f"read the notes: python -m scripts.release notes v{wanted}")


def _check(options: argparse.Namespace) -> None:
    found = version.agree(options.top, options.tag)
    if options.on:
        version.on_branch(options.top, options.tag, options.on)
    _print(f"{options.tag}: gate/__init__.py and {changelog.NAME} have {found}")


def _notes(options: argparse.Namespace) -> None:
    read = changelog.Changelog.read(options.top)
    if options.tag is None:
        sys.stdout.write(read.preview())
    else:
        sys.stdout.write(read.notes(str(version.Version.of_tag(options.tag))))


def _build(options: argparse.Namespace) -> None:
    built = packages.build(options.top, options.commit, options.out)
    _print((options.out / packages.SUMS).read_text(encoding="utf-8").rstrip())
    ours = version.declared(options.top)
    wrong = [path.name for path in built if not re.match(rf"perfgate-{re.escape(str(ours))}(-|\.tar)", path.name)]
    if wrong:
        raise ReleaseError(f"{', '.join(wrong)} is not of version {ours}, which gate/__init__.py has")


def _publish(options: argparse.Namespace) -> None:
    for line in publish.publish(options.top, options.tag, options.dist, options.remote, dry_run=options.dry_run):
        _print(line)


def _plan(options: argparse.Namespace) -> None:
    found = version.plan(options.top, os.environ, options.on)
    options.dist.mkdir(parents=True, exist_ok=True)
    (options.dist / publish.NOTES).write_text(found.notes, encoding="utf-8")
    for variable, text in (
        ("GITHUB_OUTPUT", f"publish={str(found.publish).lower()}\n"),
        ("GITHUB_STEP_SUMMARY", found.summary),
    ):
        if os.environ.get(variable):
            with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
                file.write(text)
    sys.stdout.write(found.summary)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
