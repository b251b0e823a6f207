"""Connect: which connection to try, its steps as they are done, and the table to keep it by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import streamlit as st
from mnemoscope import PRESETS, MnemoscopeError
from mnemoscope.connections import CONFIG_FILE, Connection, config_folder, connection_to
from mnemoscope.core import has_literal_secret, read_prefix
from mnemoscope.health import Check

from app.components import states
from app.components.checks import draw_check
from app.session.connections import Catalogue
from app.text.display import counted
from app.text.toml import write_connection

KIND_KEY, NAME_KEY, URL_KEY = "connect.kind", "connect.name", "connect.url"

EMBEDDER_KEY, SPACES_KEY, READ_ONLY_KEY = "connect.embedder", "connect.namespaces", "connect.read_only"

NEXT_KEY = "connect.next_embedder"

MODEL_KEY, PROFILE_KEY, TRY_KEY = "connect.model", "connect.profile", "connect.try"

KINDS: dict[str, tuple[str, str]] = {
    "sqlite": ("SQLite file", "sqlite:////path/to/memories.sqlite"),
    "postgresql": ("PostgreSQL", "postgresql://user:${PGPASSWORD}@host:5432/database"),
    "langgraph": ("LangGraph server", "langgraph://127.0.0.1:2024"),
    "python": ("Own BaseStore", "python:package.module:factory"),
    "memory": ("In memory", "memory:"),
}
"""The kinds of store by scheme: what they are called, and the form of their address."""

_CONFIGURED = "Configured"

_EMBEDDERS = ("bundled", "hashing")


def draw_form(offered: Catalogue, current: str) -> Connection | None:
    """Draw the choices; the connection that they make, or None while they make none."""
    kind = st.segmented_control(
        "Which store?",
        [_CONFIGURED, *KINDS],
        format_func=lambda scheme: KINDS[scheme][0] if scheme in KINDS else scheme,
        default=_CONFIGURED,
        required=True,
        key=KIND_KEY,
    )
    if kind == _CONFIGURED:
        names = list(offered.connections)
        name = st.selectbox("Connection", names, index=names.index(current), key="connect.configured", width=320)
        return offered.connections[name]
    return _read_form(kind)


def find_obstacle(connection: Connection, offered: Catalogue) -> str:
    """Why a connection that was typed in is not tried from here; empty where it can be.

    Who may use the dashboard must not thereby run code on this machine, or have its environment sent elsewhere.
    """
    if connection in offered.connections.values():
        return ""
    named = (connection.url, connection.embedder or "", connection.next_embedder or "")
    if any(each.startswith("python:") for each in named):
        return "Code is run only where the configuration names it: copy the table below, then try it from there."
    in_password = re.sub(r"(?<=://)[^@/]*@", "", connection.url)
    if "${" in in_password:
        return "A variable is filled in for a password alone; for more, copy the table below, then try it from there."
    return ""


def _read_form(kind: str) -> Connection | None:
    left, right = st.columns(2)
    with left:
        name = st.text_input("Name", "production", key=NAME_KEY, max_chars=60)
        url = _read_address(kind)
    with right:
        embedder = _choose_embedder() if kind not in ("python", "langgraph") else None
        model = st.text_input("Chat model", key=MODEL_KEY, placeholder="none: rules extract facts")
    with st.expander("More: next embedder, namespaces, profile, read-only"):
        after = _choose_next_embedder() if embedder is not None else None
        spaces = st.text_area("Namespaces shown, one a line", key=SPACES_KEY, placeholder="all of them", height=80)
        profile = st.selectbox("Profile", list(PRESETS), index=None, key=PROFILE_KEY, placeholder="as the model needs")
        is_read_only = st.toggle("Read-only: refuse every change", key=READ_ONLY_KEY)
    if not url.strip():
        return None
    try:
        named = name.strip() or "production"
        connection = connection_to(url.strip(), name=named, embedder=embedder, next_embedder=after, profile=profile)
        shown = tuple(read_prefix(line.strip()) for line in spaces.splitlines() if line.strip())
    except MnemoscopeError as error:
        states.draw_failed(error)
        return None
    return replace(connection, namespaces=shown, read_only=is_read_only, model=model.strip() or None)


def _read_address(kind: str) -> str:
    if kind == "memory":
        return "memory:"
    form = KINDS[kind][1]
    url = st.text_input(
        "Address", key=URL_KEY, placeholder=form, help=f"Of the form {form.replace('$', chr(92) + '$')}"
    )
    if has_literal_secret(url):
        st.warning("Put the password in an environment variable, and write ${NAME} in its place.".replace("$", "\\$"))
        return ""
    return url


def _choose_embedder() -> str:
    chosen = st.selectbox(
        "Embedder", _EMBEDDERS, key=EMBEDDER_KEY, accept_new_options=True, help="One of these, or provider:model."
    )
    return chosen or "bundled"


def _choose_next_embedder() -> str | None:
    return st.selectbox(
        "Next embedder",
        _EMBEDDERS,
        index=None,
        key=NEXT_KEY,
        accept_new_options=True,
        placeholder="none",
        help="The one to go over to: Health makes every vector anew with it, and recall goes on meanwhile.",
    )


def draw_steps(steps: Iterable[Check]) -> list[Check]:
    """Draw each step when it is done, then what they come to; the steps."""
    done: list[Check] = []
    with st.container(border=True, gap="small", key="connect-steps"):
        for check in steps:
            done.append(check)
            draw_check(check)
    failed = [check for check in done if check.state == "bad"]
    warned = [check for check in done if check.state == "warning"]
    if failed:
        st.error(f"**{failed[0].name} failed.** The other connections are not affected.", icon=":material/error:")
    elif warned:
        st.warning(f"It works, with {counted(len(warned), 'thing')} to look at.", icon=":material/warning:")
    else:
        st.success("It works. Nothing was written.", icon=":material/check_circle:")
    return done


def draw_table(connection: Connection, file: Path | None) -> None:
    """Draw the table to copy, and say where it goes."""
    st.subheader("To keep it", anchor=False)
    st.caption("Copy this into the file below; it holds no secret. Nothing is written for you.")
    st.text(str(file or config_folder() / CONFIG_FILE))
    st.code(write_connection(connection), language="toml", wrap_lines=True)
    st.caption("Then start the dashboard with it, or check it again in a terminal:")
    st.code(f"mnemoscope doctor --connection {json.dumps(connection.name)}", language="sh")
