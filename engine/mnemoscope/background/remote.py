"""`RemoteBackground`: conversations handed over to a LangGraph server, where a run of a graph remembers them."""

from __future__ import annotations

import copy
import functools
import math
import uuid
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self, cast

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.schema import Config

from ..agents.scopes import NAMESPACE_KEY
from ..consolidation.seen_turns import spoken, turns_in
from ..conversations.messages import Message
from ..core.execution import on_thread
from ..core.namespaces import NamespaceLike, read_namespace
from ..core.secrets import scrub
from ..core.times import to_iso
from ..errors import InputError, StoreError, StoreUnavailableError
from .workers import check_seconds

__all__ = ["RemoteBackground"]


_THREADS = uuid.UUID("0b6d3c52-8e0f-4c8b-9a39-6a4c0c1f1d5e")
_SECONDS = httpx.Timeout(connect=5.0, read=60.0, write=60.0, pool=5.0)
# The server sets these for the run it makes; those of the caller's own run mean another one.
_OF_THE_CALLERS_RUN = ("thread_id", "run_id", "thread_ts")


class RemoteBackground:
    """Submits conversations to the server at `url`, to be remembered by its graph `graph`.

    The graph has a remember node, and takes `messages`. Runs of one namespace and thread follow each other on a thread
    of the server's own, which no other graph uses; since the node reads each turn once, whole conversations may be
    submitted again. `secrets` are left out of every message.
    """

    def __init__(
        self,
        url: str,
        graph: str,
        *,
        namespace_key: str = NAMESPACE_KEY,
        headers: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        self._graph = graph
        self._namespace_key = namespace_key
        self._secrets = tuple(secrets)
        # The package's own factory tries five times over eight seconds, and sends keys found in the environment.
        transport = httpx.HTTPTransport(retries=1)
        client = httpx.Client(base_url=url, headers=dict(headers or {}), timeout=_SECONDS, transport=transport)
        self._client = SyncLangGraphClient(client)

    def submit(
        self,
        content: object,
        namespace: NamespaceLike,
        thread: str | None = None,
        *,
        after_seconds: float = 0.0,
        config: RunnableConfig | None = None,
    ) -> str | None:
        """Have a conversation remembered by the server; gives the run's id, or None where nobody said anything.

        Args:
            content: text, a message, or messages (LangChain or dicts).
            namespace: where to; it stands in the run's configuration under `namespace_key`.
            thread: the conversation's; it stands in the run's metadata.
            after_seconds: when the run begins, in whole seconds from now.
            config: the caller's configuration. The run gets a copy of it, without what names the caller's own run.

        Raises:
            InputError: the content cannot be used.
            StoreError: the server failed or refused.
            StoreUnavailableError: it cannot be reached.
        """
        where, transcript = read_namespace(namespace), turns_in(content)
        check_seconds("after_seconds", after_seconds, InputError)
        if not spoken(transcript):
            if transcript.left_out.get("unreadable message"):
                raise InputError(f"There is nothing to remember: {transcript.notes[0]}")
            return None
        asked: Any = {"messages": [_value(each) for each in transcript.messages]}
        kept = _kept(config, self._namespace_key, list(where))
        try:
            run = self._client.runs.create(
                str(uuid.uuid5(_THREADS, "\x1f".join([*where, "", thread or "", "", self._graph]))),
                self._graph,
                input=asked,
                config=cast(Config, kept),
                metadata={**kept.get("metadata", {}), **({} if thread is None else {"memory_thread": thread})},
                multitask_strategy="enqueue",
                if_not_exists="create",
                after_seconds=math.ceil(after_seconds) or None,
            )
        except httpx.HTTPStatusError as error:
            raise StoreError(self._said(f"The LangGraph server refused the run: {error}")) from error
        except httpx.HTTPError as error:
            raise StoreUnavailableError(self._said(f"The LangGraph server cannot be reached: {error}")) from error
        return str(run["run_id"])

    async def asubmit(
        self,
        content: object,
        namespace: NamespaceLike,
        thread: str | None = None,
        *,
        after_seconds: float = 0.0,
        config: RunnableConfig | None = None,
    ) -> str | None:
        """The asynchronous form of `submit`."""
        options: dict[str, Any] = {"after_seconds": after_seconds, "config": config}
        return await on_thread(functools.partial(self.submit, content, namespace, thread, **options))

    def close(self) -> None:
        """Close the connection; the server goes on with its runs."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _said(self, text: str) -> str:
        return scrub(text, self._secrets)


def _kept(config: RunnableConfig | None, namespace_key: str, namespace: list[str]) -> dict[str, Any]:
    """A copy of the caller's configuration for another run, with the namespace in it."""
    given: Mapping[str, Any] = config or {}
    kept = {name: copy.deepcopy(given[name]) for name in ("tags", "metadata", "recursion_limit") if name in given}
    configurable = {
        name: copy.deepcopy(value)
        for name, value in (given.get("configurable") or {}).items()
        if name not in _OF_THE_CALLERS_RUN and not name.startswith(("__", "checkpoint"))
    }
    return {**kept, "configurable": {**configurable, namespace_key: namespace}}


def _value(message: Message) -> dict[str, Any]:
    value = {"role": message.role, "content": message.text, "name": message.name}
    # The server names a message that has no id; a position would make it take the place of another one.
    value |= {"id": message.id} if message.has_own_id else {}
    value |= {"said_at": to_iso(message.said_at)} if message.said_at else {}
    return {name: part for name, part in value.items() if part}
