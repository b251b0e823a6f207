"""One adapter a store; `base` says what an adapter does, `adapt` finds the one a store gets."""

from .choice import adapt

__all__ = ["adapt"]
