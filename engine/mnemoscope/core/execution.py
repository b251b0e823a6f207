"""Steps: work that needs the outside world, yielded by a generator and run either sync or async.

A procedure that calls models, embedders and stores is written once, as a generator of `Step`s. `run` drives
it in this thread; `arun` awaits what is asynchronous and puts the rest on a worker thread, so that neither
form is a copy of the other and the event loop is never blocked.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from ..errors import MnemoscopeError, ModelError

__all__ = ["Step", "Steps", "arun", "called", "check_options", "on_thread", "run", "twin"]


Result = TypeVar("Result")


@dataclass(frozen=True)
class Step:
    """One call to the outside. `acall` is its asynchronous form where there is one; `call` may be either."""

    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    acall: Callable[..., Awaitable[Any]] | None = None


Steps: TypeAlias = Generator[Step, Any, Result]
"""A procedure that yields `Step`s, is sent their results, and returns its own."""


def called(step: Step, name: str) -> Steps[Any]:
    """The result of a step that calls an extractor or a judge, whoever wrote it.

    Raises:
        ModelError: it raised something else than an error of this library; that is the cause.
    """
    try:
        return (yield step)
    except MnemoscopeError:
        raise
    except Exception as error:
        raise ModelError(f"{name} raised {type(error).__name__}: {error}", failure="provider_error") from error


def run(steps: Steps[Result]) -> Result:
    """Drive the procedure to its end in this thread."""
    try:
        step = next(steps)
        while True:
            try:
                value = _now(step)
            except Exception as error:  # noqa: BLE001 - handed to the procedure, which decides
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def arun(steps: Steps[Result]) -> Result:
    """Drive the procedure to its end without blocking the event loop.

    When the task is cancelled no further step is begun; see `on_thread` for one that has begun.
    """
    try:
        step = next(steps)
        while True:
            try:
                value = await _later(step)
            except Exception as error:  # noqa: BLE001 - handed to the procedure, which decides
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def on_thread(call: Callable[[], Result]) -> Result:
    """The result of a call on a worker thread.

    A call that has begun cannot be stopped. A cancelled task therefore waits for its end, so that nothing is
    written after the cancellation is through.
    """
    work = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, call)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await _ended(work)
        raise


async def _ended(work: asyncio.Future[Any]) -> None:
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            continue
    if not work.cancelled():
        work.exception()


def _now(step: Step) -> Any:
    value = step.call(*step.args)
    return _wait_for(value) if inspect.isawaitable(value) else value


async def _later(step: Step) -> Any:
    if step.acall is not None:
        return await step.acall(*step.args)
    if inspect.iscoroutinefunction(step.call):
        return await step.call(*step.args)
    value = await on_thread(functools.partial(step.call, *step.args))
    return await value if inspect.isawaitable(value) else value


def _wait_for(value: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # A loop runs in this thread, so the coroutine gets one of its own in another.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner")


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
