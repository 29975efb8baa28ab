"""Result files of other tools as records: which file is of which side, and what its lines are."""
