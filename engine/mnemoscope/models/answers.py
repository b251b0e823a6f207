"""Reading what a chat model answered: how it ended, and the list of items in it, however it is wrapped.

Reading is lenient where the meaning is plain (a fence, a trailing comma, one object in place of a list) and strict
where it is not: an answer without a single item of the asked form is a violation of the schema, never an empty list.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard, get_args

from langchain_core.messages import AIMessage
from pydantic import BaseModel

__all__ = ["ListForm", "Reading", "raw_text", "read_answer", "reported_cost"]


_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_REFUSALS = frozenset(
    {"refusal", "content_filter", "content_filtered", "safety", "recitation", "prohibited_content", "blocklist", "spii"}
)
# Google ends so, without any content, where a model wrote its call as code.
_BROKEN_CALLS = frozenset({"malformed_function_call", "unexpected_tool_call", "malformed_response"})
_ENDINGS = ("finish_reason", "stop_reason", "done_reason", "stopReason")

_DECODER = json.JSONDecoder(strict=False)
_START = re.compile(r"[{\[]")
_MOST_FALSE_STARTS = 200
# Each costs a look at the rest of the text.
_MOST_REPAIRS = 8
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_PYTHON_KEY = re.compile(r"[{,]\s*'[^'\n]{1,60}'\s*:")
_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_BETWEEN_VALUES = re.compile(r"(?:[\s,;]|```(?:json)?)*")

_SCHEMA_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_SCHEMA_WORDS = frozenset({
    "type", "title", "description", "properties", "items", "required", "additionalProperties", "$defs", "definitions",
    "$ref", "$schema", "$id", "anyOf", "allOf", "oneOf", "enum", "const", "default", "examples", "format", "pattern",
    "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "nullable",
})  # fmt: skip
_DEEPEST_WRAPPING = 4
_ECHO = "it repeats the schema instead of giving data of that form"


@dataclass(frozen=True)
class ListForm:
    """The form of an answer: a list of items under `key`; an item is known by its field `mark`.

    `shape` is what models are shown. It is stricter than what is read: items are handed on as they came. `check` says
    what is wrong with an item, or None; an answer all of whose items are wrong violates the schema.
    """

    shape: type[BaseModel]
    key: str
    mark: str
    check: Callable[[Mapping[str, object]], str | None] | None = None

    @cached_property
    def is_text_enough(self) -> bool:
        """Whether a mere text can stand for an item, because the mark is all that an item must have."""
        kinds = get_args(self.shape.model_fields[self.key].annotation)
        kind = kinds[0] if len(kinds) == 1 else None
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            return False
        needed = [name for name, field in kind.model_fields.items() if field.is_required()]
        return needed == [self.mark] and kind.model_fields[self.mark].annotation is str


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
    ending = _ending(answer)
    if refusal := _refusal_words(answer) or (ending if ending in _REFUSALS else ""):
        return Reading(None, "refused", f"it was refused: {refusal}")
    called = [items for call in answer.tool_calls if (items := _items_in(call["args"], form)) is not None]
    if called and ending not in _CUT_OFF:
        return _check_items([item for items in called for item in items], form)
    # A client that streams closes the brackets of a call that was cut off, so the last item may be half of one.
    survivors = [item for items in called for item in items][:-1]
    text = raw_text(answer)
    if not called:
        found = _find_json(text)
        whole = _whole_answer(found, form)
        survivors = _items_by_mark(found.values, form)
        if whole is None and survivors and not found.is_damaged:
            whole = survivors
        if whole is not None:
            return _check_items(whole, form)
    if ending in _CUT_OFF:
        problem = "it was cut off at the longest answer the model may give"
        return Reading(tuple(survivors) or None, "truncated", problem)
    if ending in _BROKEN_CALLS and not text.strip():
        return Reading(None, "no_tool_call", "its tool call could not be read")
    failure, problem = _describe_failure(text, form, is_call_missing=by_call and not answer.invalid_tool_calls)
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


# How it ended


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


def _describe_failure(text: str, form: ListForm, *, is_call_missing: bool) -> tuple[str, str]:
    """The class of `ModelError` of an answer without items, and what is wrong with it in words."""
    if not text.strip():
        return "empty", "it was empty"
    values = _find_json(text).values
    if any(map(_is_schema, values)):
        return "schema_violation", _ECHO
    if values:
        return "schema_violation", f'it has no list "{form.key}" as the schema wants it'
    if is_call_missing:
        return "no_tool_call", "it called no tool and held no JSON"
    return "invalid_json", "it held no valid JSON"


def _check_items(items: Sequence[object], form: ListForm) -> Reading:
    """The items, or the violation of the schema where there are some and none is of its form."""
    problems = [_problem_with(item, form) for item in items]
    if problems and all(problems):
        return Reading(None, "schema_violation", str(problems[0]))
    return Reading(tuple(items))


def _problem_with(item: object, form: ListForm) -> str | None:
    if not isinstance(item, Mapping):
        return f'"{form.key}" holds no JSON objects'
    if _is_schema(item) or _is_schema(item.get(form.mark)):
        return _ECHO
    if form.mark not in item:
        return f'"{form.key}" holds objects without "{form.mark}"'
    return form.check(item) if form.check is not None else None


# JSON in text


@dataclass(frozen=True)
class _Json:
    """The JSON objects and lists in a text; `is_bare` says that nothing else stands in it but fences and commas."""

    values: list[object]
    is_damaged: bool
    is_bare: bool


def _find_json(text: str) -> _Json:
    """Every JSON object and list in the text, but for a model's thinking where something else is there too."""
    said = _THOUGHTS.sub("", text)
    found = _scan(said)
    return found if found.values or said == text else _scan(text)


