"""Connect."""
