"""perfgate bisect."""
