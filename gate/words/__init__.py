"""Findings and whole reports in words: what no single type of gate.model can say of itself."""
