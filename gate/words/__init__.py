"""Findings, reasons, warnings and numbers in words: the only English about results."""
