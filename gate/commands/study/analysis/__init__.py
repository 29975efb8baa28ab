"""Designed experiments: measurements with factors to effects, tables and words."""
