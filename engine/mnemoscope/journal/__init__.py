"""Every change with its before and after: history, undo, time travel, and our own entries in the store."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