def _scan(text: str) -> _Json:
    values: list[object] = []
    between: list[str] = []
    at = ended = false_starts = 0
    while false_starts < _MOST_FALSE_STARTS and (start := _START.search(text, at)):
        decoded = _decode(text, start.start(), repairs=false_starts < _MOST_REPAIRS)
        if decoded is None:
            at = start.start() + 1
            false_starts += 1
        else:
            between.append(text[ended : start.start()])
            values.append(decoded[0])
            at = ended = decoded[1]
    between.append(text[ended:])
    return _Json(values, false_starts > 0, all(map(_BETWEEN_VALUES.fullmatch, between)))


def _decode(text: str, start: int, *, repairs: bool) -> tuple[object, int] | None:
    """The value that begins there and where it ends; with `repairs` what is JSON but for its spelling is read too."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = _end_of_value(text, start) if repairs else None
    if end is None:
        return None
    source = text[start:end]
    for read in (_read_relaxed, _read_python):
        try:
            return read(source), end
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _read_relaxed(source: str) -> object:
    """JSON with commas before closing brackets, and with comments."""
    for pattern in (_COMMENT, _LAST_COMMA):
        source = pattern.sub(lambda found: found[1] or "", source)
    return _DECODER.decode(source)


def _read_python(source: str) -> object:
    """A value as Python shows it: in single quotes, with True, False and None."""
    # Python joins two strings that stand side by side, which in JSON are a fault that nobody can put right.
    if not _PYTHON_KEY.search(source):
        raise ValueError("It has no key in single quotes.")
    return ast.literal_eval(source)


def _end_of_value(text: str, start: int) -> int | None:
    """Where the bracket that opens there is closed, or None where it never is."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if len(token.group()) == 1:
            depth += 1 if token.group() in "{[" else -1
            if depth == 0:
                return token.end()
    return None


# Items in JSON


def _whole_answer(found: _Json, form: ListForm) -> list[object] | None:
    """The items of the last complete answer: what comes before it is a model thinking, unless nothing is between."""
    answers = [
        items
        for value in found.values
        if isinstance(value, Mapping) and form.mark not in value and (items := _items_in(value, form)) is not None
    ]
    if answers:
        return [item for items in answers for item in items] if found.is_bare else answers[-1]
    # An empty list says that there is nothing only where it is all that was said.
    return [] if found.values == [[]] else None


def _items_by_mark(values: Sequence[object], form: ListForm) -> list[object]:
    """The items that stand by themselves or in bare lists."""
    singles = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in singles if isinstance(item, Mapping) and form.mark in item and not _is_schema(item)]


def _items_in(value: object, form: ListForm, depth: int = 0) -> list[object] | None:
    """The items in one JSON object: under the key, or else a few objects further in, or under an invented name."""
    if not isinstance(value, Mapping) or depth > _DEEPEST_WRAPPING:
        return None
    if form.key in value:
        return _listed(value[form.key], form)
    if form.mark in value:
        return [value] if depth == 0 else None
    for inner in value.values():
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            inner = next(iter(_find_json(inner).values), None)
        items = inner if _are_items(inner, form) else _items_in(inner, form, depth + 1)
        if items is not None:
            return items
    return None


def _listed(value: object, form: ListForm) -> list[object] | None:
    """What stands under the key as a list: null is the default, and one item a list of one."""
    if value is None:
        return []
    if isinstance(value, list):
        flat = [item for each in value for item in (each if isinstance(each, list) else [each])]
        return [_unwrap(item, form) for item in flat]
    if isinstance(value, str):
        inner = next(iter(_find_json(value).values), None)
        if inner is not None:
            return _listed(inner, form)
        return [{form.mark: value}] if form.is_text_enough and value.strip() else None
    if not isinstance(value, Mapping):
        return None
    if form.mark in value:
        return [value]
    inside = list(value.values())
    # Items by number or name, or a list one object further in.
    return next((each for each in (inside, *inside) if _are_items(each, form)), None)


def _unwrap(item: object, form: ListForm) -> object:
    """An item that stands as JSON text, as mere text, or alone in an object of its own."""
    if isinstance(item, str):
        inner = next(iter(_find_json(item).values), None)
        return inner if inner is not None else {form.mark: item} if form.is_text_enough else item
    if isinstance(item, Mapping) and form.mark not in item and len(item) == 1 and _are_items([*item.values()], form):
        return next(iter(item.values()))
    return item


def _are_items(value: object, form: ListForm) -> TypeGuard[list[object]]:
    """Whether it is a list of objects that all bear the mark, and holds one at least."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, Mapping) and form.mark in each for each in value)


def _is_schema(value: object) -> bool:
    """Whether it is a JSON schema: an object of nothing but a schema's words that says of what type a value is."""
    if not isinstance(value, Mapping) or not value.keys() <= _SCHEMA_WORDS:
        return False
    kinds = value.get("type")
    is_typed = any(
        isinstance(kind, str) and kind in _SCHEMA_TYPES for kind in (kinds if isinstance(kinds, list) else [kinds])
    )
    return is_typed or any(word in value for word in ("$defs", "$ref", "anyOf", "properties"))
