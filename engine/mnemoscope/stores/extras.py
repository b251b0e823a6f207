"""What an optional part of the installation is missing, said with the way to install it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ConfigurationError

__all__ = ["needing"]


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
