"""What weak models send, through the real clients of three providers: what is read as meant, and what is asked again.

The rows are answers that public reports tell of, each for the reader of facts.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from mnemoscope import LLMExtractor, Message, ModelError
from mnemoscope.core import run
from mnemoscope.extraction.documents import DocumentExtractor
from mnemoscope.models import Answer, Asker, ListForm
from openai_server import BY_CALL, CLIENTS, IN_PROSE, Reply, calls, fails, says, serving
from pydantic import BaseModel, ConfigDict

ITEM = {"content": "Ana lives in Lisbon.", "quote": "I live in Lisbon"}
OTHER = {"content": "Ana has a cat.", "quote": "my cat"}
ANSWER = {"facts": [ITEM, OTHER]}
JSON = json.dumps(ANSWER)


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: str
    quote: str


class Items(BaseModel):
    """Some facts."""

    model_config = ConfigDict(extra="forbid")

    facts: list[Item]


class Query(BaseModel):
    query: str


class Queries(BaseModel):
    queries: list[Query]


FORM = ListForm(Items, key="facts", mark="content")
QUERIES = ListForm(Queries, key="queries", mark="query")
SCHEMA = Items.model_json_schema()
ECHOED_ITEM = {name: {"type": "string", "title": name.title()} for name in ("content", "quote")}

every_client = pytest.mark.parametrize("provider", CLIENTS)


def ask(provider: str, *replies: Reply, form: ListForm = FORM, **options: Any) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer to one question through that provider's client, and the requests it took."""
    with serving(*replies) as server:
        answer = run(Asker(CLIENTS[provider](server, **options), form, "extract").ask("Find facts.", "…"))
        return answer, server.requests


def fail(provider: str, *replies: Reply, **options: Any) -> tuple[ModelError, int]:
    """The error that a question ends in, and how many requests were made."""
    with serving(*replies) as server:
        with pytest.raises(ModelError) as caught:
            run(Asker(CLIENTS[provider](server, **options), FORM, "extract").ask("Find facts.", "…"))
        return caught.value, len(server.requests)


TEXTS: dict[str, str] = {
    "plain": JSON,
    "fenced": f"```json\n{JSON}\n```",
    "fenced in prose": f"Sure! Here are the facts:\n\n```\n{JSON}\n```\n\nLet me know if you need more.",
    "trailing commas": '{"facts": [' + f"{json.dumps(ITEM)[:-1]},}}, {json.dumps(OTHER)},],}}",
    "comments": '{"facts": [ // two of them\n' + f"{json.dumps(ITEM)}, /* and */ {json.dumps(OTHER)}]}}",
    "python": repr(ANSWER).replace('"', "'"),
    "thinking in tags": f'<think>Maybe {{"facts": []}}? Or [1]…</think>\n{JSON}',
    "thinking before a closing tag": f'I found {{"facts": []}} at first.</think>{JSON}',
    "everything inside the thinking": f"<think>{JSON}</think>",
    "a draft before it": f'First draft: {{"facts": [{json.dumps(ITEM)}]}}. Better: {JSON}',
    "the schema before it": f"The schema is {json.dumps(SCHEMA)}. My answer: {JSON}",
    "the schema after it": f"{JSON}\n\n(Schema: {json.dumps(SCHEMA)})",
    "inside the schema's properties": json.dumps({"type": "object", "properties": ANSWER, "required": ["facts"]}),
    "inside the schema's items": json.dumps({"facts": {"type": "array", "items": [ITEM, OTHER]}}),
    "under the schema's name": json.dumps({"Items": ANSWER}),
    "a call in text": json.dumps({"name": "Items", "arguments": ANSWER}),
    "a call in text, encoded twice": json.dumps({"name": "Items", "parameters": JSON}),
    "a call in tags": f"<tool_call>\n{json.dumps({'name': 'Items', 'arguments': ANSWER})}\n</tool_call>",
    "a list encoded twice": json.dumps({"facts": json.dumps([ITEM, OTHER])}),
    "items encoded twice": json.dumps({"facts": [json.dumps(ITEM), json.dumps(OTHER)]}),
    "a bare list": json.dumps([ITEM, OTHER]),
    "under an invented name": json.dumps({"memories": [ITEM, OTHER], "count": 2}),
    "items by number": json.dumps({"facts": {"0": ITEM, "1": OTHER}}),
    "a list in the list": json.dumps({"facts": [[ITEM, OTHER]]}),
    "a list one object in": json.dumps({"facts": {"items": [ITEM, OTHER]}}),
    "each in an object of its own": json.dumps({"facts": [{"fact": ITEM}, {"fact": OTHER}]}),
    "one object a line": f"{json.dumps(ITEM)}\n{json.dumps(OTHER)}",
    "one answer a line": f'{{"facts": [{json.dumps(ITEM)}]}}\n{{"facts": [{json.dumps(OTHER)}]}}',
    "deep in an envelope": json.dumps({"status": "ok", "result": {"data": ANSWER}}),
}


