from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, Judge, contents, decide, engine_over, facts, lines_of
from mnemoscope import (
    Background,
    ConfigurationError,
    InputError,
    ModelError,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
)
from mnemoscope.background import JobQueue, Pace, read_jobs
from mnemoscope.background.service import remember_once

ENGINE = Path(__file__).resolve().parents[2] / "engine"
TESTS = Path(__file__).resolve().parents[1] / "support"
SOON = {"debounce": 0.0, "workers": 0}


class Recording:
    """An extractor that keeps what it read, and fails as often as it is told."""

    def __init__(self, failures: int = 0, error: Exception | None = None) -> None:
        self.read: list[str] = []
        self.failures = failures
        self.error = error or ModelError("the model is down", failure="provider_error")

    def __call__(self, text: str) -> list[Any]:
        if self.failures:
            self.failures -= 1
            raise self.error
        self.read.append(text)
        return lines_of(text)


def said(*texts: str, start: int = 0) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "id": f"turn-{start + at}"} for at, text in enumerate(texts)]


def add(queue: JobQueue, namespace: tuple[str, ...], thread: str | None, now: float, text: str = "Tea") -> str:
    from mnemoscope.conversations import read_messages

    read = read_messages(said(text)).messages
    return queue.add(namespace, thread, read, now=now, due=now, at_latest=60.0, capacity=1_000)


def claim(queue: JobQueue, now: float, worker: str = "w", attempts: int = 5) -> Any:
    return queue.claim(worker, now=now, lease=10.0, attempts=attempts)


# Merging


def test_what_arrives_before_a_job_begins_is_merged_in_order_and_replaces_nothing() -> None:
    reading = Recording()
    engine = engine_over(extractor=reading)
    with engine.background(None, workers=0, debounce=3600) as background:
        first = background.submit(said("Tea", "Jazz"), ANA, "t1")
        second = background.submit(said("Jazz", "Lisbon", start=1), ANA, "t1")
        assert first == second
        assert background.counts()["waiting"] == 1
        assert background.drain(10) == 0
    assert len(reading.read) == 1
    assert [line.rpartition(": ")[2] for line in reading.read[0].splitlines()] == ["Tea", "Jazz", "Lisbon"]
    assert contents(engine) == ["Jazz", "Lisbon", "Tea"]


def test_a_turn_that_was_edited_meanwhile_is_read_as_it_is_now() -> None:
    engine = engine_over()
    with engine.background(None, workers=0, debounce=3600) as background:
        background.submit(said("Tee", "Jazz"), ANA, "t1")
        background.submit(said("Tea"), ANA, "t1")
        background.drain(10)
    assert contents(engine) == ["Jazz", "Tea"]


def test_turns_without_ids_are_all_kept_and_a_conversation_that_grew_is_not_repeated() -> None:
    reading = Recording()
    engine = engine_over(extractor=reading)
    with engine.background(None, workers=0, debounce=3600) as background:
        background.submit([("user", "Tea")], ANA)
        background.submit([("user", "Tea"), ("assistant", "Noted"), ("user", "Jazz")], ANA)
        background.submit("Lisbon", ANA)
        background.drain(10)
    assert [line.rpartition(": ")[2] for line in reading.read[0].splitlines()] == ["Tea", "Noted", "Jazz", "Lisbon"]


def test_threads_namespaces_and_terms_are_kept_apart() -> None:
    engine = engine_over()
    with engine.background(None, workers=0, debounce=3600) as background:
        background.submit("Tea", ANA)
        background.submit("Coffee", BEN)
        background.submit("Jazz", ANA, "t1")
        background.submit("Lisbon", ANA, source="crm", private=True, importance=0.9, categories=("home",))
        assert background.counts()["waiting"] == 4
        background.drain(10)
    assert (contents(engine), contents(engine, BEN)) == (["Jazz", "Lisbon", "Tea"], ["Coffee"])
    lisbon = next(each for each in engine.list(ANA, include_private=True) if each.content == "Lisbon")
    assert (lisbon.source, lisbon.private, lisbon.importance, lisbon.categories) == ("crm", True, 0.9, ["home"])


