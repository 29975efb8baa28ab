"""The options of perfgate action, the steps of the GitHub Action; loads nothing heavy."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal

Step = Literal["prepare", "measure", "decide", "publish"]
STEPS: tuple[Step, ...] = ("prepare", "measure", "decide", "publish")


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """Which step of the action this is; what it goes by is in the environment."""

    step: Step


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the step."""
    parser.add_argument("step", metavar="STEP", choices=STEPS, help=f"{', '.join(STEPS)}: as action.yml calls them")


def options_of(parsed: argparse.Namespace) -> ActionOptions:
    """Give what the arguments say."""
    return ActionOptions(parsed.step)
