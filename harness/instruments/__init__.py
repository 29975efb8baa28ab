"""How values come out of an execution: one module an instrument."""
