"""A forked process goes on: no lock of ours that a thread of the parent held, no timer that only the parent has."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from engine_fixture import ANA, engine_over, facts
from mnemoscope.core.locks import ForkSafeLock
from mnemoscope.journal import book


def in_a_fork(check: Callable[[], bool]) -> int:
    """The exit code of a forked process: 0 where the check holds; it has ten seconds."""
    pid = os.fork()
    if pid == 0:
        # Whatever the check raises ends the child without the parent's cleaning up; a hang ends by the signal.
        signal.alarm(10)
        held = False
        try:
            held = check()
        finally:
            os._exit(0 if held else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_child_is_not_held_up_by_what_a_thread_of_its_parent_does() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea", ANA)
    context = engine.context
    held = [context.journal._turn, context.access._lock, context.access._writing, context.indexes._lock]
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        for lock in held:
            lock.__enter__()
        entered.set()
        leave.wait()
        for lock in held:
            lock.__exit__(None, None, None)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()

    def goes_on() -> bool:
        engine.remember_facts(facts("likes milk"), ANA)
        return len(engine.recall("milk", ANA)) == 2

    try:
        assert in_a_fork(goes_on) == 0
    finally:
        leave.set()
        thread.join()


def test_a_child_writes_its_own_notes_of_recalls_and_none_of_its_parents() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea", ANA)

    def writes() -> bool:
        engine.recall("milk", ANA)
        deadline = time.monotonic() + 8
        while time.monotonic() < deadline:
            items = engine.context.adapter.load(book("access", ANA)).items
            if items:
                return [note["query"] for note in items[0].value["recent"]] == ["milk"]
            time.sleep(0.05)
        return False

    assert in_a_fork(writes) == 0


def test_a_lock_that_nobody_uses_any_more_is_let_go_of() -> None:
    lock = ForkSafeLock()
    with lock:
        pass
    lock.free()
    with lock:
        pass
