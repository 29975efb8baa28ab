"""How much to measure: from known variances and costs to a plan."""
