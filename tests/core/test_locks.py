from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest
from engine_fixture import ANA, BEN, memory_store
from mnemoscope import ConfigurationError
from mnemoscope.core.locks import Turns, turns_of


def test_sync_callers_are_served_in_the_order_of_arrival() -> None:
    turns, log, threads = Turns(), [], []

    def work(number: int) -> None:
        with turns.of(ANA):
            log.append(number)

    with turns.of(ANA):
        for number in range(5):
            thread = threading.Thread(target=work, args=(number,))
            waiting = turns._last[ANA]
            thread.start()
            while turns._last[ANA] is waiting:
                pass
            threads.append(thread)
        assert log == []
    for thread in threads:
        thread.join()
    assert log == [0, 1, 2, 3, 4]


def test_another_namespace_is_not_waited_for() -> None:
    turns = Turns()
    with turns.of(ANA), turns.of(BEN), turns.of((*ANA, "below")):
        assert len(turns._last) == 3
    assert turns._last == {}


def test_an_async_caller_waits_for_a_sync_one_without_blocking_the_loop() -> None:
    turns, log = Turns(), []
    held, free = threading.Event(), threading.Event()

    def holding() -> None:
        with turns.of(ANA):
            held.set()
            assert free.wait(10)
            log.append("sync")

    async def waiting() -> None:
        async with turns.aof(ANA):
            log.append("async")

    async def together() -> None:
        thread = threading.Thread(target=holding)
        thread.start()
        await asyncio.to_thread(held.wait)
        task = asyncio.create_task(waiting())
        await asyncio.sleep(0)
        log.append("loop runs")
        free.set()
        await task
        thread.join()

    asyncio.run(together())
    assert log == ["loop runs", "sync", "async"]
    assert turns._last == {}


def test_a_cancelled_wait_leaves_the_queue_in_order() -> None:
    turns, log = Turns(), []

    async def work(name: str) -> None:
        async with turns.aof(ANA):
            log.append(name)
            await asyncio.sleep(0)

    async def together() -> None:
        async with turns.aof(ANA):
            cancelled = asyncio.create_task(work("cancelled"))
            await asyncio.sleep(0)
            last = asyncio.create_task(work("last"))
            await asyncio.sleep(0)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            await asyncio.sleep(0)
            assert log == []
        await last

    asyncio.run(together())
    assert log == ["last"]
    with turns.of(ANA):
        log.append("after")
    assert log == ["last", "after"]


def test_a_sync_call_that_would_wait_for_its_own_loop_is_refused_instead_of_hanging() -> None:
    turns = Turns()

    async def mistaken() -> None:
        async with turns.aof(ANA):
            with turns.of(BEN):
                pass
            with (
                pytest.raises(ConfigurationError, match=r"'memories/ana' would wait for ever.*aremember"),
                turns.of(ANA),
            ):
                pass
        with turns.of(ANA):
            pass

    asyncio.run(mistaken())
    assert turns._last == {}


def test_an_error_inside_hands_the_turn_on() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="inside"), turns.of(ANA):
        raise ValueError("inside")
    with turns.of(ANA):
        pass
    assert turns._last == {}


def test_all_engines_of_a_store_share_its_queues_which_end_with_it() -> None:
    store = memory_store()
    assert turns_of(store) is turns_of(store)
    assert turns_of(store) is not turns_of(memory_store())
    gone = weakref.ref(turns_of(store))
    del store
    gc.collect()
    assert gone() is None
