"""Formats of a comparison, one file each: a file's name is a choice of `compare --format`.

Its `render(table, screen)` writes the text, ending with a newline; screen: what shows it, if a terminal does.
"""