def test_the_journal_names_the_job_and_its_thread() -> None:
    engine = engine_over()
    with engine.background(None, actor="worker", **SOON) as background:
        job = background.submit("Tea", ANA, "t1", reason="from chat")
        background.drain(10)
        listed = background.jobs()[0]
    change = engine.history(ANA)[0]
    assert change.actor == "worker"
    assert f"background {job}, thread t1; from chat" in change.reason
    assert (listed.state, listed.turns) == ("done", 0)
    assert change.group in listed.outcome


def test_a_job_is_put_off_only_so_far(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "queue.sqlite")
    for now in (0.0, 50.0, 100.0):
        add_due(queue, now, now + 30)
    assert queue.next_due() == 60.0
    queue.close()


def add_due(queue: JobQueue, now: float, due: float) -> str:
    return queue.add(ANA, None, (), now=now, due=due, at_latest=60.0, capacity=1_000)


def test_flush_lets_one_conversation_begin_and_leaves_the_others() -> None:
    engine = engine_over()
    background = engine.background(None, debounce=3600, workers=1)
    background.submit("Tea", ANA, "t1")
    background.submit("Jazz", ANA, "t2")
    assert background.flush(ANA, "t1") == 1
    assert background.flush(BEN) == 0
    assert [job.thread for job in background.jobs() if job.due_at - job.submitted_at > timedelta(minutes=30)] == ["t2"]
    background.close()
    assert contents(engine) == ["Jazz", "Tea"]


# Order and fairness


def test_a_stream_of_new_users_does_not_keep_one_waiting(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "queue.sqlite")
    for number in range(3):
        add(queue, ANA, f"t{number}", 0.0)
    served = []
    for now in range(1, 7):
        add(queue, ("memories", f"new{now}"), "t", float(now))
        taken = claim(queue, float(now))
        served.append(taken.namespace[1])
        queue.finish(taken.id, "w", now=now + 0.5)
    assert served == ["ana", "new1", "ana", "new2", "new3", "ana"]
    queue.close()


def test_users_without_work_leave_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    engine = engine_over(extractor=Recording(failures=1, error=InputError("no")))
    with engine.background(path, **SOON) as background:
        failed = background.submit("Tea", ANA)
        background.drain(10)
        background.submit("Jazz", BEN)
        background.drain(10)
        background.submit("Jazz", ("memories", "cleo"), after_seconds=3600)
        background.withdraw("memories/cleo")
        look = sqlite3.connect(path)
        assert look.execute("SELECT count(*) FROM served").fetchone() == (0,)
        background.retry(failed or "")
        assert background.drain(10) == 0
        assert look.execute("SELECT count(*) FROM served").fetchone() == (0,)
        look.close()
    assert contents(engine) == ["Tea"]


def test_the_jobs_of_a_thread_are_done_in_order_and_a_namespace_has_one_at_a_time(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "queue.sqlite")
    first = add(queue, ANA, "t1", 0.0)
    assert claim(queue, 0.0).id == first
    second, other = add(queue, ANA, "t1", 1.0), add(queue, ANA, "t2", 2.0)
    assert claim(queue, 3.0) is None
    queue.fail(first, "w", "down", now=3.0, again_at=9.0)
    taken = claim(queue, 4.0)
    assert taken.id == other
    queue.finish(other, "w", now=5.0)
    assert claim(queue, 6.0) is None
    assert claim(queue, 9.0).id == first
    queue.finish(first, "w", now=9.5)
    assert claim(queue, 10.0).id == second
    queue.close()


def test_a_user_with_many_conversations_does_not_keep_others_waiting(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "queue.sqlite")
    cleo = ("memories", "cleo")
    for number in range(20):
        add(queue, ANA, f"t{number}", 0.0)
    add(queue, BEN, "t", 1.0)
    add(queue, cleo, "t", 2.0)
    served = []
    for now in range(3, 9):
        taken = claim(queue, float(now))
        served.append(taken.namespace[1])
        queue.finish(taken.id, "w", now=now + 0.5)
    assert served == ["ana", "ben", "cleo", "ana", "ana", "ana"]
    queue.close()


