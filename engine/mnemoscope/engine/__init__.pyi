from .facade import MemoryEngine as MemoryEngine

__all__ = ["MemoryEngine"]
