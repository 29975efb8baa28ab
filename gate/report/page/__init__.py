"""Report -> one self-contained HTML page."""
