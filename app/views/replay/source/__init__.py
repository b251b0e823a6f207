"""Which conversation is replayed, and where to."""
