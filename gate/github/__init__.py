"""The event, the comment, the summary, annotations, statuses; the only code that talks to a forge."""
