"""perfgate init."""
