"""Report -> text | markdown | json | html; one small module a format, and none of them compares numbers or decides."""