def test_no_more_jobs_run_at_once_than_there_are_workers() -> None:
    running, most, gate = 0, 0, threading.Semaphore(1)
    together = threading.Barrier(3, timeout=20)

    def slow(text: str) -> list[Any]:
        nonlocal running, most
        with gate:
            running += 1
            most = max(most, running)
        together.wait()
        with gate:
            running -= 1
        return lines_of(text)

    engine = engine_over(extractor=slow)
    with engine.background(None, workers=3, debounce=0) as background:
        for number in range(9):
            background.submit(f"Fact {number}", ("memories", f"user{number}"))
        assert background.drain(30) == 0
    assert most == 3


def test_a_thousand_threads_that_submit_at_once_are_all_served_by_two_workers(tmp_path: Path) -> None:
    engine = engine_over()
    background = engine.background(tmp_path / "queue.sqlite", debounce=3600)
    before = threading.active_count()
    start = threading.Barrier(1_000)

    def submit(number: int) -> None:
        start.wait()
        background.submit(said(f"Fact {number}", start=number), ("memories", f"user{number % 10}"), str(number % 20))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(1_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert threading.active_count() <= before  # threads of earlier tests may end meanwhile
    assert background.counts()["waiting"] <= 20
    background.close(60)
    assert sum(engine.counts().values()) == 1_000


def test_a_full_queue_says_so_and_takes_nothing() -> None:
    with engine_over().background(None, workers=0, capacity=1, debounce=3600) as background:
        background.submit("Tea", ANA)
        with pytest.raises(StoreError, match="1 jobs wait in the queue"):
            background.submit("Tea", BEN)
        background.submit("Jazz", ANA)
        assert background.counts()["waiting"] == 1


# Failures


def test_a_job_that_fails_waits_longer_each_time_is_visible_and_succeeds_at_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reading = Recording(failures=2)
    engine = engine_over(extractor=reading)
    with engine.background(None, backoff=100, **SOON) as background:
        job = background.submit("Tea", ANA)
        assert background.drain(10) == 1
        waiting = background.jobs()[0]
        assert (waiting.state, waiting.attempts, waiting.turns) == ("waiting", 1, 1)
        assert waiting.error == "ModelError: the model is down"
        first_wait = (waiting.due_at - waiting.submitted_at).total_seconds()
        assert 100 <= first_wait < 130
        background.retry(job or "")
        background.drain(10)
        background.retry(job or "")
        assert background.drain(10) == 0
        assert background.jobs()[0].error == ""
    assert contents(engine) == ["Tea"]
    assert "is tried again later" in caplog.text


@pytest.mark.parametrize("workers", [0, 1])
def test_draining_waits_for_the_next_attempt_where_that_comes_in_time(workers: int) -> None:
    failures = [ModelError("down", failure="provider_error")]

    def once_down(text: str) -> list[Any]:
        if failures:
            raise failures.pop()
        return facts(text)

    engine = engine_over(extractor=once_down)
    with engine.background(None, workers=workers, debounce=0, backoff=0.2) as background:
        background.submit("Tea", ANA)
        assert background.drain(30) == 0
    assert contents(engine) == ["Tea"]


def test_the_wait_doubles_up_to_ten_minutes() -> None:
    now, waits = 0.0, []

    def fails(_claim: object) -> str:
        raise StoreError("the store is down")

    queue = JobQueue(None)
    background = Background(fails, queue, Pace(workers=0, backoff=40.0, attempts=7), clock=lambda: now)
    background.submit("Tea", ANA, after_seconds=0)
    while background.drain(10):
        due = queue.next_due() or 0.0
        waits.append(due - now)
        now = due
    assert waits == [40, 80, 160, 320, 600, 600]
    assert (queue.jobs()[0].state, queue.jobs()[0].attempts) == ("failed", 7)
    background.close()


def test_workers_try_a_job_again_by_themselves_until_its_last_attempt() -> None:
    reading = Recording(failures=9)
    background = engine_over(extractor=reading).background(None, backoff=0.0, attempts=3, workers=1, debounce=0)
    background.submit("Tea", ANA)
    wait_for(background, "failed")
    assert background.jobs()[0].attempts == 3
    assert reading.failures == 6
    background.close()


def wait_for(background: Any, state: str) -> None:
    moment = threading.Event()
    for _ in range(2_000):
        if background.counts()[state]:
            return
        moment.wait(0.01)
    raise AssertionError(f"no job is {state}: {background.counts()}")


def test_a_job_that_cannot_succeed_fails_at_once_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "mnemoscope")

    class Odd(Recording):
        def __call__(self, text: str) -> list[Any]:
            return [] if "Odd" not in text else self.fail()

        def fail(self) -> list[Any]:
            raise InputError("this is no text for me")

    engine = engine_over(extractor=Odd())
    with engine.background(None, **SOON) as background:
        background.submit("Odd", ANA)
        background.submit("Tea", BEN)
        assert background.drain(10) == 0
        assert background.counts() == {"waiting": 0, "running": 0, "failed": 1, "done": 1}
        failed = background.jobs(state="failed")[0]
        assert (failed.attempts, failed.turns, failed.error) == (1, 1, "InputError: this is no text for me")
        assert [job.namespace for job in background.jobs(state="done", limit=1)] == [BEN]


