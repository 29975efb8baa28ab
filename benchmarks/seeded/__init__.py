"""Regressions that are put into public programs, to see how often `perfgate explain` names the culprit."""
