"""Recall measured and tuned."""
