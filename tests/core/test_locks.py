from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest
from engine_fixture import ANA, BEN, memory_store
from mnemoscope import ConfigurationError
from mnemoscope.core import Locks, locks_of


def test_sync_callers_are_served_in_the_order_of_arrival() -> None:
    locks, log, threads = Locks(), [], []

    def work(number: int) -> None:
        with locks.hold(ANA):
            log.append(number)

    with locks.hold(ANA):
        for number in range(5):
            thread = threading.Thread(target=work, args=(number,))
            waiting = locks._last[ANA]
            thread.start()
            while locks._last[ANA] is waiting:
                pass
            threads.append(thread)
        assert log == []
    for thread in threads:
        thread.join()
    assert log == [0, 1, 2, 3, 4]


def test_another_namespace_is_not_waited_for() -> None:
    locks = Locks()
    with locks.hold(ANA), locks.hold(BEN), locks.hold((*ANA, "below")):
        assert len(locks._last) == 3
    assert locks._last == {}


def test_an_async_caller_waits_for_a_sync_one_without_blocking_the_loop() -> None:
    locks, log = Locks(), []
    held, free = threading.Event(), threading.Event()

    def holding() -> None:
        with locks.hold(ANA):
            held.set()
            assert free.wait(10)
            log.append("sync")

    async def waiting() -> None:
        async with locks.ahold(ANA):
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
    assert locks._last == {}


def test_a_cancelled_wait_leaves_the_queue_in_order() -> None:
    locks, log = Locks(), []

    async def work(name: str) -> None:
        async with locks.ahold(ANA):
            log.append(name)
            await asyncio.sleep(0)

    async def together() -> None:
        async with locks.ahold(ANA):
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
    with locks.hold(ANA):
        log.append("after")
    assert log == ["last", "after"]


def test_a_sync_call_that_would_wait_for_its_own_loop_is_refused_instead_of_hanging() -> None:
    locks = Locks()

    async def mistaken() -> None:
        async with locks.ahold(ANA):
            with locks.hold(BEN):
                pass
            with (
                pytest.raises(ConfigurationError, match=r"'memories/ana' would wait for ever.*aremember"),
                locks.hold(ANA),
            ):
                pass
        with locks.hold(ANA):
            pass

    asyncio.run(mistaken())
    assert locks._last == {}


def test_an_error_inside_hands_the_turn_on() -> None:
    locks = Locks()
    with pytest.raises(ValueError, match="inside"), locks.hold(ANA):
        raise ValueError("inside")
    with locks.hold(ANA):
        pass
    assert locks._last == {}


def test_all_engines_of_a_store_share_its_queues_which_end_with_it() -> None:
    store = memory_store()
    assert locks_of(store) is locks_of(store)
    assert locks_of(store) is not locks_of(memory_store())
    gone = weakref.ref(locks_of(store))
    del store
    gc.collect()
    assert gone() is None
