"""Graphs with a remember node over the server's own store, by where the namespace comes from."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor


def remembering(**scope: Any) -> Any:
    """A graph that remembers; `scope` is that of the remember node."""

    async def remember(state: MessagesState, config: RunnableConfig, *, store: BaseStore) -> dict[str, str]:
        engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        return await engine.agents.remember_node(**scope).ainvoke(state, config)

    builder = StateGraph(MessagesState)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    return builder.compile()


remember = remembering()
remember_user = remembering(namespace=("memories", "{user_id}"))
remember_caller = remembering(namespace=("memories", "{langgraph_auth_user_id}"))
