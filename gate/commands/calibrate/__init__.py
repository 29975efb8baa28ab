"""perfgate calibrate."""
