"""What the agent would be given for this ranking, to the letter, and the same query as Python and as a command."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime

import streamlit as st
from mnemoscope import MemoryConfig, RecallResult
from mnemoscope.recall import node_text, tokens_of, tool_text

from app.components import code
from app.text.display import counted, safe
from app.views.recall.query import RecallQuery
from app.views.recall.sliders import RankingSettings

_NODE, _TOOL, _PYTHON, _COMMAND = "Recall node", "Tool search_memory", "Python", "Command"


def draw_agent_view(result: RecallResult, asked: RecallQuery, chosen: RankingSettings) -> None:
    """Draw the texts, to be copied."""
    st.subheader("What the agent gets", anchor=False)
    node, tool, python, command = st.tabs([_NODE, _TOOL, _PYTHON, _COMMAND])
    for tab, text in ((node, node_text(result)), (tool, tool_text(result))):
        with tab:
            if text:
                st.code(safe(text), language=None, wrap_lines=True)
            tokens = tokens_of(text)
            st.caption(f"{counted(len(text), 'character')}, about {counted(tokens, 'token')}, with the settings here.")
    with python:
        st.code(write_recall(asked, chosen), language="python", wrap_lines=True)
        st.caption(code.ENGINE)
    with command:
        st.code(safe(write_recall_command(asked, chosen)), language="bash", wrap_lines=True)
        st.caption("It ranks with the profile of the connection. To use the weights above, save them as a profile.")


def write_recall(asked: RecallQuery, chosen: RankingSettings) -> str:
    """The Python lines that make the same configuration and the same recall."""
    arguments = [repr(asked.text), repr(asked.namespace), f"limit={chosen.limit}"]
    given = asked.options | ({} if chosen.max_tokens is None else {"max_tokens": chosen.max_tokens})
    arguments += [f"{name}={_literal(value)}" for name, value in given.items()]
    arguments += ["config=config"]
    recall = "result = engine.recall(\n    " + ",\n    ".join(arguments) + ",\n)"
    dates = "from datetime import datetime\n\n" if any(isinstance(each, datetime) for each in given.values()) else ""
    return f"{dates}from mnemoscope import MemoryConfig\n\nconfig = {_config(chosen.config)}\n{recall}"


def write_recall_command(asked: RecallQuery, chosen: RankingSettings) -> str:
    """The command that makes the same recall, but for the weights."""
    options = dict(asked.options)
    if "filter" in options:
        options["filter"] = json.dumps(options["filter"], ensure_ascii=False)
    return code.write_command(
        "recall",
        asked.text,
        namespace=asked.namespace,
        category=list(options.pop("categories", ()) or ()),
        limit=chosen.limit,
        min_score=chosen.config.min_score or None,
        max_tokens=chosen.max_tokens,
        **{"min_similarity": chosen.config.min_similarity or None, **options},
    )


def _literal(value: object) -> str:
    return f"datetime.fromisoformat({value.isoformat()!r})" if isinstance(value, datetime) else repr(value)


def _config(config: MemoryConfig) -> str:
    changed = [
        f"{each.name}={getattr(config, each.name)!r}"
        for each in fields(config)
        if getattr(config, each.name) != each.default
    ]
    return f"MemoryConfig({', '.join(changed)})"
