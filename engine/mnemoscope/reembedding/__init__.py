"""Taking a store over to another embedder while it is in use."""
