"""Processes: started, bounded in time, and ended with all that they started."""
