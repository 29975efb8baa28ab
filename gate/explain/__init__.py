"""Two profiles of a benchmark -> the functions that add to the difference; pure, and it never decides."""
