"""What `perfgate simulate` shows: chapters of studies, run on all cores, as text or as a document."""
