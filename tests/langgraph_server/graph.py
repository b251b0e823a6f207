"""A graph that does nothing: a server has none without one."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    """Nothing of interest."""

    nothing: str


_builder = StateGraph(State)
_builder.add_node("nothing", lambda state: state)
_builder.add_edge(START, "nothing")
_builder.add_edge("nothing", END)
graph = _builder.compile()
