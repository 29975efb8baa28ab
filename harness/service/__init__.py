"""Services and background loads that run beside a benchmark."""
