"""perfgate compare."""
