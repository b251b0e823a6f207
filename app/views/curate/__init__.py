"""Curate."""
