"""The store of a LangGraph server, as a `BaseStore` over its HTTP API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import httpx
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import NotFoundError

from ..core.namespaces import show_namespace
from ..core.secrets import scrub
from ..core.times import from_iso
from ..errors import InputError, StoreError, StoreUnavailableError

__all__ = ["SERVER_LIMITS", "ServerStore"]


SERVER_LIMITS = (
    "The server takes one operation a request, so a batch is not written as one, and others can see a part of it.",
    "The server does not say how it embeds: dimensions and embedder are not known here, and vectors cannot be read.",
    "A time-to-live is passed on in whole minutes; some servers accept it and ignore it.",
)
"""What the server cannot do, in sentences for people."""

_FAILURES = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError)
_SLOW = (httpx.ReadTimeout, httpx.WriteTimeout)


class ServerStore(BaseStore):
    """The store of the server at `url`, reached by the official client.

    Reads of a batch see the store as it is when it is their turn. `secrets` are left out of every message.

    Raises:
        StoreUnavailableError: (on use) the server cannot be reached, does not answer in time, or refuses who asks.
        StoreError: (on use) the server failed, refused the operation, or is none.
        InputError: (on use) a key is empty, or a label is or holds a period, which no server takes.
    """

    supports_ttl = True

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
        timeout_seconds: float = 60.0,
    ) -> None:
        self.url = url
        self._patience = timeout_seconds
        self._is_store = False
        timeout = httpx.Timeout(timeout_seconds, connect=5.0, pool=5.0)
        # The package's own factories try five times over eight seconds, and send keys found in the environment.
        self._options: dict[str, Any] = {"base_url": url, "headers": dict(headers or {}), "timeout": timeout}
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
        if _finds_nothing(op):
            return None if isinstance(op, GetOp) else []
        name, arguments = _request(op)
        try:
            answer = getattr(self._client.store, name)(*arguments[0], **arguments[1])
        except _FAILURES as error:
            if not _may_be_missing(op, error):
                raise self._translated(error) from None
            # Any other server answers so too, whatever it is asked.
            if not self._is_store:
                self._done(_A_NAMESPACE)
            return None
        return self._read(op, answer)

    async def _adone(self, client: Any, op: Op) -> Result:
        if _finds_nothing(op):
            return None if isinstance(op, GetOp) else []
        name, arguments = _request(op)
        try:
            answer = await getattr(client, name)(*arguments[0], **arguments[1])
        except _FAILURES as error:
            if not _may_be_missing(op, error):
                raise self._translated(error) from None
            if not self._is_store:
                await self._adone(client, _A_NAMESPACE)
            return None
        return self._read(op, answer)

    def _read(self, op: Op, answer: Any) -> Result:
        try:
            result = _result(op, answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise StoreError(f"{self.url} answered what no LangGraph server answers. Check the address.") from None
        self._is_store = True
        return result

    def _translated(self, error: Exception) -> StoreError:
        said = scrub(f"{type(error).__name__}: {error}", self._secrets)
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403):
            return StoreUnavailableError(
                f"The LangGraph server {self.url} refuses who asks ({said}). Set its key under headers, as "
                '{ x-api-key = "${NAME}" }.'
            )
        if status == 404:
            return StoreError(
                f"There is no LangGraph server's store at {self.url} ({said}). Check the address, and that the "
                "server has a store."
            )
        if status is not None:
            return StoreError(f"The LangGraph server {self.url} answered {status} ({said}). See its log.")
        if isinstance(error, _SLOW):
            return StoreUnavailableError(
                f"The LangGraph server {self.url} did not answer within {self._patience:g} s. What it was asked may "
                "have been carried out all the same."
            )
        if isinstance(error, json.JSONDecodeError):
            return StoreError(f"{self.url} answered what no LangGraph server answers. Check the address.")
        return StoreUnavailableError(
            f"The LangGraph server {self.url} cannot be reached ({said}). Check host and port, and that it runs."
        )


def _finds_nothing(op: Op) -> bool:
    """Whether nothing can be where the operation reads; some servers would take a label apart at its periods."""
    if isinstance(op, GetOp):
        return not op.key or not _is_whole(op.namespace)
    return isinstance(op, SearchOp) and not _is_whole(op.namespace_prefix)


def _is_whole(namespace: Iterable[str]) -> bool:
    return all(label and "." not in label for label in namespace)


def _may_be_missing(op: Op, error: Exception) -> bool:
    return isinstance(op, GetOp) and isinstance(error, NotFoundError)


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
        if not _is_whole(op.namespace):
            raise InputError(f"A server takes no label that is empty or holds a period: {op.namespace!r}.")
        if op.value is None:
            return "delete_item", ((op.namespace,), {"key": op.key})
        minutes = None if op.ttl is None else max(1, round(op.ttl))
        return "put_item", ((op.namespace,), {"key": op.key, "value": op.value, "index": op.index, "ttl": minutes})
    if isinstance(op, ListNamespacesOp):
        return "list_namespaces", ((), _listing(op))
    raise StoreError(f"{type(op).__name__} is no operation of a store.")


_A_NAMESPACE = ListNamespacesOp(limit=1)
"""What a server with a store answers, and no other."""


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
        return cast(Result, Item(**_times(answer))) if answer else None
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
