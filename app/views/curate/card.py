"""The row of a worklist that is to be decided: its memories, the proposal, which can be changed, and three keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from mnemoscope import Change, MemoryRecord, MnemoscopeError
from mnemoscope.core import show_namespace, storable, utc_now
from mnemoscope.stores import Ref
from mnemoscope.worklists import Finding, Proposal

from app.components import actions, differences
from app.session import links, navigation, session
from app.session.session import Session
from app.text.display import age, counted, one_line, safe
from app.views.curate import queue
from app.views.curate.findings import Review

ACCEPT_KEY, REJECT_KEY = "curate.accept", "curate.reject"


SKIP_KEY, BACK_KEY = "curate.skip", "curate.back"


TEXT_LIMIT, MOST_MEMORIES = 1_500, 12


_ICONS = {"merge": ":material/merge:", "forget": ":material/delete:", "undo": ":material/undo:",
          "embed": ":material/blur_on:", "repair": ":material/build:"}  # fmt: skip


def draw_card(working: Session, looked: Review, findings: Sequence[Finding], place: int, *, is_rejected: bool) -> None:
    """Draw the row at this place."""
    finding = findings[place]
    with st.container(border=True, key="curate-card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{place + 1:,} of {len(findings):,}**", width="content")
            st.space("stretch")
            _draw_moves(findings, place)
        st.text(safe(finding.reason, 600))
        if finding.worklist == "changed":
            _draw_change(looked.change(finding))
        else:
            _draw_memories(looked, finding)
        if finding.proposal is not None and finding.proposal.kind == "merge":
            _draw_content(finding, finding.proposal)
        if not is_rejected:
            _draw_decision(working, finding, place)


def content_key(finding: Finding) -> str:
    """The widget that holds the merged text."""
    return f"curate.content.{finding.id}"


def part_key(finding: Finding, ref: Ref) -> str:
    """The widget that says whether the memory at this place takes part."""
    return f"curate.part.{finding.id}.{finding.refs.index(ref)}"


def apply_edits(finding: Finding) -> Finding:
    """The finding with its proposal as the operator has changed it."""
    proposal = finding.proposal
    if proposal is None or proposal.kind not in ("merge", "forget") or len(finding.refs) < 2:
        return finding
    offered = finding.refs if proposal.kind == "forget" else proposal.refs
    refs = tuple(ref for ref in offered if st.session_state.get(part_key(finding, ref), ref in proposal.refs))
    content = st.session_state.get(content_key(finding), proposal.content)
    keep = proposal.keep if proposal.keep in refs else next(iter(refs), None)
    changed = replace(proposal, refs=refs, content=content, keep=keep if proposal.kind == "merge" else None)
    return replace(finding, proposal=changed)


def _draw_moves(findings: Sequence[Finding], place: int) -> None:
    name, last = findings[place].worklist, len(findings) - 1
    for label, key, shortcut, position in (
        ("Back", BACK_KEY, "B", place - 1 if place else last),
        ("Skip", SKIP_KEY, "S", place + 1 if place < last else 0),
    ):
        st.button(
            label, key=key, shortcut=shortcut, type="tertiary", disabled=not last,
            on_click=queue.go_to, args=(name, position, findings[position].id),
        )  # fmt: skip


def _draw_memories(looked: Review, finding: Finding) -> None:
    for at, ref in enumerate(finding.refs[:MOST_MEMORIES]):
        record = looked.record(ref)
        if record is not None:
            _draw_memory(finding, record, at, says_where=looked.index.subtree)
    if len(finding.refs) > MOST_MEMORIES:
        st.caption(f"and {len(finding.refs) - MOST_MEMORIES:,} more")


def _draw_memory(finding: Finding, record: MemoryRecord, at: int, *, says_where: bool) -> None:
    ref, proposal = (record.namespace, record.key), finding.proposal
    with st.container(border=True, gap="xsmall", key=f"curate-memory-{at}"):
        with st.container(horizontal=True, gap="small"):
            st.text(safe(record.content, TEXT_LIMIT) or "(no text)", width="stretch")
            query = {"ns": list(record.namespace), "b_private": "true", **links.query_of_memory(ref)}
            st.page_link(
                navigation.path_of("browse"), label="Open", icon=":material/open_in_new:", width="content",
                query_params=query,
            )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if proposal is not None and len(finding.refs) > 1:
                _draw_part(finding, proposal, ref)
            st.caption(_about(record), width="content")
            where = show_namespace(record.namespace) if says_where else ""
            beside = " · ".join(filter(None, (where, f"from {record.source}" if record.source else "")))
            if beside:
                st.text(one_line(beside, 80), width="content")


def _about(record: MemoryRecord) -> str:
    weight = "importance unknown" if record.importance is None else f"importance {record.importance:.2f}"
    lock = ":material/lock: private · " if record.private else ""
    return f"{lock}{weight} · changed {age(record.changed_at, utc_now())}"


def _draw_part(finding: Finding, proposal: Proposal, ref: Ref) -> None:
    is_kept = proposal.kind == "merge" and ref == proposal.keep
    label = "Kept" if is_kept else "Merged into it" if proposal.kind == "merge" else "Forget this one"
    st.checkbox(label, ref in proposal.refs, key=part_key(finding, ref), disabled=is_kept)


def _draw_content(finding: Finding, proposal: Proposal) -> None:
    st.text_area("The merged memory says", storable(proposal.content or "")[0], key=content_key(finding), height=90)


def _draw_change(change: Change | None) -> None:
    if change is None:
        return
    with st.container(border=True, gap="xsmall"):
        if change.after is None:
            st.text(safe(change.text_before or "(no text)", TEXT_LIMIT))
        elif change.text_before != change.text_after:
            differences.draw_difference(
                change.text_before or "", change.text_after or "", key=f"curate.change-{change.id}"
            )
        else:
            st.text(safe(change.text_after or "(no text)", TEXT_LIMIT))
        st.text(f"{one_line(show_namespace(change.namespace), 80)} · {age(change.at, utc_now())}")


def _draw_decision(working: Session, finding: Finding, place: int) -> None:
    edited = apply_edits(finding)
    problem = _why_not(working, edited)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curate-decision"):
        kind = edited.proposal.kind if edited.proposal else None
        st.button(
            _label(edited), key=ACCEPT_KEY, shortcut="A", type="primary", icon=_ICONS.get(kind or ""),
            disabled=bool(problem) or kind is None, help=problem or None,
            on_click=_accept, args=(finding, place),
        )  # fmt: skip
        st.button(
            "Reject", key=REJECT_KEY, shortcut="X", icon=":material/close:", disabled=not working.is_writing,
            help="It is fine as it is: do not offer this again until one of its memories changes.",
            on_click=_reject, args=(finding, place),
        )  # fmt: skip
    if not working.is_writing:
        st.caption("Reading only. Switch writing on at the top of the page to decide.")


def _why_not(working: Session, finding: Finding) -> str:
    if not working.is_writing:
        return working.closed or "Reading only. Switch writing on at the top of the page."
    proposal = finding.proposal
    if proposal is not None and proposal.kind == "merge" and len(proposal.refs) < 2:
        return "Tick at least two memories to merge."
    return "" if proposal is None or proposal.refs else "Tick what to forget."


def _label(finding: Finding) -> str:
    proposal = finding.proposal
    if proposal is None:
        return "Nothing to accept"
    number = counted(len(proposal.refs), "memory", "memories")
    return {
        "merge": f"Merge {number}",
        "forget": f"Forget {number}",
        "undo": "Take the change back",
        "embed": "Make its vector",
        "repair": "Rewrite it as understood",
    }[proposal.kind]


def _accept(finding: Finding, place: int) -> None:
    edited = apply_edits(finding)
    try:
        working = session.require_writing()
        changes = working.engine.curation.accept([edited], actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    queue.go_to(finding.worklist, place)
    actions.report(f"{_label(edited)}: done.", undo=changes[0].group if changes else None)


def _reject(finding: Finding, place: int) -> None:
    try:
        working = session.require_writing()
        working.engine.curation.reject([finding], actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    queue.go_to(finding.worklist, place)
    actions.report("Rejected 1 proposal.")
