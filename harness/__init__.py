"""Makes measurements: sources, builds, executions, and the one loop over them."""
