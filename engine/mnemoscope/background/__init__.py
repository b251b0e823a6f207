"""Remembering off the caller's path: a durable queue and its workers."""
