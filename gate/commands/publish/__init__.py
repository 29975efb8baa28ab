"""perfgate publish."""
