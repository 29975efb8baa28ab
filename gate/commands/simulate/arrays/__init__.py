"""The gate on arrays of simulated reports: how often it is wrong, how often it sees a change, and what that costs."""
