"""Publishing on GitHub, shared by `perfgate publish` and the action."""
