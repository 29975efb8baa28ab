"""perfgate explain."""
