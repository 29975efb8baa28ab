"""The machine: its facts, its state, its lock and its fitness for measuring."""
