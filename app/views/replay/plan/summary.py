"""What a plan comes to: who read the conversation, what becomes of its facts, what gave none, and what is held back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st
from mnemoscope import MemoryRecord, ModelError, Plan
from mnemoscope.consolidation import PlannedChange
from mnemoscope.errors import ModelCall
from mnemoscope.extraction import Withheld

from app.components import tables, work
from app.text.display import counted, one_line, safe
from app.views.replay.plan import run as replay_run
from app.views.replay.plan.decision import OUTCOMES
from app.views.replay.plan.run import Run

CHANGES_SHOWN = 100

DIFF_LIMIT = 2_000

WITHHELD_PAGE_KEY = "p_withheld"

WITHHELD_PER_PAGE = 10

WITHHELD_LIMIT = 500


def draw_summary(plan: Plan, now: int, *, is_committed: bool) -> None:
    """Draw the figures; `now` is how many memories the namespace holds."""
    found = count_outcomes(plan)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="replay-figures"):
        for outcome, look in OUTCOMES.items():
            if found.get(outcome):
                st.badge(f"{found[outcome]} {look.noun}", icon=look.icon, color=look.colour, help=look.help)
        if found.get("left out"):
            st.badge(f"{found['left out']} left out", icon=":material/remove_circle:", color="gray")
        then = "" if is_committed else f" → {count_after(plan, now):,} after"
        st.caption(f"{counted(now, 'memory', 'memories')} now{then}", width="content")
    st.caption(_reader(plan))


def draw_reading(plan: Plan) -> None:
    """Draw what was read and gave no fact, by reason, and the model calls."""
    held, left = sum(plan.held_back.values()), sum(plan.left_out.values())
    title = f"What gave no fact: {counted(held + left, 'part')}"
    with st.expander(title, icon=":material/filter_alt:", expanded=not plan.facts):
        kept_back, left_out = st.columns(2)
        with kept_back:
            _draw_counts("Held back, by reason", plan.held_back, "Every sentence gave a fact.")
        with left_out:
            _draw_counts("Not read as said by people", plan.left_out, "Everything was read.")
        if plan.remarks:
            _draw_counts("Put right in the answers", plan.remarks, "")
    if plan.calls:
        _draw_calls(plan)


def draw_changes(plan: Plan) -> None:
    """Draw the namespace before and after, as one difference."""
    if not plan.changes:
        st.caption("Nothing changes.")
        return
    st.code(write_diffs(plan.changes[:CHANGES_SHOWN]), language="diff", wrap_lines=True)
    if len(plan.changes) > CHANGES_SHOWN:
        st.caption(f"These are the first {CHANGES_SHOWN} of {counted(len(plan.changes), 'change')}.")


def draw_failure(plan: Plan, failure: ModelError) -> None:
    """Say that extraction failed, with what the model answered."""
    st.error(
        "**No facts could be extracted**  \nNothing was written and the conversation is still here. Plan again, or "
        "name another model.",
        icon=":material/error:",
    )
    st.code(safe(f"{failure.failure}: {failure}", 2_000), language=None, wrap_lines=True)
    if failure.raw:
        with st.expander("What the model answered", icon=":material/data_object:"):
            st.code(safe(failure.raw, 20_000), language=None, wrap_lines=True)
    if plan.calls:
        _draw_calls(plan)


def _reader(plan: Plan) -> str:
    how = f"{len(plan.calls)} model calls" if plan.calls else "no model call"
    by_rules = "Rules extract facts here, not a model. " if plan.extractor == "RuleExtractor" else ""
    read = f"{counted(len(plan.messages), 'message')} read in {plan.seconds:.2f} s, {how}."
    return f":material/rule: {by_rules}{read}" if by_rules else f":material/smart_toy: {read}"


def _draw_counts(title: str, counts: Mapping[str, int], none: str) -> None:
    st.caption(title)
    if not counts:
        st.text(none)
    for reason, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        st.text(f"{number:,} × {one_line(reason, 120)}")


def _draw_calls(plan: Plan) -> None:
    with st.expander(counted(len(plan.calls), "model call"), icon=":material/smart_toy:"):
        for call in plan.calls:
            st.text(_call_line(call))
            if call.raw:
                st.code(safe(call.raw, 20_000), language=None, wrap_lines=True)


def _call_line(call: ModelCall) -> str:
    tokens = [
        f"{number:,} tokens {way}"
        for number, way in ((call.input_tokens, "in"), (call.output_tokens, "out"))
        if number is not None
    ]
    parts = [call.purpose, call.model, f"{call.seconds:.1f} s", *tokens, call.failure or "answered"]
    return one_line(" · ".join(parts), 300)


def count_outcomes(plan: Plan) -> dict[str, int]:
    """How many facts come to each outcome, and under "left out" how many were unticked."""
    found = Counter(planned.outcome if planned.chosen else "left out" for planned in plan.facts)
    return dict(found)


def count_after(plan: Plan, before: int) -> int:
    """How many memories the namespace would hold, if it holds `before` now."""
    actions = Counter(change.action for change in plan.changes)
    return before + actions["insert"] - actions["forget"]


def write_diff(change: PlannedChange) -> str:
    """One change: the text before, the text after, and what else of the memory changes."""
    before, after = change.before, change.after
    lines = [*_mark("-", before.content if before else None), *_mark("+", after.content if after else None)]
    if before is not None and after is not None:
        lines += _fields(before, after)
    return "\n".join(lines)


def write_diffs(changes: Sequence[PlannedChange]) -> str:
    """Every change in the order of the plan."""
    return "\n".join(write_diff(change) for change in changes)


def _mark(mark: str, text: str | None) -> list[str]:
    return [] if text is None else [f"{mark} {line}" for line in safe(text, DIFF_LIMIT).split("\n")]


def _fields(before: MemoryRecord, after: MemoryRecord) -> list[str]:
    found = []
    if before.importance != after.importance:
        found.append(f"  importance {_number(before.importance)} → {_number(after.importance)}")
    added = [name for name in after.categories if name not in before.categories]
    if added:
        found.append(f"  categories + {safe(', '.join(added), 200)}")
    return found


def _number(importance: float | None) -> str:
    return "–" if importance is None else f"{importance:.2f}"


def draw_withheld(run: Run) -> None:
    """Draw what is held back, if anything is."""
    withheld = run.plan.withheld
    if not withheld:
        return
    with st.expander(
        f"Proposed and held back: {counted(len(withheld), 'fact')}", icon=":material/front_hand:", key="replay-withheld"
    ):
        if not run.is_committed:
            st.caption(
                "The conversation does not bear these out, or they look like orders. Let one in if you know that it is "
                "true: it joins the plan, and the history says that it was your choice."
            )
        window = tables.draw_pager(len(withheld), key=WITHHELD_PAGE_KEY, per_page=WITHHELD_PER_PAGE)
        for at in range(window.start, window.stop):
            _draw_one_withheld(run, withheld[at], at)


def let_in_key(at: int) -> str:
    """The key of the button that lets the fact at this position in."""
    return f"replay.let_in-{at}"


def _draw_one_withheld(run: Run, withheld: Withheld, at: int) -> None:
    fact = withheld.fact
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(safe(fact.content, WITHHELD_LIMIT), width="stretch")
            if not run.is_committed:
                st.button(
                    "Let it in",
                    key=let_in_key(at),
                    icon=":material/add:",
                    disabled=work.is_running(replay_run.WORK),
                    on_click=replay_run.let_in,
                    args=(at,),
                )
        st.text(safe(withheld.reason, WITHHELD_LIMIT))
        if fact.quote:
            st.text(f"“{one_line(fact.quote, WITHHELD_LIMIT)}”")
