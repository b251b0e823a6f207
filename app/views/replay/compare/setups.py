"""How one column reads and decides: the connection's own way, rules, or a model with a prompt of one's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from mnemoscope import PRESETS, MemoryConfig
from mnemoscope.config import KNOBS
from mnemoscope.models import prompt_text, prompt_version
from mnemoscope.replay import ReplaySetup

from app.session.session import Session

READERS = {"own": "As this connection is set up", "rules": "Rules", "model": "A model"}


_PROMPT_HEIGHT = 260


def choose_setup(working: Session, side: str, default: str) -> ReplaySetup | None:
    """Draw the choice for the column of this side; None while no model is named."""
    reader = st.selectbox(
        "Read by",
        list(READERS),
        format_func=lambda name: READERS[name],
        index=list(READERS).index(default),
        key=setup_key(side, "reader"),
    )
    config = _config(working, side, reader)
    if reader == "own":
        engine = working.engine
        return ReplaySetup(READERS[reader], config=config, extractor=engine.extractor, consolidator=engine.consolidator)
    return ReplaySetup(READERS[reader], config=config) if reader == "rules" else _model(working, side, config)


def setup_key(side: str, part: str) -> str:
    """The key of one widget of a side."""
    return f"replay.{side}_{part}"


def _config(working: Session, side: str, reader: str) -> MemoryConfig:
    base = working.engine.config if reader == "own" else PRESETS["rules" if reader == "rules" else "classic"]
    left, right = st.columns([3, 2])
    # The keys hold the reader, so that each begins with its own defaults.
    threshold = left.slider(
        "Judge from a similarity of",
        0.0,
        1.0,
        base.consolidation_threshold,
        0.01,
        key=setup_key(side, f"threshold_{reader}"),
        help=KNOBS["consolidation_threshold"].help,
    )
    limit = right.number_input(
        "Against at most",
        1,
        100,
        base.consolidation_limit,
        key=setup_key(side, f"limit_{reader}"),
        help=KNOBS["consolidation_limit"].help,
    )
    return replace(base, consolidation_threshold=threshold, consolidation_limit=int(limit))


def _model(working: Session, side: str, config: MemoryConfig) -> ReplaySetup | None:
    model = st.text_input(
        "Model",
        working.model or "",
        key=setup_key(side, "model"),
        placeholder="anthropic:claude-sonnet-4-5",
        help="The conversation is sent to this model when you compare.",
    ).strip()
    with st.expander("The prompt", icon=":material/edit_note:"):
        own = prompt_text("extract")
        prompt = st.text_area("What it is told to extract", own, height=_PROMPT_HEIGHT, key=setup_key(side, "prompt"))
        st.caption("As it ships." if prompt == own else f"Changed; its version is {prompt_version(prompt)}.")
    return ReplaySetup(READERS["model"], model, config, extract_prompt=prompt) if model else None
