"""Check-ups of connections and findings about what a store holds."""
