"""What the agent would be given for this ranking, to the letter, and the same query as Python."""

from __future__ import annotations

from dataclasses import fields

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.rendering import node_text, tool_text

from app.display import counted, safe
from app.recall_query import RecallQuery
from app.recall_settings import RankingSettings

__all__ = ["draw", "in_python"]

_CHARACTERS_A_TOKEN = 4
_NODE, _TOOL, _PYTHON = "Recall node", "Tool search_memory", "Python"


def draw(result: RecallResult, asked: RecallQuery, chosen: RankingSettings) -> None:
    """Draw the texts, to be copied."""
    st.subheader("What the agent gets", anchor=False)
    node, tool, python = st.tabs([_NODE, _TOOL, _PYTHON])
    for tab, text in ((node, node_text(result)), (tool, tool_text(result))):
        with tab:
            if text:
                st.code(safe(text), language=None, wrap_lines=True)
            tokens = -(-len(text) // _CHARACTERS_A_TOKEN)
            st.caption(f"{counted(len(text), 'character')}, about {counted(tokens, 'token')}, with the settings here.")
    with python:
        st.code(in_python(asked, chosen), language="python", wrap_lines=True)


def in_python(asked: RecallQuery, chosen: RankingSettings) -> str:
    """The Python lines that make the same configuration and the same recall."""
    arguments = [repr(asked.text), repr(asked.namespace), f"limit={chosen.limit}"]
    given = {
        "subtree": asked.subtree or None,
        "categories": list(asked.categories) or None,
        "include_private": asked.include_private or None,
        "min_score": chosen.min_score or None,
        "min_similarity": chosen.min_similarity,
    }
    arguments += [f"{name}={value!r}" for name, value in given.items() if value is not None]
    arguments += ["config=config"]
    return f"config = {_config(chosen.config)}\nresult = engine.recall(\n    " + ",\n    ".join(arguments) + ",\n)"


def _config(config: MemoryConfig) -> str:
    changed = [
        f"{each.name}={getattr(config, each.name)!r}"
        for each in fields(config)
        if getattr(config, each.name) != each.default
    ]
    return f"MemoryConfig({', '.join(changed)})"
