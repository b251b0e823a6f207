"""One adapter a store behind one protocol; `adapt` finds the one a store gets."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
