"""Texts as people and shells read them."""
