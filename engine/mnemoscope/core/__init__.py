"""Values that every part speaks: namespaces, records, times, texts, filters, and how work is driven."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
