"""What the Tune page works on: cases and their candidates, each made anew only when the store changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st
from mnemoscope.evaluation import Judged
from mnemoscope.recall import Case

from app.session import cache
from app.session.profile_names import PRESENT
from app.session.scope import Scope
from app.session.session import Session

PRIVATE_KEY = "t_private"


def read_cases(working: Session, here: Scope) -> list[Case]:
    """The cases of the scope, the newest first."""
    return working.engine.tuning.cases(here.namespace, subtree=here.subtree)


def read_judged(working: Session, here: Scope) -> list[Judged]:
    """The cases of the scope with their candidates: embedded once, and again only when something changed."""

    def collected() -> list[Judged]:
        with st.spinner("Looking up what each case can bring back …"):
            return working.engine.tuning.judge(read_cases(working, here), include_private=_includes_private())

    return cache.kept("tune.judged", stamp_judged(working, here), collected)


def stamp_judged(working: Session, here: Scope) -> Hashable | None:
    """What is the same as long as the candidates of the cases are."""
    stamp = cache.stamp(working, here, "cases")
    return None if stamp is None else (stamp, _includes_private())


def label_profile(name: str) -> str:
    """A profile's name as it is shown; names hold no markup."""
    return "In use" if name == PRESENT else name


def is_exact(found: Sequence[Judged]) -> bool:
    """Whether every memory was a candidate."""
    return all(each.candidates.exact for each in found)


def _includes_private() -> bool:
    return bool(st.session_state.get(PRIVATE_KEY, st.query_params.get(PRIVATE_KEY) == "true"))
