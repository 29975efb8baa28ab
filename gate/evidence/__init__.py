"""Measurement files -> evidence: reading, gathering, runs, completeness, looks, hosts."""
