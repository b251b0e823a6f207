"""Asking a model: the real OpenAI client against a server on the loopback, through every class of failure."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from mnemoscope import ConfigurationError, ModelError
from mnemoscope.core import arun, run
from mnemoscope.models import CALLS_A_QUESTION, Answer, Asker, ListForm, load_model, prompt_text, prompt_version
from openai_server import BY_CALL, IN_PROSE, Reply, calls, client, drops, fails, hangs, says, serving
from pydantic import BaseModel, ConfigDict

ITEM = {"content": "Ana lives in Lisbon."}
OTHER = {"content": "Ana has a cat."}
ANSWER = {"facts": [ITEM]}


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: str


class Items(BaseModel):
    """Some items."""

    model_config = ConfigDict(extra="forbid")

    facts: list[Item]


FORM = ListForm(Items, key="facts", mark="content")


class ToolFake(FakeMessagesListChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def asked(*replies: Reply, **options: Any) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer to one question, and the requests it took."""
    with serving(*replies) as server:
        answer = run(Asker(client(server, **options), FORM, "extract").ask("Find facts.", "Ana lives in Lisbon."))
        return answer, server.requests


def refused(*replies: Reply, **options: Any) -> tuple[ModelError, int]:
    """The error that a question ends in, and how many requests were made."""
    with serving(*replies) as server:
        with pytest.raises(ModelError) as caught:
            run(Asker(client(server, **options), FORM, "extract").ask("Find facts.", "Ana lives in Lisbon."))
        assert len(caught.value.calls) == len(server.requests)
        return caught.value, len(server.requests)


def test_a_model_that_knows_json_schema_is_asked_by_a_strict_one() -> None:
    answer, requests = asked(says(ANSWER))
    assert answer.items == (ITEM,)
    [request] = requests
    assert request["response_format"]["type"] == "json_schema"
    assert request["response_format"]["json_schema"]["strict"] is True
    assert "tools" not in request


def test_a_model_without_json_schema_is_asked_by_a_function_call() -> None:
    answer, requests = asked(calls(ANSWER), **BY_CALL)
    assert answer.items == (ITEM,)
    [request] = requests
    assert request["tools"][0]["function"]["name"] == "Items"
    assert "response_format" not in request


def test_a_model_with_neither_is_told_the_schema_in_prose() -> None:
    answer, requests = asked(says(f"Here you are:\n```json\n{json.dumps(ANSWER)}\n```\nAnything else?"), **IN_PROSE)
    assert answer.items == (ITEM,)
    [request] = requests
    assert json.dumps(Items.model_json_schema()) in request["messages"][0]["content"]
    assert not {"tools", "response_format"} & set(request)


def test_a_model_that_only_writes_text_needs_no_tool_calls() -> None:
    answer = run(Asker(FakeListChatModel(responses=[json.dumps(ANSWER)]), FORM, "extract").ask("", ""))
    assert answer.items == (ITEM,)
    assert [call.way for call in answer.calls] == ["prose"]


def test_a_request_that_is_turned_down_is_put_in_prose_and_its_way_not_tried_again() -> None:
    with serving(fails(400, "no response_format here"), says(ANSWER), calls(ANSWER)) as server:
        asker = Asker(client(server), FORM, "extract")
        first = run(asker.ask("Find facts.", "…"))
        assert [call.way for call in first.calls] == ["json_schema", "prose"]
        assert asker.ways == ("function_calling", "prose")
        second = run(asker.ask("Find facts.", "…"))
        assert [call.way for call in second.calls] == ["function_calling"]
        assert len(server.requests) == 3


def test_a_way_is_kept_where_the_simpler_one_is_turned_down_too() -> None:
    with serving(fails(404, "no such model"), fails(404, "no such model")) as server:
        asker = Asker(client(server), FORM, "extract")
        with pytest.raises(ModelError, match="no such model"):
            run(asker.ask("Find facts.", "…"))
        assert asker.ways == ("json_schema", "function_calling", "prose")


def test_a_call_tells_its_tokens_its_time_and_the_cost_that_the_provider_reports() -> None:
    [call] = asked(says(ANSWER, cost=0.002))[0].calls
    assert (call.purpose, call.model, call.input_tokens, call.output_tokens) == ("extract", "test-model", 11, 7)
    assert call.cost == 0.002
    assert call.seconds > 0
    assert call.raw == json.dumps(ANSWER)
    assert asked(says(ANSWER))[0].calls[0].cost is None


