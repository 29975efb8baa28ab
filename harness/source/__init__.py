"""The commits that are compared and the trees they are measured in."""
