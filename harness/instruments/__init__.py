"""Instruments: how values come out of an execution; one file an instrument."""