@pytest.mark.parametrize(
    ("broken", "failure"),
    [
        (says("I could not think of anything."), "invalid_json"),
        (says('{"facts": [{"content": }'), "invalid_json"),
        (says({"memories": "none"}), "schema_violation"),
        (says({"facts": [1, 2, 3]}), "schema_violation"),
        (says(""), "empty"),
    ],
)
def test_an_unreadable_answer_is_repaired_once(broken: Reply, failure: str) -> None:
    answer, requests = asked(broken, says(ANSWER))
    assert answer.items == (ITEM,)
    assert [call.failure for call in answer.calls] == [failure, None]
    assert "could not be read" in requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("broken", "failure"),
    [(says("Nothing."), "invalid_json"), (says({"facts": 7}), "schema_violation"), (says(""), "empty")],
)
def test_an_answer_that_is_unreadable_twice_is_a_named_failure_with_the_raw_output(broken: Reply, failure: str) -> None:
    error, count = refused(broken, broken)
    assert (error.failure, count) == (failure, CALLS_A_QUESTION)
    assert error.raw == error.calls[-1].raw
    assert failure == "empty" or error.raw


def test_an_answer_without_the_tool_call_is_asked_for_in_prose() -> None:
    answer, requests = asked(says("Ana lives in Lisbon."), says(ANSWER), **BY_CALL)
    assert [call.failure for call in answer.calls] == ["no_tool_call", None]
    assert "tools" not in requests[1]


def test_a_missing_tool_call_is_no_failure_where_the_text_holds_the_json() -> None:
    answer, requests = asked(says(ANSWER), **BY_CALL)
    assert (answer.items, len(requests)) == ((ITEM,), 1)


def test_no_tool_call_twice_is_named() -> None:
    error, count = refused(says("Hello."), says("Hello again."), **BY_CALL)
    assert (error.failure, error.raw, count) == ("invalid_json", "Hello again.", 2)
    assert [call.failure for call in error.calls] == ["no_tool_call", "invalid_json"]


def test_the_facts_of_several_tool_calls_are_taken_together() -> None:
    both = [{"name": "Items", "args": {"facts": [each]}, "id": str(at)} for at, each in enumerate((ITEM, OTHER))]
    answer = run(Asker(ToolFake(responses=[AIMessage("", tool_calls=both)]), FORM, "extract").ask("", ""))
    assert answer.items == (ITEM, OTHER)


@pytest.mark.parametrize(
    "cut", [says('{"facts": [{"content": "Ana lives in Lisbon."}, {"content": "An', finish="length")]
)
@pytest.mark.parametrize("options", [{}, IN_PROSE])
def test_what_was_complete_before_an_answer_was_cut_off_is_kept(cut: Reply, options: dict[str, Any]) -> None:
    answer, requests = asked(cut, **options)
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM,), True, 1)
    assert answer.calls[0].failure == "truncated"


def test_tool_arguments_that_are_cut_off_are_kept_as_far_as_they_go() -> None:
    cut = calls('{"facts": [{"content": "Ana lives in Lisbon."}, {"cont', finish="length")
    assert asked(cut, **BY_CALL)[0].items == (ITEM,)


def test_an_answer_cut_off_before_the_first_fact_is_truncated() -> None:
    error, count = refused(says('{"facts": [{"cont', finish="length"))
    assert (error.failure, error.raw, count) == ("truncated", '{"facts": [{"cont', 1)
    assert error.calls[0].output_tokens == 7


def test_what_survives_two_damaged_answers_is_kept() -> None:
    damaged = says('{"facts": [{"content": "Ana lives in Lisbon."}, {"content": "Ana" "has"}]}')
    answer, requests = asked(damaged, says("Sorry!"))
    assert (answer.items, answer.is_partial, len(requests)) == ((ITEM,), True, 2)


@pytest.mark.parametrize("refusal", [says("", refusal="I cannot help with that."), says("", finish="content_filter")])
@pytest.mark.parametrize("options", [{}, BY_CALL, IN_PROSE])
def test_a_refusal_is_not_argued_with(refusal: Reply, options: dict[str, Any]) -> None:
    error, count = refused(refusal, **options)
    assert (error.failure, count) == ("refused", 1)


