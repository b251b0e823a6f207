"""Named stores and how they are opened."""
