"""Conversations replayed on scratch copies of a store, and measured."""
