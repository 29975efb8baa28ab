"""Statistics of a history: ratios of commits to their parents, levels of days, and the changes that both show."""
