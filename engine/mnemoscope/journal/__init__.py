"""Every change with its before and after: history, undo, time travel, and our own entries in the store."""