@every_client
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_answer_in_text_is_read_as_it_was_meant(provider: str, text: str) -> None:
    answer, requests = ask(provider, says(text), **IN_PROSE)
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM, OTHER), False, 1)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "plain": (ANSWER,),
    "several calls": ({"facts": [ITEM]}, {"facts": [OTHER]}),
    "one call an item": (ITEM, OTHER),
    "an empty call before it": ({}, ANSWER),
    "one object in place of a list": ({"facts": ITEM}, {"facts": OTHER}),
    "a list encoded twice": ({"facts": json.dumps([ITEM, OTHER])},),
    "an envelope": ({"input": ANSWER},),
    "an envelope encoded twice": ({"input": JSON},),
    "items by number": ({"facts": {"1": ITEM, "2": OTHER}},),
}


@every_client
@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_call_is_read_as_it_was_meant(provider: str, arguments: tuple[Any, ...]) -> None:
    answer, requests = ask(provider, calls(*arguments), **BY_CALL)
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM, OTHER), False, 1)


@every_client
def test_thinking_in_a_block_of_its_own_is_not_read(provider: str) -> None:
    answer, _ = ask(provider, says(JSON, thoughts='{"facts": [{"content": "a draft", "quote": ""}]}'))
    assert answer.items == (ITEM, OTHER)


@every_client
def test_words_beside_a_call_are_no_trouble(provider: str) -> None:
    answer, _ = ask(provider, calls(ANSWER, text="Let me note {these} down: []"), **BY_CALL)
    assert answer.items == (ITEM, OTHER)


@pytest.mark.parametrize("nothing", [{"facts": []}, {"facts": None}, {"result": {"facts": []}}, []])
@every_client
def test_nothing_found_is_no_failure(provider: str, nothing: Any) -> None:
    answer, requests = ask(provider, says(nothing), **IN_PROSE)
    assert (answer.items, len(requests)) == ((), 1)


VIOLATIONS: dict[str, Any] = {
    "the schema": SCHEMA,
    "a short schema": {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]},
    "the schema of the list": {"facts": SCHEMA["properties"]["facts"]},
    "the schema of an item": {"facts": [ECHOED_ITEM]},
    "the schema in the list": {"facts": [{"type": "object", "properties": ECHOED_ITEM}]},
    "definitions alone": {"$defs": SCHEMA["$defs"]},
    "nothing at all": {},
    "other objects": {"facts": [{"fact": "Ana lives in Lisbon."}, {"text": "Ana has a cat."}]},
    "no objects": {"facts": [1, True, None]},
    "mere texts where more is needed": {"facts": ["Ana lives in Lisbon."]},
    "a word": {"facts": "none"},
    "another object": {"answer": "Ana lives in Lisbon."},
}


