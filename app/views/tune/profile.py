"""A configuration kept as a profile by name, and written out as TOML and Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from mnemoscope import MemoryConfig, MnemoscopeError
from mnemoscope.recall import Profile, profile_to_python, profile_to_toml

from app.components import feedback
from app.session import session
from app.session.session import Session
from app.text.display import safe

__all__ = ["NAME_KEY", "SAVE_KEY", "draw", "save"]

NAME_KEY, SAVE_KEY = "tune.profile.name", "tune.profile.save"

_FALLBACK = "tuned"


def draw(
    working: Session,
    config: MemoryConfig,
    *,
    prefix: str = "",
    on_saved: Callable[[], None] | None = None,
) -> None:
    """Draw the name, the button and the two texts. `prefix` tells the widgets of one page from another's."""
    name_key, save_key = f"{prefix}{NAME_KEY}", f"{prefix}{SAVE_KEY}"
    st.subheader("Keep it", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Name of the profile", key=name_key, max_chars=60, placeholder=_FALLBACK)
        st.button(
            "Save profile",
            key=save_key,
            type="primary",
            disabled=not working.is_writing,
            help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
            on_click=_save,
            args=(name_key, config, on_saved),
        )
    st.caption("Saved profiles can be chosen on Recall and Tune. The agent takes one by its configuration, like this:")
    try:
        profile = Profile(st.session_state.get(name_key) or _FALLBACK, _for_agents(config))
    except MnemoscopeError as error:
        st.caption(safe(str(error)))
        return
    toml, python = st.tabs(["TOML", "Python"])
    with toml:
        st.code(profile_to_toml(profile), language="toml")
    with python:
        st.code(profile_to_python(profile), language="python", wrap_lines=True)


def save(name: str, config: MemoryConfig) -> None:
    """Keep a profile, from a callback."""
    try:
        working = session.require_writing()
        changes = working.engine.tuning.save_profile(Profile(name, _for_agents(config)), actor=working.operator)
    except MnemoscopeError as error:
        feedback.refused(error)
        return
    feedback.done("Saved the profile.", undo=changes[0].group if changes else None)


def _for_agents(config: MemoryConfig) -> MemoryConfig:
    # The dashboard's own recalls are not noted; those of an agent that takes the profile are.
    own = session.choice().connection.config or MemoryConfig()
    return replace(config, touch_on_recall=own.touch_on_recall)


def _save(name_key: str, config: MemoryConfig, on_saved: Callable[[], None] | None) -> None:
    save(st.session_state.get(name_key, "").strip() or _FALLBACK, config)
    if on_saved is not None:
        on_saved()
