"""One module a command; they compose gate and harness."""
