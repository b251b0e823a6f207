"""The scope of an agent's memories: from the configuration, encoded, and never shared by accident."""

from __future__ import annotations

import asyncio
import warnings
from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

import pytest
from engine_fixture import contents, engine_over, facts
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from mnemoscope import ConfigurationError, MissingNamespaceError, NamespaceTemplate
from mnemoscope.agents import NamespaceKey, SharedNamespaceWarning
from mnemoscope.agents.scopes import namespace_source
from mnemoscope.core import read_namespace

TEMPLATE = NamespaceTemplate(("memories", "{user_id}"))


def namespace(template: NamespaceTemplate, **configurable: Any) -> tuple[str, ...]:
    return template.namespace({"configurable": configurable})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("memories", "{user_id}"), ("memories", "ana")),
        (["memories", "user-{user_id}"], ("memories", "user-ana")),
        ("memories/{user_id}/facts", ("memories", "ana", "facts")),
        (("memories", "<{user_id}>"), ("memories", "<ana>")),
        (("memories", "{{{user_id}}}"), ("memories", "{ana}")),
    ],
)
def test_names_are_replaced_wherever_they_stand_in_a_label(labels: Any, expected: tuple[str, ...]) -> None:
    assert namespace(NamespaceTemplate(labels), user_id="ana") == expected


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("ana@example.org", "ana@example%2Eorg"),
        ("a/b", "a/b"),
        ("{other}", "{other}"),
        (42, "42"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("アナ", "アナ"),
    ],
)
def test_a_value_stays_within_its_label(value: Any, label: str) -> None:
    assert namespace(TEMPLATE, user_id=value, other="ben") == ("memories", label)


@given(st.lists(st.text(alphabet=".%20E\x005ab/", min_size=1, max_size=8), min_size=2, max_size=2, unique=True))
def test_two_values_never_give_the_same_namespace(values: list[str]) -> None:
    made = [NamespaceTemplate(("m", "u-{user_id}")).namespace({"configurable": {"user_id": each}}) for each in values]
    assert made[0] != made[1]
    assert [read_namespace(each) for each in made] == made


@pytest.mark.parametrize("value", [None, "", "  ", True, 1.5, ["ana"], b"ana", "\ud800"])
def test_a_value_that_cannot_be_used_is_a_configuration_error(value: Any) -> None:
    with pytest.raises(MissingNamespaceError, match="user_id"):
        namespace(TEMPLATE, user_id=value)


def test_a_value_cannot_reach_the_books_of_the_engine() -> None:
    with pytest.raises(MissingNamespaceError, match="reserved"):
        namespace(NamespaceTemplate(("{user_id}", "notes")), user_id="__mnemoscope__")


@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}, {"configurable": {"user": "ana"}}])
def test_a_missing_value_is_a_configuration_error(config: Any) -> None:
    with pytest.raises(MissingNamespaceError, match="missing"):
        TEMPLATE.namespace(config)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ((), "at least one label"),
        (("memories", ""), "not empty"),
        (("memories", 5), "not empty"),
        (("memories", "{user_id"), "no template"),
        (("memories", "{}"), "plain name"),
        (("memories", "{user.password}"), "plain name"),
        (("memories", "{users[0]}"), "plain name"),
        (("memories", "{user!r}"), "plain name"),
        (("memories", "{org}-{user}"), "two users could get the same label"),
        (7, "tuple of labels"),
    ],
)
def test_what_is_no_template_is_refused_at_once(labels: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        NamespaceTemplate(labels)


@pytest.mark.parametrize("labels", [("memories",), ("memories", "user_id"), "memories/$user_id", ("m", "{{user_id}}")])
def test_a_template_that_all_users_would_share_warns(labels: Any) -> None:
    with pytest.warns(SharedNamespaceWarning, match="share"):
        engine_over().tools(namespace=labels)


def test_a_shared_namespace_that_is_meant_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        template = NamespaceTemplate(("company", "facts"), shared=True)
    assert template.namespace(None) == ("company", "facts")


def test_without_a_template_the_namespace_stands_whole_in_the_configuration() -> None:
    assert namespace_source(None, "where") == NamespaceKey("where")
    assert NamespaceKey("where").namespace({"configurable": {"where": "memories/ana"}}) == ("memories", "ana")


class State(TypedDict):
    messages: list[Any]


@dataclass
class User:
    user_id: str


def search_graph(engine: Any, **options: Any) -> Any:
    graph = StateGraph(State, context_schema=User)
    graph.add_node("tools", ToolNode(engine.tools(namespace=("memories", "{user_id}")), **options))
    graph.add_edge(START, "tools")
    return graph.compile()


SEARCH = AIMessage("", tool_calls=[{"name": "search_memory", "args": {"query": "tea"}, "id": "1"}])


def test_names_are_found_in_the_context_of_the_run_too() -> None:
    engine = engine_over()
    engine.remember_facts(facts("likes tea"), ("memories", "ana"))
    graph = search_graph(engine)
    result = graph.invoke({"messages": [SEARCH]}, context=User("ana"))
    assert "likes tea" in result["messages"][-1].text
    later = asyncio.run(graph.ainvoke({"messages": [SEARCH]}, context=User("ben")))
    assert later["messages"][-1].text == "No relevant memories."
    assert contents(engine) == ["likes tea"]


@pytest.mark.parametrize("options", [{}, {"handle_tool_errors": True}, {"handle_tool_errors": "try again"}])
def test_no_error_handling_hands_a_missing_name_to_the_model(options: Any) -> None:
    graph = search_graph(engine_over(), **options)
    with pytest.raises(MissingNamespaceError, match="user_id"):
        graph.invoke({"messages": [SEARCH]})
    with pytest.raises(MissingNamespaceError, match="user_id"):
        asyncio.run(graph.ainvoke({"messages": [SEARCH]}))
