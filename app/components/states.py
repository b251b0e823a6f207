"""What a page shows in place of a result: nothing there, nothing left by the filters, or a failure.

The three look different, because they mean different things to an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from mnemoscope import ConfigurationError, ConflictError, MnemoscopeError, PermissionDeniedError, StoreError
from mnemoscope.core import Namespace, is_within, show_namespace

from app.session import connections
from app.session.scope import Scope
from app.text.display import counted, one_line, safe

_TITLES: tuple[tuple[type[MnemoscopeError], str, str], ...] = (
    (
        StoreError,
        "The store did not answer",
        "Open Connect, or run `mnemoscope doctor` in a terminal: both say what to do.",
    ),
    (ConfigurationError, "The configuration cannot be used", "Correct what is named here, then reload the page."),
    (ConflictError, "Someone changed this meanwhile", "Reload the page, look at the new text, and decide again."),
    (PermissionDeniedError, "Not allowed here", "Nothing was changed."),
)


def draw_empty(title: str, hint: str, *, icon: str = ":material/inbox:") -> None:
    """There is nothing yet. `title` and `hint` are fixed text; the hint says what to do next."""
    with st.container(border=True, horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown(f"### {icon}", text_alignment="center")
        st.markdown(f"**{title}**", text_alignment="center")
        st.caption(hint, text_alignment="center")
        st.space("small")


def draw_nothing_remembered(here: Scope, counts: Mapping[Namespace, int]) -> None:
    """The scope holds no memory: it is empty, or there is no such namespace at all."""
    if here.is_whole_store or any(is_within(each, here.namespace, subtree=True) for each in counts):
        draw_empty("Nothing is remembered here yet", "Replay a conversation, or choose another namespace above.")
        return
    draw_empty("There is no such namespace", "Check its name, or choose another namespace above.")
    st.text(f"No memories under {one_line(show_namespace(here.namespace), 200)}; it does not exist.")


def draw_filtered_out(
    total: int, *, key: str, on_clear: Callable[[], None] | None = None, noun: str = "memory"
) -> None:
    """There are `total` things, but the filters leave none. `on_clear` resets the filters."""
    plural = "memories" if noun == "memory" else None
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"{key}-row"):
        st.markdown(f":material/filter_alt_off: The filters leave none of {counted(total, noun, plural)}.")
        if on_clear is not None:
            st.button("Clear filters", key=key, on_click=on_clear)


def draw_failed(error: MnemoscopeError) -> None:
    """Something failed that the operator can act on: what, and the way out."""
    title, hint = next(
        ((title, hint) for kind, title, hint in _TITLES if isinstance(error, kind)),
        ("This could not be done", "Nothing was changed."),
    )
    st.error(f"**{title}**  \n{hint}", icon=":material/error:")
    st.code(safe(connections.scrub_secrets(str(error)), 2_000), language=None, wrap_lines=True)


def draw_broken(error_id: str) -> None:
    """Something failed that should not have; the log has the rest under `error_id`."""
    st.error(
        f"**Something went wrong on this page**  \nNothing else is affected. Reload the page; if it happens again, "
        f"report it with the lines that the terminal shows for error `{error_id}`.",
        icon=":material/error:",
    )
