"""`MemoryEngine`, the one entry to this library."""

from .facade import MemoryEngine

__all__ = ["MemoryEngine"]
