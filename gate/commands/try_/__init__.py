"""perfgate try."""
