"""Adapters: the output of another tool -> values; one file a tool, pure functions."""
