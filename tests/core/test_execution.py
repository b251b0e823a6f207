from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest
from mnemoscope import InputError, ModelError
from mnemoscope.core import Step, Steps, arun, on_thread, run
from mnemoscope.core.execution import guard_call


def double(number: int) -> int:
    return 2 * number


async def adouble(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


class Doubling:
    async def __call__(self, number: int) -> int:
        return await adouble(number)


def procedure(call: Any, acall: Any = None) -> Steps[list[int]]:
    one = yield Step(call, (1,), acall)
    other = yield Step(call, (one,), acall)
    return [one, other]


@pytest.mark.parametrize("call", [double, adouble, Doubling(), lambda number: adouble(number)])
def test_sync_and_async_calls_are_run_both_ways(call: Any) -> None:
    assert run(procedure(call)) == [2, 4]
    assert asyncio.run(arun(procedure(call))) == [2, 4]


def test_a_sync_run_inside_a_running_loop_still_awaits_async_calls() -> None:
    async def inside() -> list[int]:
        return run(procedure(adouble))

    assert asyncio.run(inside()) == [2, 4]


def test_the_asynchronous_form_is_taken_where_there_is_one() -> None:
    assert asyncio.run(arun(procedure(lambda _: 1 / 0, adouble))) == [2, 4]


def raising(error: BaseException) -> Any:
    def call() -> None:
        raise error

    return call


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), ModelError("x", failure="empty")])
def test_an_error_reaches_the_procedure_which_decides(error: Exception) -> None:
    def caught() -> Steps[str]:
        try:
            yield Step(raising(error))
        except type(error):
            return (yield Step(str, ("caught",)))
        return "not raised"

    def missed() -> Steps[None]:
        yield Step(raising(error))

    assert run(caught()) == asyncio.run(arun(caught())) == "caught"
    with pytest.raises(type(error)):
        run(missed())
    with pytest.raises(type(error)):
        asyncio.run(arun(missed()))


@pytest.mark.parametrize("error", [ValueError("no"), StopIteration("no"), AttributeError("no")])
def test_what_others_raise_becomes_a_model_error_with_its_cause(error: Exception) -> None:
    with pytest.raises(ModelError, match=f"The judge raised {type(error).__name__}: no") as caught:
        run(guard_call(Step(raising(error)), "The judge"))
    assert caught.value.__cause__ is error
    assert caught.value.failure == "provider_error"


def test_our_own_errors_pass_as_they_are() -> None:
    with pytest.raises(InputError):
        run(guard_call(Step(raising(InputError("no"))), "The judge"))


def test_a_sync_call_does_not_block_the_loop() -> None:
    free = threading.Event()

    def blocking() -> str:
        assert free.wait(10)
        return "done"

    def steps() -> Steps[str]:
        return (yield Step(blocking))

    async def together() -> str:
        task = asyncio.create_task(arun(steps()))
        await asyncio.sleep(0)
        free.set()
        return await task

    assert asyncio.run(together()) == "done"


def test_context_variables_reach_the_worker_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    async def reading() -> str:
        variable.set("seen")
        return await on_thread(variable.get)

    assert asyncio.run(reading()) == "seen"


def test_a_cancelled_call_is_over_when_the_cancellation_is_and_no_step_follows() -> None:
    begun, free, log = threading.Event(), threading.Event(), []

    def writing() -> None:
        begun.set()
        assert free.wait(10)
        log.append("written")

    def steps() -> Steps[None]:
        yield Step(writing)
        yield Step(log.append, ("next",))

    async def cancel() -> None:
        task = asyncio.create_task(arun(steps()))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert log == ["written"]

    asyncio.run(cancel())
    assert log == ["written"]


def test_a_cancelled_call_that_fails_leaves_no_unread_error() -> None:
    begun, free = threading.Event(), threading.Event()

    def failing() -> None:
        begun.set()
        assert free.wait(10)
        raise ValueError("late")

    async def cancel() -> None:
        task = asyncio.create_task(on_thread(failing))  # type: ignore[arg-type]
        await asyncio.to_thread(begun.wait)
        task.cancel()
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
