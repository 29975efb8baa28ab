"""Arrays in, numbers out: the statistics know no config, no file and no verdict."""
