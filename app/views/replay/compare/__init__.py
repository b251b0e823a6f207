"""Two configurations side by side, and prompts."""
