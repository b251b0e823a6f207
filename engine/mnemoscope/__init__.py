"""Mnemoscope: see, explain, tune and repair what LangGraph agents remember."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
