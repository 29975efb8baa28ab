"""perfgate drill."""
