"""perfgate plan."""
