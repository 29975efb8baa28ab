"""Checks of whether the machine is fit to measure on; they read and never change anything."""

from harness.host.fitness.check import Check, State
from harness.host.fitness.examination import examine, problems, standing_problems, unfit
from harness.host.fitness.kernel_files import Tree
from harness.host.fitness.load import WAITS

__all__ = [
    "WAITS",
    "Check",
    "State",
    "Tree",
    "examine",
    "problems",
    "standing_problems",
    "unfit",
]
