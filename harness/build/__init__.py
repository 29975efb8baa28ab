"""Builds of both sides, each laid out afresh."""
