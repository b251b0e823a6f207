"""Edits by hand: update, forget, merge, convert, retain, erase."""
