"""Designed experiments: effects and their tests. Takes pandas frames, unlike the rest of gate.stats."""
