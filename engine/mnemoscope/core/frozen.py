"""`KeepsTuples`: frozen values that leave a checkpoint as they entered it."""

from __future__ import annotations

import inspect
from typing import ClassVar

__all__ = ["KeepsTuples"]


class KeepsTuples:
    """Base of frozen dataclasses that a graph may keep in its state.

    LangGraph's msgpack writes a tuple as an array and hands it back as a list, in the fields of a dataclass too. A list
    equals no namespace and is no key of a dict, so every field that is declared as a tuple becomes one again.
    """

    __slots__ = ()
    __tuples: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        declared = {name: str(kind) for base in cls.__mro__ for name, kind in inspect.get_annotations(base).items()}
        cls.__tuples = tuple(name for name, kind in declared.items() if kind.startswith(("tuple[", "Namespace")))

    def __post_init__(self) -> None:
        for name in self.__tuples:
            value = getattr(self, name)
            if type(value) is list:
                object.__setattr__(self, name, tuple(value))
