"""Report -> Markdown: the comment of a pull request and the summary of a job."""
