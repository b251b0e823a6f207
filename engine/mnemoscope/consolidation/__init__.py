"""From facts to a plan to changes."""
