"""Load tests: what several of their formats share."""
