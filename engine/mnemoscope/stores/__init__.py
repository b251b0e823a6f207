"""One adapter a store behind one protocol; `adapt` finds the one a store gets."""

from .choice import adapt

__all__ = ["adapt"]
