"""The commands: one folder each, named as on the command line."""
