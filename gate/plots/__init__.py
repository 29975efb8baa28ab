"""Numbers in, SVG out: plain figures without scripts, readable in light and dark."""
