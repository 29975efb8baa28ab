"""Measurement files -> evidence: reading, gathering, runs, completeness, budget, hosts."""
