"""perfgate doctor."""