@every_client
@pytest.mark.parametrize("options", [IN_PROSE, BY_CALL], ids=["prose", "call"])
@pytest.mark.parametrize("broken", VIOLATIONS.values(), ids=VIOLATIONS)
def test_what_is_not_of_the_form_is_asked_for_once_more(provider: str, options: dict[str, Any], broken: Any) -> None:
    reply = calls if options == BY_CALL else says
    answer, requests = ask(provider, reply(broken), reply(ANSWER), **options)
    assert answer.items == (ITEM, OTHER)
    assert [call.failure for call in answer.calls] == ["schema_violation", None]
    assert "could not be read" in json.dumps(requests[1])


@every_client
@pytest.mark.parametrize("broken", VIOLATIONS.values(), ids=VIOLATIONS)
def test_what_is_not_of_the_form_twice_is_an_error_and_never_nothing(provider: str, broken: Any) -> None:
    error, count = fail(provider, says(broken), says(broken), **IN_PROSE)
    assert (error.failure, count) == ("schema_violation", 2)
    assert error.raw == json.dumps(broken, ensure_ascii=False)


def test_a_schema_for_an_answer_is_named_so_to_the_model() -> None:
    _, requests = ask("openai", says(SCHEMA), says(ANSWER))
    assert "it repeats the schema instead of giving data" in requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("given", "items"),
    [
        ({"queries": ["tea", "coffee"]}, ["tea", "coffee"]),
        ({"queries": "tea"}, ["tea"]),
        (["tea"], None),
        ({"queries": '["tea", "coffee"]'}, ["tea", "coffee"]),
        ({"queries": {"query": "tea"}}, ["tea"]),
        ({"queries": ["tea", {"query": "coffee"}]}, ["tea", "coffee"]),
    ],
)
def test_a_text_stands_for_an_item_that_is_a_text_alone(given: Any, items: list[str] | None) -> None:
    replies = [says(given)] if items is not None else [says(given), says({"queries": []})]
    answer, _ = ask("openai", *replies, form=QUERIES)
    assert [item["query"] for item in answer.items if isinstance(item, dict)] == (items or [])


@every_client
def test_of_a_text_that_was_cut_off_the_whole_items_are_kept(provider: str) -> None:
    cut = f'{{"facts": [{json.dumps(ITEM)}, {json.dumps(OTHER)[:20]}'
    answer, requests = ask(provider, says(cut, finish="length"), **IN_PROSE)
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM,), True, 1)
    assert answer.calls[0].failure == "truncated"


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_of_a_call_that_was_cut_off_the_last_item_may_be_a_half(provider: str) -> None:
    half = {"facts": [ITEM, {"content": "Ana has a c"}]}
    answer, requests = ask(provider, calls(half, finish="length"), **BY_CALL)
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM,), True, 1)


@every_client
def test_a_call_that_was_cut_off_before_its_first_item_is_truncated_and_not_empty(provider: str) -> None:
    error, count = fail(provider, calls({}, finish="length"), **BY_CALL)
    assert (error.failure, count) == ("truncated", 1)


def test_a_call_that_google_could_not_read_is_asked_for_in_prose() -> None:
    answer, requests = ask("google", says("", finish="MALFORMED_FUNCTION_CALL"), says(ANSWER), **BY_CALL)
    assert [call.failure for call in answer.calls] == ["no_tool_call", None]
    assert "tools" not in requests[1]


def test_broken_arguments_of_a_call_are_read_as_text() -> None:
    answer, requests = ask("openai", calls(TEXTS["trailing commas"]), **BY_CALL)
    assert (answer.items, len(requests)) == ((ITEM, OTHER), 1)


def test_many_brackets_that_never_close_cost_no_time() -> None:
    text = '{"a": [' * 20_000
    model = FakeMessagesListChatModel(responses=[AIMessage(text), AIMessage(text)])
    with pytest.raises(ModelError, match="no valid JSON"):
        run(Asker(model, FORM, "extract").ask("", ""))


# What a provider says instead of an answer


@every_client
def test_a_refusal_is_not_argued_with(provider: str) -> None:
    error, count = fail(provider, says("", refusal="I cannot help with that."))
    assert (error.failure, count) == ("refused", 1)


