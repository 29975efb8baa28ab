"""The pictures of a study."""
