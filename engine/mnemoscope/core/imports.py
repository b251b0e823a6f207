"""Objects that the user's own code builds, named as "python:package.module:factory"."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..errors import ConfigurationError

__all__ = ["PYTHON_PREFIX", "built_by", "needing"]


PYTHON_PREFIX = "python:"

_Built = TypeVar("_Built")


def built_by(name: str, expected: type[_Built]) -> _Built:
    """What the named factory returns when it is called without arguments.

    Raises:
        ConfigurationError: the name is not of the form, leads to nothing that can be called, or the factory
            returns something else than `expected`. What the factory itself raises is passed on.
    """
    module_name, _, attribute = name.removeprefix(PYTHON_PREFIX).partition(":")
    if not module_name or not attribute.isidentifier():
        raise ConfigurationError(f"{name!r} is not of the form 'python:package.module:factory'.")
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except ImportError as error:
        raise ConfigurationError(
            f"{name!r}: the module {module_name!r} cannot be imported: {error}. "
            "Install it, or start in the directory where it is found."
        ) from error
    except AttributeError as error:
        raise ConfigurationError(f"{name!r}: the module {module_name!r} has no {attribute!r}.") from error
    if not callable(factory):
        raise ConfigurationError(f"{name!r} is a {type(factory).__name__}; name a function that takes no arguments.")
    built = factory()
    if not isinstance(built, expected):
        raise ConfigurationError(f"{name!r} returned a {type(built).__name__}; it must return a {expected.__name__}.")
    return built


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Around imports that an extra of this package brings.

    Raises:
        ConfigurationError: one of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"This store needs a package that is missing ({error.name}): pip install 'mnemoscope[{extra}]'."
        ) from error
