"""perfgate config."""
