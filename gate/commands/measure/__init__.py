"""perfgate measure."""
