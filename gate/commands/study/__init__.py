"""perfgate study."""
