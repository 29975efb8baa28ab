"""perfgate completion."""