def test_retry_names_a_job_that_is_not_there() -> None:
    with engine_over().background(None, **SOON) as background, pytest.raises(NotFoundError, match="'job-0'"):
        background.retry("job-0")


def test_a_job_whose_worker_died_is_taken_again_after_the_lease(tmp_path: Path) -> None:
    queue, other = JobQueue(tmp_path / "queue.sqlite"), JobQueue(tmp_path / "queue.sqlite")
    job = add(queue, ANA, "t1", 0.0)
    assert claim(queue, 0.0).id == job
    assert claim(other, 9.0, "second") is None
    queue.renew([job], "w", now=9.0, lease=10.0)
    assert claim(other, 18.0, "second") is None
    again = claim(other, 19.0, "second")
    assert (again.id, again.attempt, [each.text for each in again.messages]) == (job, 2, ["Tea"])
    assert not queue.finish(job, "w", now=20.0)
    assert not queue.fail(job, "w", "late", now=20.0, again_at=None)
    assert other.finish(job, "second", now=20.0)
    assert [each.state for each in queue.jobs()] == ["done"]
    queue.close()
    other.close()


def test_a_job_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "queue.sqlite")
    add(queue, ANA, "t1", 0.0)
    for now in (0.0, 20.0):
        assert claim(queue, now, attempts=2)
    assert claim(queue, 40.0, attempts=2) is None
    job = queue.jobs()[0]
    assert (job.state, job.error) == ("failed", "Its worker was gone before it was through.")
    queue.close()


# Once


def test_a_job_that_was_done_and_not_marked_done_changes_nothing_when_it_comes_again() -> None:
    reading = Recording()
    engine = engine_over(extractor=reading)
    assert remember_once(engine.context, "Tea", ANA, job="job-1") is not None
    assert remember_once(engine.context, "Tea", ANA, job="job-1") is None
    assert len(reading.read) == 1
    assert len(engine.history(ANA)) == 1


def test_two_backgrounds_share_one_queue(tmp_path: Path) -> None:
    engine, path = engine_over(), tmp_path / "queue.sqlite"
    with engine.background(path, debounce=0) as one, engine.background(path, debounce=0) as other:
        for number in range(30):
            (one if number % 2 else other).submit(f"Fact {number}", ("memories", f"user{number % 5}"), str(number))
        one.drain(30)
        assert other.drain(30) == 0
        assert one.counts()["done"] == 30
    assert sum(engine.counts().values()) == 30
    assert len(engine.history()) == 30