def test_a_provider_that_is_busy_is_named_with_the_time_it_asks_for() -> None:
    error, count = refused(fails(429, "slow down", headers={"retry-after": "7"}))
    assert (error.failure, count) == ("rate_limited", 1)
    assert "wait 7 seconds" in str(error)


def test_a_provider_that_does_not_answer_in_time_is_named() -> None:
    assert refused(hangs, timeout=0.2)[0].failure == "timed_out"


@pytest.mark.parametrize("broken", [fails(500, "boom"), fails(401, "bad key"), fails(403, "not yours"), drops])
def test_a_provider_that_fails_is_asked_once(broken: Reply) -> None:
    error, count = refused(broken)
    assert (error.failure, count) == ("provider_error", 1)
    assert error.__cause__ is not None
    assert error.raw


def test_a_conversation_that_is_too_long_for_the_model_is_not_sent_again() -> None:
    error, count = refused(fails(400, "too long", code="context_length_exceeded"))
    assert (error.failure, count) == ("provider_error", 1)


def test_a_filtered_request_is_a_refusal() -> None:
    assert refused(fails(400, "filtered", code="content_filter"))[0].failure == "refused"


def test_asking_asynchronously_gives_the_same() -> None:
    async def ask() -> Answer:
        with serving(says("?"), says(ANSWER)) as server:
            return await arun(Asker(client(server), FORM, "extract").ask("Find facts.", "…"))

    answer = asyncio.run(ask())
    assert answer.items == (ITEM,)
    assert [call.failure for call in answer.calls] == ["invalid_json", None]


def test_a_cancelled_question_makes_no_further_call() -> None:
    async def cancel() -> int:
        with serving(hangs, says(ANSWER)) as server:
            task = asyncio.create_task(arun(Asker(client(server), FORM, "extract").ask("Find facts.", "…")))
            while not server.requests:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return len(server.requests)

    assert asyncio.run(cancel()) == 1


def test_questions_are_asked_at_the_same_time() -> None:
    async def ask_both() -> list[Answer]:
        with serving(says(ANSWER), says(ANSWER)) as server:
            asker = Asker(client(server), FORM, "extract")
            return list(await asyncio.gather(*(arun(asker.ask("Find facts.", "…")) for _ in range(2))))

    assert [answer.items for answer in asyncio.run(ask_both())] == [(ITEM,), (ITEM,)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("[]", ()),
        ('{"facts": []}', ()),
        ('[{"content": "a"}]', ({"content": "a"},)),
        ('{"content": "a"}', ({"content": "a"},)),
        ('{"facts": {"content": "a"}}', ({"content": "a"},)),
        ('{"facts": "[{\\"content\\": \\"a\\"}]"}', ({"content": "a"},)),
        ('{"memories": [{"content": "a"}], "total": 1}', ({"content": "a"},)),
        ('{"Items": {"facts": [{"content": "a"}]}}', ({"content": "a"},)),
        ('{"facts": [{"content": "a"}, 7]}', ({"content": "a"}, 7)),
        (
            '<think>{"facts": [{"content": "draft"}]} or [none]?</think>{"facts": [{"content": "a"}]}',
            ({"content": "a"},),
        ),
        ('Ids [m1] said: {"facts": [{"content": "a"}]} and nothing else [].', ({"content": "a"},)),
        ('{"facts": [{"content": "two\nlines"}]}', ({"content": "two\nlines"},)),
    ],
)
def test_json_is_found_however_it_is_wrapped(text: str, items: tuple[object, ...]) -> None:
    answer, requests = asked(says(text), **IN_PROSE)
    assert (answer.items, answer.is_partial, len(requests)) == (items, False, 1)


def test_brackets_without_end_are_no_trouble() -> None:
    error, _ = refused(says("[" * 50_000), says("{" * 50_000), **IN_PROSE)
    assert error.failure == "invalid_json"


def test_a_model_is_named_or_given() -> None:
    model = FakeListChatModel(responses=["[]"])
    assert load_model(model) is model
    for wrong in ("no-such-provider:x", 7):
        with pytest.raises(ConfigurationError):
            load_model(wrong)


def test_a_provider_without_its_key_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"'openai:gpt-4' cannot be used: .* Set its API key"):
        load_model("openai:gpt-4")


def test_a_prompt_is_known_by_its_wording() -> None:
    version = prompt_version(prompt_text("extract"))
    assert len(version) == 12
    assert version != prompt_version(prompt_text("extract") + " ")
