"""The history: one immutable record a commit, in a git ref or a folder."""
