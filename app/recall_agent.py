"""What the agent would be given for this ranking, to the letter, and the same query as Python."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.rendering import node_text, tokens_of, tool_text

from app.display import counted, safe
from app.recall_query import RecallQuery
from app.recall_settings import RankingSettings

__all__ = ["draw", "in_python"]

_NODE, _TOOL, _PYTHON = "Recall node", "Tool search_memory", "Python"


def draw(result: RecallResult, asked: RecallQuery, chosen: RankingSettings) -> None:
    """Draw the texts, to be copied."""
    st.subheader("What the agent gets", anchor=False)
    node, tool, python = st.tabs([_NODE, _TOOL, _PYTHON])
    for tab, text in ((node, node_text(result)), (tool, tool_text(result))):
        with tab:
            if text:
                st.code(safe(text), language=None, wrap_lines=True)
            tokens = tokens_of(text)
            st.caption(f"{counted(len(text), 'character')}, about {counted(tokens, 'token')}, with the settings here.")
    with python:
        st.code(in_python(asked, chosen), language="python", wrap_lines=True)


def in_python(asked: RecallQuery, chosen: RankingSettings) -> str:
    """The Python lines that make the same configuration and the same recall."""
    arguments = [repr(asked.text), repr(asked.namespace), f"limit={chosen.limit}"]
    given = asked.options | ({} if chosen.max_tokens is None else {"max_tokens": chosen.max_tokens})
    arguments += [f"{name}={_literal(value)}" for name, value in given.items()]
    arguments += ["config=config"]
    return f"config = {_config(chosen.config)}\nresult = engine.recall(\n    " + ",\n    ".join(arguments) + ",\n)"


def _literal(value: object) -> str:
    return f"datetime.fromisoformat({value.isoformat()!r})" if isinstance(value, datetime) else repr(value)


def _config(config: MemoryConfig) -> str:
    changed = [
        f"{each.name}={getattr(config, each.name)!r}"
        for each in fields(config)
        if getattr(config, each.name) != each.default
    ]
    return f"MemoryConfig({', '.join(changed)})"
