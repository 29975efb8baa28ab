"""Checks of whether the machine is fit to measure on; they read and never change anything."""

from harness.host.fitness.examination import QUICK_WINDOW, examine, others_load, problems, standing_problems, unfit
from harness.host.fitness.kernel_files import Check, State, Tree
from harness.host.fitness.load import STILL_BUSY, WAITS

__all__ = [
    "QUICK_WINDOW",
    "STILL_BUSY",
    "WAITS",
    "Check",
    "State",
    "Tree",
    "examine",
    "others_load",
    "problems",
    "standing_problems",
    "unfit",
]
