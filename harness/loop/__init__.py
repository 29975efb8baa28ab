"""The measuring loop: which step comes next, what it records, when it ends."""
