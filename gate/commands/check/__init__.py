"""perfgate check."""
