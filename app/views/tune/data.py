"""What the Tune page works on: cases, their candidates and profiles, each made anew only when the store changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st
from mnemoscope.evaluation import Judged
from mnemoscope.journal import book
from mnemoscope.recall import Case, Profile

from app.session import cache
from app.session.profile_names import PRESENT, known_profiles
from app.session.scope import Scope
from app.session.session import Session
from app.session.settings import Settings

__all__ = ["PRIVATE_KEY", "cases", "is_exact", "judged", "judged_stamp", "profile_name", "profiles"]

PRIVATE_KEY = "t_private"


def cases(working: Session, here: Scope) -> list[Case]:
    """The cases of the scope, the newest first."""
    return working.engine.tuning.cases(here.namespace, subtree=here.subtree)


def judged(working: Session, here: Scope) -> list[Judged]:
    """The cases of the scope with their candidates: embedded once, and again only when something changed."""

    def collected() -> list[Judged]:
        with st.spinner("Looking up what each case can bring back …"):
            return working.engine.tuning.judge(cases(working, here), include_private=_includes_private())

    return cache.kept("tune.judged", judged_stamp(working, here), collected)


def judged_stamp(working: Session, here: Scope) -> Hashable | None:
    """What is the same as long as the candidates of the cases are."""
    stamp = cache.stamp(working, here, "cases")
    return None if stamp is None else (stamp, _includes_private())


def profiles(working: Session, *, with_present: bool = True) -> dict[str, Profile]:
    """Every profile by its name; first the one in use, if that is wanted.

    Raises:
        ConfigurationError: the configuration file cannot be used.
    """
    file = Settings.from_environment().config
    token = working.adapter.token(book("profiles"))
    stamp = None if token is None else (working.connection, id(working.adapter), token, file, working.engine.config)
    known = cache.kept("tune.profiles", stamp, lambda: known_profiles(working.engine, file))
    return {name: profile for name, profile in known.items() if with_present or name != PRESENT}


def profile_name(name: str) -> str:
    """A profile's name as it is shown; names hold no markup."""
    return "In use" if name == PRESENT else name


def is_exact(found: Sequence[Judged]) -> bool:
    """Whether every memory was a candidate."""
    return all(each.candidates.exact for each in found)


def _includes_private() -> bool:
    return bool(st.session_state.get(PRIVATE_KEY, st.query_params.get(PRIVATE_KEY) == "true"))
