"""Reading what a chat model answered: how it ended, and the list of items in it, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from pydantic import BaseModel

__all__ = ["ListForm", "Reading", "raw_text", "read_answer", "reported_cost"]


_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_REFUSALS = frozenset(
    {"refusal", "content_filter", "content_filtered", "safety", "recitation", "prohibited_content", "blocklist", "spii"}
)
_ENDINGS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
_START = re.compile(r"[{\[]")
_MOST_FALSE_STARTS = 200
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class ListForm:
    """The form of an answer: a list of items under `key`; an item is known by its field `mark`.

    `shape` is what models are shown. It is stricter than what is read: items are handed on as they came.
    """

    shape: type[BaseModel]
    key: str
    mark: str


@dataclass(frozen=True)
class Reading:
    """What could be read of one answer.

    `items` is None where nothing could. `failure` is a class of `ModelError` with the `problem` in words; with
    items it says that they are those that survived a damaged answer.
    """

    items: tuple[object, ...] | None
    failure: str | None = None
    problem: str = ""


def read_answer(answer: AIMessage, form: ListForm, *, by_call: bool) -> Reading:
    """The items of an answer, from its tool calls or else from the JSON in its text.

    `by_call` says that a tool call was asked for.
    """
    if refusal := _refusal(answer):
        return Reading(None, "refused", refusal)
    called = [_items(call["args"], form) for call in answer.tool_calls]
    if any(items is not None for items in called):
        return _complete([item for items in called for item in items or ()], form)
    text = raw_text(answer)
    values, is_damaged = _json_values(text)
    whole = _whole(values, form)
    if whole is not None:
        return _complete(whole, form)
    survivors = _survivors(values, form)
    if survivors and not is_damaged:
        return _complete(survivors, form)
    failure, problem = _problem(text, values, form, is_call_missing=by_call and not answer.invalid_tool_calls)
    if _ending(answer) in _CUT_OFF:
        failure, problem = "truncated", "it was cut off at the longest answer the model may give"
    return Reading(tuple(survivors) or None, failure, problem)


def raw_text(answer: AIMessage) -> str:
    """All that the model answered, tool calls included, as text."""
    calls = [json.dumps(call["args"], ensure_ascii=False) for call in answer.tool_calls]
    broken = [call["args"] or "" for call in answer.invalid_tool_calls]
    parts = (str(answer.text), *calls, *broken)
    return "\n".join(part for part in parts if part) or _refusal_words(answer)


def reported_cost(answer: AIMessage) -> float | None:
    """What the call cost, where the provider says so itself."""
    metadata = answer.response_metadata
    for place in (metadata, metadata.get("token_usage"), metadata.get("usage"), answer.usage_metadata):
        cost = place.get("cost") if isinstance(place, Mapping) else None
        if isinstance(cost, int | float) and not isinstance(cost, bool):
            return float(cost)
    return None


def _refusal(answer: AIMessage) -> str | None:
    reason = _refusal_words(answer) or (_ending(answer) if _ending(answer) in _REFUSALS else "")
    return f"it was refused: {reason}" if reason else None


def _refusal_words(answer: AIMessage) -> str:
    blocks = answer.content if isinstance(answer.content, list) else []
    refusals = [block.get("refusal") for block in blocks if isinstance(block, dict) and block.get("type") == "refusal"]
    spoken = (answer.additional_kwargs.get("refusal"), *refusals)
    return next((words for words in spoken if isinstance(words, str) and words), "")


def _ending(answer: AIMessage) -> str:
    metadata = answer.response_metadata
    details = metadata.get("incomplete_details")
    given = [metadata.get(name) for name in _ENDINGS]
    if isinstance(details, Mapping):
        given.append(details.get("reason"))
    return next((reason.lower() for reason in given if isinstance(reason, str)), "")


def _complete(items: Sequence[object], form: ListForm) -> Reading:
    if items and not any(isinstance(item, Mapping) for item in items):
        return Reading(None, "schema_violation", f'"{form.key}" holds no JSON objects')
    return Reading(tuple(items))


def _problem(text: str, values: Sequence[object], form: ListForm, *, is_call_missing: bool) -> tuple[str, str]:
    if not text.strip():
        return "empty", "it was empty"
    if values:
        return "schema_violation", f'it has no list "{form.key}" as the schema wants it'
    if is_call_missing:
        return "no_tool_call", "it called no tool and held no JSON"
    return "invalid_json", "it held no valid JSON"


def _json_values(text: str) -> tuple[list[object], bool]:
    """Every JSON object and list that stands in the text, and whether a damaged one was met."""
    values: list[object] = []
    at = false_starts = 0
    while false_starts < _MOST_FALSE_STARTS and (start := _START.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.start() + 1
            false_starts += 1
        else:
            values.append(value)
    return values, false_starts > 0


def _whole(values: Sequence[object], form: ListForm) -> list[object] | None:
    """The items of the last complete answer: what comes before it is a model thinking."""
    for value in reversed(values):
        if isinstance(value, Mapping) and form.mark not in value and (items := _items(value, form)) is not None:
            return items
    # An empty list says that there is nothing only where it is all that was said.
    return [] if list(values) == [[]] else None


def _survivors(values: Sequence[object], form: ListForm) -> list[object]:
    """The items that stand by themselves or in bare lists."""
    singles = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in singles if isinstance(item, Mapping) and form.mark in item]


def _items(value: object, form: ListForm) -> list[object] | None:
    """The items in one JSON value: under the key, or else under an invented one or one object further in."""
    if (items := _under_key(value, form)) is not None or not isinstance(value, Mapping):
        return items
    found = (_under_key(inner, form) or _bare(inner, form) for inner in value.values())
    return next((items for items in found if items), None)


def _under_key(value: object, form: ListForm) -> list[object] | None:
    if not isinstance(value, Mapping) or form.key not in value:
        return None
    inner = value[form.key]
    if isinstance(inner, str):
        inner = next(iter(_json_values(inner)[0]), None)
    if isinstance(inner, Mapping):
        return [inner]
    return inner if isinstance(inner, list) else None


def _bare(value: object, form: ListForm) -> list[object]:
    is_list = isinstance(value, list) and all(isinstance(item, Mapping) and form.mark in item for item in value)
    return list(value) if is_list and isinstance(value, list) else []
