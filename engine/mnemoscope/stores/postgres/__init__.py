"""The official `PostgresStore`, read and written with SQL of our own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