@every_client
@pytest.mark.parametrize(
    ("status", "failure"),
    [(429, "rate_limited"), (500, "provider_error"), (401, "provider_error"), (403, "provider_error")],
)
def test_an_error_of_the_provider_is_named(provider: str, status: int, failure: str) -> None:
    error, count = fail(provider, fails(status, "not now"))
    assert (error.failure, count) == (failure, 1)


@every_client
def test_the_time_that_a_busy_provider_asks_for_is_told(provider: str) -> None:
    error, _ = fail(provider, fails(429, "slow down", headers={"retry-after": "7"}))
    assert "wait 7 seconds" in str(error)


@every_client
def test_a_request_that_is_turned_down_is_put_in_prose(provider: str) -> None:
    answer, requests = ask(provider, fails(400, "this model knows no such output"), says(ANSWER))
    assert answer.items == (ITEM, OTHER)
    assert [call.way for call in answer.calls][-1] == "prose"
    assert len(requests) == 2


@every_client
@pytest.mark.parametrize("options", [{}, BY_CALL, IN_PROSE], ids=["schema", "call", "prose"])
def test_every_way_costs_one_call_and_counts_its_tokens(provider: str, options: dict[str, Any]) -> None:
    reply = calls(ANSWER) if options == BY_CALL else says(ANSWER)
    answer, requests = ask(provider, reply, **options)
    [call] = answer.calls
    assert (call.input_tokens, call.output_tokens, call.failure, len(requests)) == (11, 7, None, 1)


# The extractors


SAID = Message("m1", "user", "I was born on 3 February 1985 and I live in Lisbon.")


class Birth(BaseModel):
    """When somebody was born."""

    model_config = ConfigDict(strict=True, extra="forbid")

    born: str
    place: str | None = None
    tags: list[str] = []


def birth(**fields: Any) -> dict[str, Any]:
    about = {"form": "Birth", "importance": 0.9, "categories": "identity", "message_ids": "m1"}
    return {**about, "quote": "born on 3 February 1985", "document": fields}


def test_a_conversation_that_is_answered_with_the_schema_twice_is_an_error() -> None:
    with serving(says(SCHEMA), says(SCHEMA)) as server, pytest.raises(ModelError, match="repeats the schema"):
        LLMExtractor(CLIENTS["openai"](server)).extract([SAID])


@pytest.mark.parametrize(
    "document",
    [
        birth(born="1985-02-03"),
        birth(born="1985-02-03", place=None, tags=None),
        birth(born="1985-02-03", tags="x", invented=1) | {"form": "birth"},
        birth() | {"document": '{"born": "1985-02-03"}', "form": None},
    ],
)
def test_a_document_is_read_leniently(document: dict[str, Any]) -> None:
    with serving(says({"documents": [document]})) as server:
        extraction = DocumentExtractor(CLIENTS["openai"](server), [Birth]).extract([SAID])
    [fact] = extraction.facts
    assert fact.metadata["document"]["born"] == "1985-02-03"
    assert fact.categories == ["identity"]


def test_documents_that_their_class_refuses_are_asked_for_once_more() -> None:
    wrong, right = {"documents": [birth(place="Lisbon")]}, {"documents": [birth(born="1985-02-03")]}
    with serving(says(wrong), says(right)) as server:
        extraction = DocumentExtractor(CLIENTS["openai"](server), [Birth]).extract([SAID])
        assert "the document Birth is refused: born: Field required" in json.dumps(server.requests[1])
    assert len(extraction.facts) == 1


def test_documents_that_are_refused_twice_are_an_error_and_one_beside_a_good_one_is_counted() -> None:
    wrong, mixed = [birth(place="Lisbon")], [birth(place="Lisbon"), birth(born="1985-02-03")]
    with serving(*[says({"documents": wrong})] * 2, says({"documents": mixed})) as server:
        extractor = DocumentExtractor(CLIENTS["openai"](server), [Birth])
        with pytest.raises(ModelError, match="Field required"):
            extractor.extract([SAID])
        extraction = extractor.extract([SAID])
    assert len(extraction.facts) == 1
    assert extraction.held_back == {"document that does not fit its schema": 1}
