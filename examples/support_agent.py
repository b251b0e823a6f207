"""A support agent that remembers what its users say, whatever store it stands on."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore
from mnemoscope import PRESETS, MemoryEngine, RuleConsolidator, RuleExtractor
from scripted_model import ScriptedModel, calls

NAMESPACE = ("support", "{user_id}")


def ask(agent: Any, text: str, *, user: str, thread: str) -> str:
    """The agent's answer to one message of a user."""
    config = {"configurable": {"user_id": user, "thread_id": thread}}
    answer: str = agent.invoke({"messages": [HumanMessage(text)]}, config)["messages"][-1].text
    return answer


def serve(store: BaseStore, saver: BaseCheckpointSaver[Any]) -> None:
    """Two conversations of one user and one of another; with a real model, name it in the place of the scripted one."""
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), config=PRESETS["rules"])
    model = ScriptedModel(
        responses=[
            AIMessage("Noted. The new router is on its way."),
            calls("search_memory", query="router"),
            AIMessage("You have an Acme 5 router. Hold its button for ten seconds."),
            AIMessage("Which router do you have?"),
        ]
    )
    memory = engine.agents.middleware(namespace=NAMESPACE, tools={"actions_permitted": ("create", "update")})
    agent = create_agent(model, middleware=[memory], system_prompt="You help with routers.", checkpointer=saver)
    print(ask(agent, "I live in Hanoi. My router is an Acme 5.", user="ana@example.org", thread="monday"))
    print(ask(agent, "How do I restart it?", user="ana@example.org", thread="friday"))
    print(ask(agent, "How do I restart it?", user="ben@example.org", thread="ben"))
    print(f"\nWhat the model was given on Friday:\n{model.prompts[1][0].text}")
    for change in engine.history(("support", "ana@example.org")):
        print(f"{change.at:%H:%M} {change.actor} {change.action}: {change.text_after} ({change.reason})")
    engine.close()
