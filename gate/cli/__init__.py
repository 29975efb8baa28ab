"""The command line: from argv to a command, and from its result to an exit code."""
