"""What formats are made of: pieces of the large ones, and what several share."""
