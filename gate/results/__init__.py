"""Result files of other tools -> what was measured, level by level; one file a format."""
