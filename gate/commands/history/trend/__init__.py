"""perfgate history trend."""