# Forgetting


def test_what_is_forgotten_while_it_waits_to_be_remembered_stays_forgotten() -> None:
    engine = engine_over(consolidator=Judge(decide("skip")))
    engine.remember_facts(facts("Ana drinks tea"), ANA)
    with engine.background(None, workers=0, debounce=3600) as background:
        background.submit("Ana drinks tea", ANA)
        engine.forget(ANA, categories=None, filter={}, keys=[engine.list(ANA)[0].key])
        background.drain(10)
        assert "Remembered 0 of 1 facts" in background.jobs()[0].outcome
    assert contents(engine) == []


def test_what_waits_can_be_withdrawn_and_leaves_no_text_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    with engine_over().background(path, workers=0, debounce=3600) as background:
        background.submit("A telltale secret", ANA, "t1")
        background.submit("Jazz", BEN)
        assert background.withdraw(ANA) == 1
        assert [job.namespace for job in background.jobs()] == [BEN]
        background.drain(0)
    assert b"telltale" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


# The end


def test_closing_does_what_waits_and_takes_nothing_more(tmp_path: Path) -> None:
    engine = engine_over()
    background = engine.background(tmp_path / "queue.sqlite", debounce=3600)
    background.submit("Tea", ANA)
    background.close(20)
    background.close()
    assert contents(engine) == ["Tea"]
    with pytest.raises(ConfigurationError, match="was closed"):
        background.submit("Jazz", ANA)
    assert [job.state for job in read_jobs(tmp_path / "queue.sqlite")] == ["done"]


def test_what_is_not_done_in_time_is_kept_for_the_next_process(tmp_path: Path) -> None:
    path, release = tmp_path / "queue.sqlite", threading.Event()

    def stuck(_text: str) -> list[Any]:
        release.wait(30)
        return []

    background = engine_over(extractor=stuck).background(path, debounce=0, workers=1)
    background.submit("Tea", ANA)
    background.submit("Jazz", BEN)
    background.close(0.1)
    assert {job.state for job in read_jobs(path)} == {"running", "waiting"}
    release.set()
    background._ended.wait(30)
    engine = engine_over()
    with engine.background(path, **SOON) as later:
        assert later.drain(10) == 0
    assert contents(engine, BEN) == ["Jazz"]


SCRIPT = """
import sys, time
sys.path[:0] = [{engine!r}, {tests!r}]
from engine_fixture import engine_over, lines_of
def extractor(text):
    if {stuck}: time.sleep(600)
    return lines_of(text)
engine = engine_over(extractor=extractor)
background = engine.background({path!r}, debounce=3600, exit_timeout={timeout})
for number in range(3): background.submit(f"Fact {{number}}", ("memories", f"user{{number}}"))
"""


@pytest.mark.parametrize(
    ("stuck", "timeout", "states"),
    [(False, 20, {"done"}), (True, 0.3, {"running", "waiting"})],
    ids=["by itself", "with a stuck model"],
)
def test_the_interpreter_always_ends(tmp_path: Path, stuck: bool, timeout: float, states: set[str]) -> None:
    path = str(tmp_path / "queue.sqlite")
    script = SCRIPT.format(engine=str(ENGINE), tests=str(TESTS), path=path, stuck=stuck, timeout=timeout)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert {job.state for job in read_jobs(path)} == states


# Faces


def test_submitting_does_not_block_the_event_loop() -> None:
    engine = engine_over()

    async def go() -> None:
        with engine.background(None, **SOON) as background:
            jobs = await asyncio.gather(*(background.asubmit(f"Fact {at}", ANA, str(at)) for at in range(5)))
            assert len(set(jobs)) == 5
            background.drain(10)

    asyncio.run(go())
    assert len(contents(engine)) == 5


