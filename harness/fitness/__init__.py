"""Whether the machine is fit to measure on: checks that read and never change anything."""

from harness.fitness.check import Check, State
from harness.fitness.examination import examine, problems, standing_problems, unfit
from harness.fitness.tree import Tree

__all__ = ["Check", "State", "Tree", "examine", "problems", "standing_problems", "unfit"]
