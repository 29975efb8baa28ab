"""Profilers: what finds out where one execution spends its time."""
