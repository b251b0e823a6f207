"""The row above every page: scope, connection, who extracts, reading or writing, and for whom."""

from __future__ import annotations

import streamlit as st
from mnemoscope import MnemoscopeError
from mnemoscope.connections import Role, may
from streamlit.runtime.scriptrunner import RerunException, StopException

from app.components import actions
from app.session import connections, index_memory, scope, session, sign_in
from app.session.links import link_to
from app.session.scope import read_tree
from app.session.session import CONNECTION_KEY, OPERATOR_KEY, Choice, Session
from app.session.settings import Settings
from app.shell import failures
from app.text.display import one_line

MAKE_KEY = "header.make_store"
SWITCH_KEY = "header.switch_writing"


_ROLES: dict[Role, str] = {
    "viewer": "Viewers change nothing.",
    "editor": "Editors change memories; to erase, clear or import takes an admin.",
    "admin": "Admins may also erase, clear and import.",
}


def draw_header() -> bool:
    """Draw the header; whether the store answers.

    Where it does not, that is said here, and another connection can still be chosen.
    """
    try:
        chosen = session.choice()
    except MnemoscopeError as error:
        return not failures.report(error)
    failure: Exception | None = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="header"):
        try:
            working: Session | None = _draw_scope()
        except (RerunException, StopException):
            raise
        # Whatever a store or the user's own factory raises, the way to another connection stays.
        except Exception as error:  # noqa: BLE001 - shown below by `failures.report`, or logged
            working, failure = None, error
        st.space("stretch")
        _draw_connection(chosen)
        _draw_extractor(chosen)
        _draw_mode(chosen, working)
    _draw_notices(chosen, working)
    if failure is None:
        return True
    failures.report(failure)
    _offer_making(chosen)
    return False


def _offer_making(chosen: Choice) -> None:
    if session.is_missing(chosen) and not chosen.connection.read_only and may(session.role(chosen), "editor"):
        st.button("Make a new store at this path", key=MAKE_KEY, icon=":material/add:", on_click=_make_store)


def _make_store() -> None:
    try:
        session.make_store()
    except MnemoscopeError as error:
        actions.refuse(error)


def _draw_scope() -> Session:
    working = session.current()
    scope.draw_picker(read_tree(working))
    return working


def _draw_connection(chosen: Choice) -> None:
    names = list(chosen.offered.connections)
    if len(names) == 1:
        _draw_named(":material/database:", one_line(names[0], 40), key="header-store")
        return
    if st.query_params.get("c") != chosen.connection.name:
        st.query_params["c"] = chosen.connection.name
    st.session_state[CONNECTION_KEY] = chosen.connection.name
    st.selectbox(
        "Connection",
        names,
        key=CONNECTION_KEY,
        on_change=_go_over,
        label_visibility="collapsed",
        width=190,
        help="Which store is looked at. Each is opened by itself: one that fails does not touch the others.",
    )


def _go_over() -> None:
    session.choose(st.session_state[CONNECTION_KEY])
    scope.leave()


def _draw_extractor(chosen: Choice) -> None:
    if chosen.connection.model is None:
        st.badge("Rules extract facts here, not a model", icon=":material/rule:", color="gray", width="content")
    else:
        _draw_named(":material/smart_toy:", one_line(chosen.connection.model, 40), key="header-model")


def _draw_mode(chosen: Choice, working: Session | None) -> None:
    settings = Settings.from_environment()
    is_wanted = session.is_writing_wanted(chosen, settings)
    is_writing = is_wanted and not (working and working.closed)
    operator, role = session.operator(settings), session.role(chosen)
    label, icon = ("Writing", ":material/edit:") if is_writing else ("Reading", ":material/visibility:")
    if chosen.connection.read_only or not may(role, "editor"):
        label, icon = "Read-only", ":material/lock:"
    with st.popover(label, icon=icon, type="primary" if is_writing else "secondary", width="content"):
        # The widgets are made from the settings once; from then on the session state holds the choice.
        st.session_state.setdefault(OPERATOR_KEY, operator)
        if chosen.connection.read_only:
            st.markdown("This connection is read-only: its configuration forbids every change.")
        elif not may(role, "editor"):
            st.markdown("Your role is **viewer**: you may look at everything and change nothing.")
        else:
            st.button(
                "Stop writing" if is_wanted else "Allow writing",
                key=SWITCH_KEY,
                icon=":material/visibility:" if is_wanted else ":material/edit:",
                on_click=session.set_writing,
                args=(chosen.connection.name, not is_wanted),
            )
        _draw_operator(role)
        st.caption("Every change is written down with this name and can be undone.")
        st.caption("Looking around writes nothing at all: no table, no counter, no time-to-live.")
    _draw_named(":material/person:", one_line(operator, 24), key="header-operator-name")


def _draw_operator(role: Role) -> None:
    who = sign_in.person()
    if who is None:
        st.text_input("Your name in the history", key=OPERATOR_KEY, max_chars=100)
    else:
        sign_in.draw_sign_out(who)
    st.caption(f"Your role is {role}. {_ROLES[role]}")


def _draw_notices(chosen: Choice, working: Session | None) -> None:
    if chosen.unknown is not None:
        st.warning("The address asks for a connection that is not configured; this is the first one.")
    if working is None:
        return
    _notice_replacement(chosen)
    for notice in working.notices:
        _draw_named(":material/info:", one_line(notice, 300), key=f"header-notice-{working.notices.index(notice)}")
    warnings = [*working.adapter.abilities.warnings, *index_memory.list_warnings(working.engine.context.indexes.memory)]
    for at, warning in enumerate(warnings):
        with st.container(horizontal=True, vertical_alignment="center", key=f"header-warning-{at}"):
            # What comes after the colon is told on the Health page.
            _draw_named(":orange[:material/warning:]", one_line(warning.partition(":")[0], 120), key=f"warning-{at}")
            link_to("health", "What to do")
    if session.foreign_vectors(working):
        with st.container(horizontal=True, vertical_alignment="center", key="header-identity"):
            st.badge("Another embedder than the store's", icon=":material/warning:", color="orange", width="content")
            link_to("health", "What to do")


def _notice_replacement(chosen: Choice) -> None:
    key, version = f"header.version.{chosen.connection.name}", connections.read_version(chosen.connection)
    before = st.session_state.get(key)
    st.session_state[key] = version
    if before not in (None, version, connections.MISSING):
        st.toast("The file of this store was replaced; it was opened anew.", icon=":material/sync:")


def _draw_named(icon: str, text: str, *, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", width="content", key=key):
        st.markdown(icon, width="content")
        st.text(text, width="content")
