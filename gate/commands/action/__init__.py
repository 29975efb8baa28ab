"""perfgate action."""
