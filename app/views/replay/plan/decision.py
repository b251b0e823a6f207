"""What can be decided for a fact, in words, and what a person's decision becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mnemoscope import ConsolidationDecision
from mnemoscope.consolidation import PlannedFact

from app.text.display import one_line

Colour = Literal["green", "blue", "gray", "orange", "violet"]


@dataclass(frozen=True)
class Look:
    """How an outcome is shown; `noun` follows a number."""

    label: str
    noun: str
    icon: str
    colour: Colour
    help: str


OUTCOMES: dict[str, Look] = {
    "insert": Look("Insert", "inserted", ":material/add_circle:", "green", "Becomes a new memory."),
    "update": Look("Update", "updated", ":material/edit:", "blue", "Takes the place of a memory's text."),
    "forget": Look("Forget", "forgotten", ":material/delete:", "orange", "Withdraws a memory; it can be restored."),
    "skip": Look("Keep", "kept", ":material/check_circle:", "gray", "A memory says so already; nothing changes."),
    "suppressed": Look(
        "Suppress", "suppressed", ":material/block:", "violet", "Like a memory that was forgotten on purpose."
    ),
}


"""What may come of a fact, in the order in which it is counted."""


@dataclass(frozen=True)
class Choice:
    """One thing that may be done with a fact. `target` is a memory's key; `stores` tells the two ways to forget."""

    action: str
    target: str | None = None
    stores: bool = False


def list_choices(planned: PlannedFact) -> list[Choice]:
    """Everything that may be decided for this fact: only what it was compared with can be a target."""
    found = [Choice("insert")]
    for record, _similarity in planned.compared:
        found += [Choice("update", record.key), Choice("skip", record.key)]
        found += [Choice("forget", record.key, stores=True), Choice("forget", record.key)]
    return found


def find_choice(planned: PlannedFact) -> Choice | None:
    """What is decided now; None for a suppressed fact, of which nothing comes."""
    if planned.outcome == "suppressed":
        return None
    decision = planned.decision
    if decision is None or planned.rejected or decision.action == "insert":
        return Choice("insert")
    stores = decision.action == "forget" and bool(decision.content)
    found = Choice(decision.action, decision.target_key, stores)
    return found if found in list_choices(planned) else Choice("insert")


def label_choice(choice: Choice | None, planned: PlannedFact) -> str:
    """The choice in words, with the start of the memory that it is about."""
    if choice is None:
        return "Leave it suppressed"
    text = next((one_line(record.content, 70) for record, _ in planned.compared if record.key == choice.target), "")
    wording = {
        ("insert", False): "Insert as a new memory",
        ("update", False): f"Update: {text}",
        ("skip", False): f"Keep, and add nothing: {text}",
        ("forget", True): f"Forget, and insert this instead: {text}",
        ("forget", False): f"Forget, and insert nothing: {text}",
    }
    return wording[choice.action, choice.stores]


def make_decision(
    choice: Choice | None, planned: PlannedFact, text: str, *, operator: str
) -> ConsolidationDecision | None:
    """The decision that a person's choice stands for; None where the one there is stays right."""
    present = planned.decision
    if choice is None:
        return None
    if choice != find_choice(planned):
        content = text if choice.stores else None
        return ConsolidationDecision(
            action=choice.action, target_key=choice.target, content=content, reason=f"Decided by {operator}."
        )
    # A judge's own wording would otherwise win over the text that a person has just written.
    is_reworded = present is not None and present.content and present.content != text
    return present.model_copy(update={"content": text}) if present is not None and is_reworded else None


def find_stored_text(planned: PlannedFact) -> str:
    """The text that the plan would store for the fact: the judge's wording where it gave one."""
    decision = planned.decision
    if decision is None or planned.rejected or planned.outcome not in ("insert", "update"):
        return planned.fact.content
    return decision.content or planned.fact.content
