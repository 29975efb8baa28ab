"""Report -> text for a terminal."""
