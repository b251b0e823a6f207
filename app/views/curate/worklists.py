"""The worklists: what deserves a look, with a count each; one is open, with its queue and the row to decide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st
from mnemoscope import CancelledWorkError
from mnemoscope.index import ScopeIndex
from mnemoscope.worklists import WORKLISTS, Criteria, Finding, Survey

from app.components import code, states
from app.session import connections, session
from app.session.cache import kept
from app.session.scope import Scope
from app.session.session import Session
from app.text.display import counted
from app.views.curate import card, queue
from app.views.curate.findings import QUICK_SECONDS, Review, Rows, Shelf, Work, find_moved, open_shelf, review

LIST_KEY, AGAIN_KEY, CANCEL_KEY = "curate.list", "curate.again", "curate.cancel"


PRIVATE_KEY, REJECTED_KEY = "w_private", "curate.show-rejected"


_PARAMETER = "w_list"


_SIMILARITY, _JUDGED = "curate.similarity", "curate.judged"


_UNRECALLED, _STALE = "curate.unrecalled-days", "curate.stale-days"


_DEFAULTS = Criteria()


def draw_worklists(working: Session, here: Scope) -> None:
    """Draw the worklists of the scope, or how far they are."""
    index = working.engine.index(here.namespace, subtree=here.subtree)
    if not len(index):
        states.draw_empty(
            "Nothing is remembered here yet", "There is nothing to curate. Choose another namespace above."
        )
        return
    lists = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curate-controls"):
        help = st.container(width="stretch", gap="xxsmall", key="curate-help")
        status = st.container(horizontal=True, vertical_alignment="center", width="content", gap="small")
        criteria, judged = _draw_criteria(working)
    shelved = open_shelf(working.connection, _version(), here, criteria, judged)
    work = _find_work(working, here, shelved, index, criteria, judged)
    if work is None or work.survey is None:
        return
    looked = _review(working, here, work, work.survey, index)
    with status:
        _draw_age(working, here, shelved, (criteria, judged), looked.changed)
    with lists:
        name = _choose(looked)
    with help:
        findings, is_rejected = _draw_help(name, looked.rows[name])
    _draw_list(working, looked, findings, name, is_rejected=is_rejected)
    code.draw_code(
        {
            "These rows": code.write_python("curation.worklist", name, here.namespace, subtree=here.subtree or None),
            "Accept or reject them": (
                "engine.curation.accept(findings, reason='…')\nengine.curation.reject(findings, reason='…')"
            ),
        },
        {
            "These rows": code.write_command("worklist", name, namespace=here.namespace, subtree=here.subtree),
            "Accept or reject them": code.write_command(
                "worklist", name, namespace=here.namespace, subtree=here.subtree, accept="ID", reject="ID"
            ),
        },
    )


def _review(working: Session, here: Scope, work: Work, survey: Survey, index: ScopeIndex) -> Review:
    rejected = working.engine.curation.rejections(here.namespace, subtree=here.subtree)
    private = bool(st.session_state.get(PRIVATE_KEY))
    return kept(
        "curate",
        (work, index, frozenset(rejected), private),
        lambda: review(work, survey, index, rejected, include_private=private),
    )


def _draw_criteria(working: Session) -> tuple[Criteria, bool]:
    with st.popover("What counts", icon=":material/tune:", key="curate.criteria", width="content"):
        similarity = st.slider(
            "Near-duplicates are at least this similar", 0.8, 1.0, _DEFAULTS.duplicate_similarity, 0.01, key=_SIMILARITY
        )
        unrecalled = st.number_input(
            "Never recalled, after days", 0, 3650, _DEFAULTS.unrecalled_after.days, key=_UNRECALLED
        )
        stale = st.number_input("Stale, after days without a change", 1, 3650, _DEFAULTS.stale_after.days, key=_STALE)
        judged = st.toggle(
            "Ask the model about contradictions",
            key=_JUDGED,
            disabled=working.model is None,
            help="One call for the forty likeliest pairs. Without it, rules decide.",
        )
    criteria = Criteria(
        duplicate_similarity=similarity,
        unrecalled_after=timedelta(days=unrecalled),
        stale_after=timedelta(days=stale),
    )
    return criteria, judged and working.model is not None


def _find_work(
    working: Session, here: Scope, shelved: Shelf, index: ScopeIndex, criteria: Criteria, judged: bool
) -> Work | None:
    """The work to show; None where its progress, or why it ended early, is drawn in its place."""
    begun, complete = shelved.settle(), shelved.complete
    if begun is None and _is_due(complete, index, judged=judged):
        begun = shelved.begin(working.engine, here, criteria, judged=judged)
    if begun is not None and begun.wait():
        begun = shelved.settle()
    if begun is None:
        return shelved.complete
    if begun.is_running:
        _draw_progress(begun)
    else:
        _draw_end(working, here, shelved, begun, (criteria, judged))
    return None


def _is_due(complete: Work | None, index: ScopeIndex, *, judged: bool) -> bool:
    """Whether to look without being asked: at first, and again where that is quick and costs no model call."""
    if complete is None or complete.survey is None:
        return True
    return not judged and complete.seconds < QUICK_SECONDS and bool(find_moved(complete.survey.index, index))


@st.fragment(run_every=0.5)
def _draw_progress(work: Work) -> None:
    if not work.is_running:
        st.rerun()
    with st.container(border=True, key="curate-progress"):
        st.progress(work.done, text=f"Looking for: {work.looks_for or 'what is remembered'}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Cancel", key=CANCEL_KEY, icon=":material/close:", on_click=work.cancel)
            st.caption("You can go to other pages meanwhile; nothing in the store changes.")


def _draw_end(working: Session, here: Scope, shelved: Shelf, work: Work, how: tuple[Criteria, bool]) -> None:
    if isinstance(work.error, CancelledWorkError):
        states.draw_empty("Cancelled before it was done", "Nothing was changed.", icon=":material/cancel:")
    elif work.error is not None:
        states.draw_failed(work.error)
    else:
        st.error("**The worklists could not be worked out**  \nThe terminal says why.", icon=":material/error:")
    st.button(
        "Look again", key=AGAIN_KEY, icon=":material/refresh:", on_click=_look_again, args=(working, here, shelved, how)
    )
    if shelved.complete is not None:
        st.button("Show what was found before", key="curate.before", on_click=shelved.drop)


def _draw_age(working: Session, here: Scope, shelved: Shelf, how: tuple[Criteria, bool], changed: int) -> None:
    if changed:
        said = f":material/update: {counted(changed, 'memory has', 'memories have')} changed since this was worked out"
        st.markdown(f":gray[:small[{said}]]", width="content")
    st.button(
        "Look again",
        key=AGAIN_KEY,
        icon=":material/refresh:",
        type="tertiary",
        on_click=_look_again,
        args=(working, here, shelved, how),
        width="content",
    )


def _look_again(working: Session, here: Scope, shelved: Shelf, how: tuple[Criteria, bool]) -> None:
    shelved.begin(working.engine, here, how[0], judged=how[1])


def _draw_help(name: str, rows: Rows) -> tuple[list[Finding], bool]:
    """Draw what the worklist is about; the findings to show, and whether they are the rejected ones."""
    hidden = f" :material/lock: {counted(rows.hidden, 'row')} about private memories hidden." if rows.hidden else ""
    st.caption(f"{WORKLISTS[name].help}{hidden}")
    if not rows.rejected:
        return rows.open, False
    shows_rejected = st.toggle(f"Show {len(rows.rejected):,} rejected", key=f"{REJECTED_KEY}-{name}")
    return (rows.rejected, True) if shows_rejected else (rows.open, False)


def _draw_list(working: Session, looked: Review, findings: Sequence[Finding], name: str, *, is_rejected: bool) -> None:
    if not findings:
        states.draw_empty("Nothing left to look at here", WORKLISTS[name].title, icon=":material/task_alt:")
        return
    left, right = st.columns([10, 9], gap="medium")
    with right:
        place = queue.draw_queue(working, looked, findings, name, is_rejected=is_rejected)
    with left:
        card.draw_card(working, looked, findings, place, is_rejected=is_rejected)


def _choose(looked: Review) -> str:
    """Draw the worklists with their counts; the one that is chosen, which is in the URL."""
    asked = st.query_params.get(_PARAMETER)
    first = next((name for name in WORKLISTS if looked.rows[name].open), next(iter(WORKLISTS)))
    chosen = asked if asked in WORKLISTS else first
    st.session_state[LIST_KEY] = chosen
    st.pills(
        "Worklist",
        list(WORKLISTS),
        format_func=lambda name: _label(name, len(looked.rows[name].open)),
        key=LIST_KEY,
        required=True,
        on_change=_open_list,
        label_visibility="collapsed",
    )
    return chosen


def _label(name: str, number: int) -> str:
    label = f"{WORKLISTS[name].title} · {number:,}"
    return label if number else f":gray[{label}]"


def _open_list() -> None:
    st.query_params[_PARAMETER] = st.session_state[LIST_KEY]


def _version() -> str:
    return connections.read_version(session.choice().connection)
