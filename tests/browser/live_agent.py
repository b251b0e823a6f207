"""An agent in a process of its own: a compiled graph that recalls, answers, and remembers in the background.

Run as `python live_agent.py STORE QUEUE`. Each line it reads is one command, and it prints a line once that is done:
`say TEXT` runs the graph, `work` does what waits in the queue.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engine"))

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from mnemoscope import Background, MemoryEngine, Message, ModelError, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.extraction import Extraction
from mnemoscope.stores.sqlite import open_sqlite

CONFIG: Any = {"configurable": {"user_id": "ana", "thread_id": "evening"}}
TEMPLATE = ("memories", "{user_id}")


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    memory: str


class Extractor(RuleExtractor):
    """The rules, which fail where the text says so."""

    def extract(self, messages: Sequence[Message]) -> Extraction:
        if any("broken" in message.text for message in messages):
            raise ModelError("the model is down", failure="provider_error")
        return super().extract(messages)


def agent(engine: MemoryEngine, background: Background) -> Any:
    graph = StateGraph(State)
    graph.add_node("recall", engine.recall_node(into="memory", limit=1, namespace=TEMPLATE))
    graph.add_node("answer", lambda _state: {"messages": [AIMessage("Noted.")]})
    graph.add_node("remember", engine.agents.remember_node(namespace=TEMPLATE, submit=background.submit))
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", "remember")
    return graph.compile(checkpointer=InMemorySaver())


def main(store: str, queue: str) -> None:
    engine = MemoryEngine(
        open_sqlite(store, embeddings=BundledEmbeddings()), extractor=Extractor(), consolidator=RuleConsolidator()
    )
    with engine.background(queue, workers=0, debounce=0, attempts=1) as background:
        graph = agent(engine, background)
        for line in sys.stdin:
            command, _, text = line.strip().partition(" ")
            if command == "say":
                graph.invoke({"messages": [HumanMessage(text)]}, CONFIG)
                engine.flush()
            else:
                background.drain(30)
            print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
