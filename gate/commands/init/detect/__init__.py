"""Detection for `perfgate init`: the kind of project, and what can be built and measured."""
