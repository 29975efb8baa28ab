"""perfgate report."""
