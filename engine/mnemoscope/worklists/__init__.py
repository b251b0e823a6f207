"""What deserves a curator's look, and accepting it."""
