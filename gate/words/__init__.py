"""Decisions -> sentences: the only English about results.

Every function returns one line, not yet escaped for any markup; nothing here decides, orders or counts what is shown.
"""
