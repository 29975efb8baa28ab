"""Another tool's output -> values: one small module a tool, pure functions."""
