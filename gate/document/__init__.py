"""What a command says, before and after it is laid out: one document, for a terminal, Markdown and a page."""
