"""How one column reads and decides: the connection's own way, rules, or a model with a prompt of one's own."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import streamlit as st
from mnemoscope import PRESETS, MemoryConfig
from mnemoscope.config import KNOBS
from mnemoscope.models import prompt_text, prompt_version
from mnemoscope.replay import ReplaySetup

from app.session.session import Session

__all__ = ["READERS", "choose", "key_of", "python_of"]

READERS = {"own": "As this connection is set up", "rules": "Rules", "model": "A model"}
_PROMPT_HEIGHT = 260


def choose(working: Session, side: str, default: str) -> ReplaySetup | None:
    """Draw the choice for the column of this side; None while no model is named."""
    reader = st.selectbox(
        "Read by",
        list(READERS),
        format_func=lambda name: READERS[name],
        index=list(READERS).index(default),
        key=key_of(side, "reader"),
    )
    config = _config(working, side, reader)
    if reader == "own":
        engine = working.engine
        return ReplaySetup(READERS[reader], config=config, extractor=engine.extractor, consolidator=engine.consolidator)
    return ReplaySetup(READERS[reader], config=config) if reader == "rules" else _model(working, side, config)


def python_of(setup: ReplaySetup) -> str:
    """The Python expression of an engine over the same store that reads as this setup says."""
    config = f"config=MemoryConfig(**{_changed(setup.config)!r})"
    if setup.model is not None:
        # In full, since the wording need not be kept anywhere.
        prompt = f", prompt={setup.extract_prompt!r}"
        is_shipped = setup.extract_prompt in (None, prompt_text("extract"))
        extractor = f"LLMExtractor({setup.model!r}{'' if is_shipped else prompt})"
        return f"MemoryEngine(engine.adapter, {setup.model!r}, extractor={extractor}, {config})"
    if setup.extractor is not None:
        return f"MemoryEngine(engine.adapter, extractor=engine.extractor, consolidator=engine.consolidator, {config})"
    return f"MemoryEngine(engine.adapter, extractor=RuleExtractor(), consolidator=RuleConsolidator(), {config})"


def _changed(config: MemoryConfig) -> dict[str, Any]:
    return {
        spec.name: getattr(config, spec.name) for spec in fields(config) if getattr(config, spec.name) != spec.default
    }


def key_of(side: str, part: str) -> str:
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
        key=key_of(side, f"threshold_{reader}"),
        help=KNOBS["consolidation_threshold"].help,
    )
    limit = right.number_input(
        "Against at most",
        1,
        100,
        base.consolidation_limit,
        key=key_of(side, f"limit_{reader}"),
        help=KNOBS["consolidation_limit"].help,
    )
    return replace(base, consolidation_threshold=threshold, consolidation_limit=int(limit))


def _model(working: Session, side: str, config: MemoryConfig) -> ReplaySetup | None:
    model = st.text_input(
        "Model",
        working.model or "",
        key=key_of(side, "model"),
        placeholder="anthropic:claude-sonnet-4-5",
        help="The conversation is sent to this model when you compare.",
    ).strip()
    with st.expander("The prompt", icon=":material/edit_note:"):
        own = prompt_text("extract")
        prompt = st.text_area("What it is told to extract", own, height=_PROMPT_HEIGHT, key=key_of(side, "prompt"))
        st.caption("As it ships." if prompt == own else f"Changed; its version is {prompt_version(prompt)}.")
    return ReplaySetup(READERS["model"], model, config, extract_prompt=prompt) if model else None
