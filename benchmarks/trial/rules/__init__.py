"""The rules that are tried, one tool a file."""
