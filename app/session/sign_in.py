"""Who sits in front of the dashboard, where Streamlit's own sign-in (OpenID Connect) is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.text.display import one_line

SIGN_IN_KEY, SIGN_OUT_KEY = "sign-in.begin", "sign-in.end"


@dataclass(frozen=True)
class Person:
    """Somebody who has signed in: `id` decides about the role, `name` is written into the history."""

    id: str
    name: str


def account() -> Mapping[str, Any]:
    """What Streamlit knows of the user; it says `is_logged_in` only where a sign-in is configured."""
    return st.user.to_dict()


def person() -> Person | None:
    """Who has signed in; None where nobody has, or no sign-in is configured."""
    known = account()
    if not known.get("is_logged_in"):
        return None
    # An address that the provider does not vouch for could be anybody's.
    address = known.get("email") if known.get("email_verified", True) else None
    id = str(address or known.get("sub") or "")
    return Person(id, str(address or known.get("name") or id or "somebody"))


def passes() -> bool:
    """Draw the sign-in where one is configured and nobody has signed in; whether the dashboard may be shown."""
    if account().get("is_logged_in", True):
        return True
    with st.container(border=True, horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown("### :material/lock:", text_alignment="center")
        st.markdown("**Sign in to see what is remembered**", text_alignment="center")
        st.button("Sign in", key=SIGN_IN_KEY, type="primary", on_click=st.login)
        st.space("small")
    return False


def draw_sign_out(who: Person) -> None:
    """Say who has signed in, and let them leave."""
    st.caption("Signed in as")
    st.text(one_line(who.name, 100))
    st.button("Sign out", key=SIGN_OUT_KEY, icon=":material/logout:", on_click=st.logout)
