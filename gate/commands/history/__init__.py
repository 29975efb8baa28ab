"""perfgate history."""
