"""Asking a chat model, and reading what it answers."""
