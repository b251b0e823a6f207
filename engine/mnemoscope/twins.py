"""Asynchronous forms of methods that are written once."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from .steps import on_thread

__all__ = ["check_options", "twin"]

Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner")
Result = TypeVar("Result")


def twin(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Awaitable[Result]]:
    """The asynchronous form of a method whose only outside work is the store's: it runs on a worker thread."""

    async def made(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await on_thread(functools.partial(method, self, *args, **kwargs))

    made.__name__ = f"a{method.__name__}"
    made.__doc__ = f"The asynchronous form of `{method.__name__}`."
    return made


def check_options(method: str, options: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Refuse what the synchronous form does not take, by name."""
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise TypeError(f"{method}() got an unexpected option {unknown[0]!r}; known are {', '.join(allowed)}.")
