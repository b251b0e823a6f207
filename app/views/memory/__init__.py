"""One memory, opened."""
