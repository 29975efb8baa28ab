"""The analysis of a study as page, text and CSV."""
