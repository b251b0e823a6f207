"""What logs say: which error, and where; never the text that it quotes, unless somebody asks for it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agent_fixture import TEMPLATE, config
from engine_fixture import CountingEmbeddings, engine_over, memory_store
from mnemoscope.errors import LOG_TEXT, describe_error

SECRET = "Ana is allergic to peanuts"


def failing(*_: Any) -> Any:
    raise ConnectionError(f"the row ({SECRET}) was refused")


def caught(cause: BaseException) -> BaseException:
    try:
        raise ValueError(SECRET) from cause
    except ValueError as error:
        return error


def test_an_error_is_described_by_types_and_places_alone() -> None:
    described = describe_error(caught(KeyError(SECRET)))
    assert "builtins.ValueError, raised at" in described
    assert "builtins.KeyError, raised at" in described
    assert "in caught" in described
    assert SECRET not in described


def test_what_an_error_says_is_logged_where_somebody_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOG_TEXT, "1")
    assert SECRET in describe_error(caught(KeyError(SECRET)))


@pytest.mark.parametrize("part", ["recall", "remember", "tool", "background", "access"])
def test_no_failure_of_an_agents_memory_logs_what_was_said(
    part: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeddings = CountingEmbeddings()
    engine = engine_over(memory_store(embeddings))
    engine.remember(SECRET, ("memories", "ana"))
    engine.recall("peanuts", ("memories", "ana"))
    said = {"messages": [("user", SECRET)]}
    with caplog.at_level(logging.DEBUG, logger="mnemoscope"):
        if part == "access":
            monkeypatch.setattr(type(engine.context.adapter), "write", failing_write)
            engine.context.access._in_time()
        embeddings.fails = ConnectionError(f"could not embed {SECRET!r}")
        if part == "recall":
            engine.recall_node(namespace=TEMPLATE).invoke(said, config())
        elif part == "remember":
            engine.agents.remember_node(namespace=TEMPLATE).invoke({"messages": [("user", f"{SECRET}!")]}, config())
        elif part == "tool":
            engine.tools(namespace=TEMPLATE)[0].invoke({"query": SECRET}, config())
        elif part == "background":
            with engine.background(None, workers=0, debounce=0, attempts=1) as background:
                background.submit(f"{SECRET}!", ("memories", "ana"))
                background.drain(5)
    assert caplog.records
    assert "raised at" in caplog.text
    assert SECRET not in caplog.text


def failing_write(*_: Any, **__: Any) -> Any:
    from mnemoscope import StoreError

    raise StoreError(f"the row ({SECRET}) was refused")
