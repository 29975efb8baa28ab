"""Two-level fractions of a study: defining words, tables of designs, and the treatments that they choose."""