def test_an_asynchronous_extractor_works_in_the_background() -> None:
    async def extractor(text: str) -> list[Any]:
        await asyncio.sleep(0)
        return lines_of(text)

    engine = engine_over(extractor=extractor)
    with engine.background(None, debounce=0) as background:
        background.submit("Tea", ANA)
        assert background.drain(20) == 0
    assert contents(engine) == ["Tea"]


def test_a_background_is_what_a_remember_node_hands_over_to() -> None:
    engine = engine_over()
    with engine.background(None, **SOON) as background:
        node = engine.agents.remember_node(submit=background.submit)
        state = {"messages": said("Tea")}
        node.invoke(state, {"configurable": {"memory_namespace": "memories/ana", "thread_id": "t1"}})
        assert [(job.namespace, job.thread) for job in background.jobs()] == [(ANA, "t1")]
        background.drain(10)
    assert contents(engine) == ["Tea"]


@pytest.mark.parametrize("nothing", ["", [], [{"role": "system", "content": "Be kind."}], "  \n"])
def test_where_nobody_said_anything_there_is_no_job(nothing: Any) -> None:
    with engine_over().background(None, **SOON) as background:
        assert background.submit(nothing, ANA) is None
        assert background.jobs() == []


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((42, ANA), {}, "nothing to remember"),
        (("Tea", ANA), {"after_seconds": -1}, "after_seconds must be a number of seconds"),
        (("Tea", ANA), {"after_seconds": float("nan")}, "after_seconds"),
        (("Tea", ANA), {"importance": 99}, "importance must be a number from 0 to 1"),
        (("Tea", ANA), {"private": True}, "private memory needs a source"),
        (("Tea", ANA), {"metadata": {"a": object()}}, "metadata must be JSON"),
        (("Tea", ()), {}, "at least one label"),
    ],
)
def test_what_cannot_be_remembered_is_refused_when_it_is_submitted(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with engine_over().background(None, **SOON) as background:
        with pytest.raises(ValueError, match=message):
            background.submit(*arguments, **options)
        assert background.jobs() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -1}, "workers must be a whole number from 0"),
        ({"attempts": 0}, "attempts must be at least 1"),
        ({"lease": 0}, "lease must be more than 0"),
        ({"debounce": "soon"}, "debounce must be a number of seconds"),
    ],
)
def test_a_pace_that_cannot_be_kept_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        engine_over().background(None, **options)


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memories.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE store (key TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailableError, match="something else than a queue"):
        engine_over().background(path)
    assert path.read_bytes() == before
    for missing in (tmp_path / "nowhere" / "queue.sqlite", tmp_path):
        with pytest.raises(StoreUnavailableError, match="cannot be used"):
            JobQueue(missing)
    with pytest.raises(StoreUnavailableError):
        read_jobs(tmp_path / "none.sqlite")


def test_looking_at_a_queue_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    with engine_over().background(path, workers=0, debounce=3600) as background:
        background.submit("Tea", ANA, "t1")
        version = sqlite3.connect(path)
        seen = version.execute("PRAGMA data_version").fetchone()
        job = read_jobs(path, state="waiting", limit=1)[0]
        assert (job.namespace, job.thread, job.turns) == (ANA, "t1", 1)
        assert version.execute("PRAGMA data_version").fetchone() == seen
        version.close()


def test_a_job_can_be_shown_as_json() -> None:
    from dataclasses import asdict

    with engine_over().background(None, **SOON) as background:
        background.submit("Tea", ANA)
        assert json.loads(json.dumps(asdict(background.jobs()[0]), default=str))["state"] == "waiting"


def test_every_option_and_method_is_documented_with_its_default() -> None:
    text = (ENGINE.parent / "docs" / "background.md").read_text(encoding="utf-8")
    told = {line.split("`")[1]: line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| `")}
    assert {name: f"{value:.12g}" for name, value in vars(Pace()).items()} == {
        name: told[name] for name in vars(Pace())
    }
    methods = {name for name, value in vars(Background).items() if callable(value) and not name.startswith("_")}
    assert methods - {"submit", "asubmit"} <= {name.partition("(")[0] for name in told}
