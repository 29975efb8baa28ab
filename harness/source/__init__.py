"""The commits that are compared and the trees they are measured in.

What asks git raises SourceError where git cannot be started or fails, or perfgate has no place for its own repository.
"""
