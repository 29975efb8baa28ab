"""The sentences about results: what decide and statistics say as types with numbers stands here in English."""
