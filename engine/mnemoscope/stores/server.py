"""The store of a LangGraph server, as a `BaseStore` over its HTTP API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import httpx
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import NotFoundError

from ..errors import InputError, StoreError, StoreUnavailableError
from ..namespaces import show_namespace
from ..secrecy import scrub
from ..times import from_iso

__all__ = ["SERVER_LIMITS", "ServerStore"]

SERVER_LIMITS = (
    "The server takes one operation a request, so a batch is not written as one, and others can see a part of it.",
    "The server does not say how it embeds: dimensions and embedder are not known here, and vectors cannot be read.",
    "A time-to-live is passed on in whole minutes; some servers accept it and ignore it.",
)
"""What the server cannot do, in sentences for people."""

_SECONDS = httpx.Timeout(connect=5.0, read=60.0, write=60.0, pool=5.0)


class ServerStore(BaseStore):
    """The store of the server at `url`, reached by the official client.

    Reads of a batch see the store as it is when it is their turn. `secrets` are left out of every message.

    Raises:
        StoreUnavailableError: (on use) the server cannot be reached, or refuses who asks.
        StoreError: (on use) the server failed, or refused the operation.
        InputError: (on use) a key is empty, which no server takes.
    """

    supports_ttl = True

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, secrets: Iterable[str] = ()) -> None:
        self.url = url
        # The package's own factories try five times over eight seconds, and send keys found in the environment.
        self._options: dict[str, Any] = {"base_url": url, "headers": dict(headers or {}), "timeout": _SECONDS}
        self._secrets = tuple(secrets)
        self._client = SyncLangGraphClient(httpx.Client(transport=httpx.HTTPTransport(retries=1), **self._options))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations, in order."""
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The asynchronous form of `batch`, on a worker's connection of its own."""
        transport = httpx.AsyncHTTPTransport(retries=1)
        async with LangGraphClient(httpx.AsyncClient(transport=transport, **self._options)) as client:
            return [await self._adone(client.store, op) for op in ops]

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp) and not op.key:
            return None
        name, arguments = _request(op)
        try:
            answer = getattr(self._client.store, name)(*arguments[0], **arguments[1])
        except NotFoundError:
            return None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise self._translated(error) from None
        return _result(op, answer)

    async def _adone(self, client: Any, op: Op) -> Result:
        if isinstance(op, GetOp) and not op.key:
            return None
        name, arguments = _request(op)
        try:
            answer = await getattr(client, name)(*arguments[0], **arguments[1])
        except NotFoundError:
            return None
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise self._translated(error) from None
        return _result(op, answer)

    def _translated(self, error: Exception) -> StoreError:
        said = scrub(f"{type(error).__name__}: {error}", self._secrets)
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403):
            return StoreUnavailableError(
                f"The LangGraph server {self.url} refuses who asks ({said}). Set its key under headers, as "
                '{ x-api-key = "${NAME}" }.'
            )
        if status is None:
            return StoreUnavailableError(
                f"The LangGraph server {self.url} cannot be reached ({said}). Check host and port, and that it runs."
            )
        return StoreError(f"The LangGraph server {self.url} answered {status} ({said}). See its log.")


def _request(op: Op) -> tuple[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """The client's method for an operation, and its arguments."""
    if isinstance(op, GetOp):
        return "get_item", ((op.namespace,), {"key": op.key, "refresh_ttl": op.refresh_ttl})
    if isinstance(op, SearchOp):
        named = {"filter": op.filter, "limit": op.limit, "offset": op.offset, "query": op.query}
        return "search_items", ((op.namespace_prefix,), {**named, "refresh_ttl": op.refresh_ttl})
    if isinstance(op, PutOp):
        if not op.key:
            raise InputError(f"The empty key in {show_namespace(op.namespace)} cannot be stored: a server refuses it.")
        if op.value is None:
            return "delete_item", ((op.namespace,), {"key": op.key})
        minutes = None if op.ttl is None else max(1, round(op.ttl))
        return "put_item", ((op.namespace,), {"key": op.key, "value": op.value, "index": op.index, "ttl": minutes})
    if isinstance(op, ListNamespacesOp):
        return "list_namespaces", ((), _listing(op))
    raise StoreError(f"{type(op).__name__} is no operation of a store.")


def _listing(op: ListNamespacesOp) -> dict[str, Any]:
    paths: dict[str, list[str]] = {}
    for condition in op.match_conditions or ():
        paths[condition.match_type] = [str(label) for label in condition.path]
    return {
        "prefix": paths.get("prefix"),
        "suffix": paths.get("suffix"),
        "max_depth": op.max_depth,
        "limit": op.limit,
        "offset": op.offset,
    }


def _result(op: Op, answer: Any) -> Result:
    if isinstance(op, GetOp):
        return None if answer is None else cast(Result, Item(**_times(answer)))
    if isinstance(op, SearchOp):
        return [SearchItem(**_times(item), score=item.get("score")) for item in answer["items"]]
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in answer["namespaces"]]
    return None


def _times(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": from_iso(item["created_at"]),
        "updated_at": from_iso(item["updated_at"]),
    }
