"""What Recall and Tune keep alike: a query as a case, and settings as a profile; and what agents asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import streamlit as st
from mnemoscope import MemoryConfig, MnemoscopeError
from mnemoscope.core import Namespace
from mnemoscope.journal import AskedQuery, book
from mnemoscope.recall import Profile, case, profile_to_python, profile_to_toml

from app.components import actions
from app.session import cache, session
from app.session.cache import kept, stamp
from app.session.profile_names import PRESENT, list_profiles
from app.session.scope import Scope
from app.session.session import Session
from app.session.settings import Settings
from app.text.display import age, counted, one_line, safe

PROFILE_NAME_KEY, PROFILE_SAVE_KEY = "tune.profile.name", "tune.profile.save"

_FALLBACK_NAME = "tuned"

_MOST_QUERIES = 200

QUERY_LIMIT = 120


def draw_profile(
    working: Session,
    config: MemoryConfig,
    *,
    prefix: str = "",
    on_saved: Callable[[], None] | None = None,
) -> None:
    """Draw the name, the button and the two texts. `prefix` tells the widgets of one page from another's."""
    name_key, save_key = f"{prefix}{PROFILE_NAME_KEY}", f"{prefix}{PROFILE_SAVE_KEY}"
    st.subheader("Keep it", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Name of the profile", key=name_key, max_chars=60, placeholder=_FALLBACK_NAME)
        st.button(
            "Save profile",
            key=save_key,
            type="primary",
            disabled=not working.is_writing,
            help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
            on_click=_save_named,
            args=(name_key, config, on_saved),
        )
    st.caption("Saved profiles can be chosen on Recall and Tune. The agent takes one by its configuration, like this:")
    try:
        profile = Profile(st.session_state.get(name_key) or _FALLBACK_NAME, _for_agents(config))
    except MnemoscopeError as error:
        st.caption(safe(str(error)))
        return
    toml, python = st.tabs(["TOML", "Python"])
    with toml:
        st.code(profile_to_toml(profile), language="toml")
    with python:
        st.code(profile_to_python(profile), language="python", wrap_lines=True)


def save_profile(name: str, config: MemoryConfig) -> None:
    """Keep a profile, from a callback."""
    try:
        working = session.require_writing()
        changes = working.engine.tuning.save_profile(Profile(name, _for_agents(config)), actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    actions.report("Saved the profile.", undo=changes[0].group if changes else None)


def _for_agents(config: MemoryConfig) -> MemoryConfig:
    # The dashboard's own recalls are not noted; those of an agent that takes the profile are.
    own = session.choice().connection.config or MemoryConfig()
    return replace(config, touch_on_recall=own.touch_on_recall)


def _save_named(name_key: str, config: MemoryConfig, on_saved: Callable[[], None] | None) -> None:
    save_profile(st.session_state.get(name_key, "").strip() or _FALLBACK_NAME, config)
    if on_saved is not None:
        on_saved()


def save_case(query: str, namespace: Namespace, expected: Sequence[str], unwanted: Sequence[str]) -> bool:
    """Keep a case, from a callback; whether it was."""
    try:
        working = session.require_writing()
        made = case(query, namespace, expected=expected, unwanted=unwanted)
        changes = working.engine.tuning.save_cases([made], actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return False
    actions.report("Saved the case. Tune measures profiles on it.", undo=changes[0].group if changes else None)
    return True


def read_agents_queries(working: Session, here: Scope) -> list[AskedQuery]:
    """What the memories of the scope were recalled for, the latest first."""
    return kept(
        "recall.queries",
        stamp(working, here, "access"),
        lambda: working.engine.usage.queries(here.namespace, subtree=here.subtree, limit=_MOST_QUERIES),
    )


def label_query(each: AskedQuery, now: datetime) -> str:
    """A query in a list: its text, how often it was asked, and how long ago."""
    return f"{one_line(each.query, QUERY_LIMIT)}  ·  {counted(each.count, 'time')}, {age(each.last, now)}"


def read_profiles(working: Session, *, with_present: bool = True) -> dict[str, Profile]:
    """Every profile by its name; first the one in use, if that is wanted.

    Raises:
        ConfigurationError: the configuration file cannot be used.
    """
    file = Settings.from_environment().config
    token = working.adapter.token(book("profiles"))
    stamp = None if token is None else (working.connection, id(working.adapter), token, file, working.engine.config)
    known = cache.kept("tune.profiles", stamp, lambda: list_profiles(working.engine, file))
    return {name: profile for name, profile in known.items() if with_present or name != PRESENT}
