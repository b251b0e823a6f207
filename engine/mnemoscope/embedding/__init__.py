"""Text to vectors, and whose vectors a store holds."""
