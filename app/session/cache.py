"""Values that are made anew only when what they stand for has changed; one of each name, for this browser session."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st
from mnemoscope.journal import book

from app.session.scope import Scope
from app.session.session import Session

Value = TypeVar("Value")


def kept(name: str, stamp: Hashable | None, make: Callable[[], Value]) -> Value:
    """The value of this name as it was last made, or made anew where the stamp is another one, or None."""
    key = f"kept.{name}"
    before = st.session_state.get(key)
    if before is not None and stamp is not None and before[0] == stamp:
        value: Value = before[1]
        return value
    made = make()
    st.session_state[key] = (stamp, made)
    return made


def stamp(working: Session, here: Scope, *books: str) -> Hashable | None:
    """What is the same as long as nothing changes in the scope, and in these of our books about it.

    None where the store cannot tell.
    """
    places = [here.namespace, *(book(name, here.namespace) for name in books)]
    tokens = tuple(working.adapter.token(place, subtree=here.subtree) for place in places)
    if None in tokens:
        return None
    # Tokens of two connections to one store mean nothing to each other.
    return working.connection, id(working.adapter), here.namespace, here.subtree, tokens
