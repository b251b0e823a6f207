"""Steps: work that needs the outside world, yielded by a generator and driven either sync or async.

A procedure that calls models, embedders and stores is written once, as a generator of `Step`s. `run` drives it in the
caller's thread; `arun` awaits what is asynchronous and puts the rest on a worker thread. Neither form is a copy of the
other, and the event loop is never blocked. `verb` turns a method that returns steps into one that callers call.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

from ..errors import MnemoscopeError, ModelError

__all__ = ["Call", "Step", "Steps", "Verb", "arun", "guard_call", "on_thread", "once", "run", "verb"]

Arguments = ParamSpec("Arguments")
Owner = TypeVar("Owner")
Result = TypeVar("Result")

MOST_THREADS = 64
"""Worker threads of this process at most. A thread waits for a store or an embedder, so many cost little."""


@dataclass(frozen=True)
class Step:
    """One call to the outside. `acall` is its asynchronous form where there is one; `call` may be either."""

    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    acall: Callable[..., Awaitable[Any]] | None = None


Steps: TypeAlias = Generator[Step, Any, Result]
"""A procedure that yields `Step`s, is sent their results, and returns its own."""


def once(call: Callable[[], Result], acall: Callable[[], Awaitable[Result]] | None = None) -> Steps[Result]:
    """The procedure that makes one call and returns its result."""
    result: Result = yield Step(call, (), acall)
    return result


def guard_call(step: Step, name: str) -> Steps[Any]:
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
                value = _call_now(step)
            except Exception as error:  # noqa: BLE001 - handed to the procedure, which decides
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        # An interrupt ends the loop between two steps; what the procedure holds is released now, not by the collector.
        steps.close()


async def arun(steps: Steps[Result]) -> Result:
    """Drive the procedure to its end without blocking the event loop.

    When the task is cancelled no further step begins; see `on_thread` for one that has begun.
    """
    try:
        step = next(steps)
        while True:
            try:
                value = await _call_later(step)
            except Exception as error:  # noqa: BLE001 - handed to the procedure, which decides
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()


class Call(Generic[Arguments, Result]):
    """A verb of one object: called, it returns its result; `steps` gives the procedure, for others to build on."""

    def __init__(self, procedure: Callable[Concatenate[Any, Arguments], Steps[Result]], owner: object) -> None:
        self._procedure = procedure
        self._owner = owner
        self.__name__ = procedure.__name__
        self.__doc__ = procedure.__doc__
        self.__wrapped__ = functools.partial(procedure, owner)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Make the call and wait for its result."""
        return run(self._procedure(self._owner, *args, **kwargs))

    def steps(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Steps[Result]:
        """The procedure of this call, not begun."""
        return self._procedure(self._owner, *args, **kwargs)


class Verb(Generic[Owner, Arguments, Result]):
    """A method written once as steps. On an object it is a `Call`; `asynchronous` makes its awaitable form."""

    def __init__(self, procedure: Callable[Concatenate[Owner, Arguments], Steps[Result]]) -> None:
        self._procedure = procedure
        self.__name__ = procedure.__name__
        self.__doc__ = procedure.__doc__
        self.__wrapped__ = procedure

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Owner, kind: type[Any]) -> Call[Arguments, Result]: ...
    def __get__(self, owner: Owner | None, kind: type[Any]) -> Self | Call[Arguments, Result]:
        return self if owner is None else Call(self._procedure, owner)

    def __call__(self, owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """The call as a function of its owner."""
        return run(self._procedure(owner, *args, **kwargs))

    def asynchronous(self) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
        """The awaitable form of this verb, with the same arguments."""
        procedure = self._procedure

        @functools.wraps(procedure)
        async def call(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            return await arun(procedure(self, *args, **kwargs))

        call.__name__ = f"a{procedure.__name__}"
        call.__qualname__ = procedure.__qualname__.replace(procedure.__name__, call.__name__)
        call.__doc__ = f"The asynchronous form of `{procedure.__name__}`."
        return call


verb = Verb
"""Decorates a method that returns steps."""


async def on_thread(call: Callable[[], Result]) -> Result:
    """The result of a call on a worker thread.

    A call that has begun cannot be stopped. A cancelled task therefore waits for its end, so that nothing is
    written after the cancellation is through.
    """
    work = asyncio.get_running_loop().run_in_executor(_workers(), contextvars.copy_context().run, call)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await _wait_for_end(work)
        raise


async def _wait_for_end(work: asyncio.Future[Any]) -> None:
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            continue
    if not work.cancelled():
        work.exception()


def _call_now(step: Step) -> Any:
    value = step.call(*step.args)
    return _wait_for(value) if inspect.isawaitable(value) else value


async def _call_later(step: Step) -> Any:
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


# The threads are this library's own. An asynchronous store embeds on the executor of the loop, so a call of ours that
# waited there for the store would take the very thread that the store waits for.
_POOL: ThreadPoolExecutor | None = None
_POOL_LOCK = threading.Lock()


def _workers() -> ThreadPoolExecutor:
    global _POOL
    with _POOL_LOCK:
        if _POOL is None:
            _POOL = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="mnemoscope")
        return _POOL


def _forget_workers() -> None:
    """A forked process has none of its parent's threads, and perhaps a lock that one of them held."""
    global _POOL, _POOL_LOCK
    _POOL, _POOL_LOCK = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
