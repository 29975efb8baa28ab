"""perfgate decide."""
