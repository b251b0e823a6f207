"""Exports as other programs write them: `Memory.get_all` of mem0 2.2.1, `MemoryRecord`s of CrewAI 1.15.30, as JSON."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import engine_over, memory_store
from mnemoscope import MemoryEngine

EXPORTS = Path(__file__).resolve().parent / "exports"
MEM0 = json.loads((EXPORTS / "mem0.json").read_text(encoding="utf-8"))
PAGE = {"count": 3, "next": "https://api.mem0.ai/v2/memories/?page=2", "previous": None, "results": MEM0["results"]}
CREWAI = [json.loads(line) for line in (EXPORTS / "crewai.jsonl").read_text(encoding="utf-8").splitlines()]
ANA = ("memories", "ana@x%2Eorg")


@pytest.fixture
def engine() -> MemoryEngine:
    return engine_over(memory_store())


@pytest.mark.parametrize(
    "export", [MEM0, PAGE, MEM0["results"], {**MEM0, "relations": [{"source": "ana", "relationship": "likes"}]}],
    ids=["get_all", "page of the platform", "list", "with a graph"],
)  # fmt: skip
def test_memories_of_mem0_come_in_under_their_users_and_can_be_undone(engine: MemoryEngine, export: Any) -> None:
    plan = engine.transfer.plan_import(json.dumps(export, indent=2))
    assert plan.counts == {"new": 3}
    changes = engine.transfer.apply_import(plan)
    found = {record.content: record for record in engine.list(ANA)}
    assert found.keys() == {"I live in Lisbon.", "Noted.", "Prefers green tea"}
    tea = found["Prefers green tea"]
    assert tea.metadata == {"user_id": "ana@x.org", "agent_id": "support", "run_id": "r1", "role": "user"}
    (told,) = [each for each in MEM0["results"] if each["memory"] == tea.content]
    assert (tea.key, tea.created_at.isoformat()) == (told["id"], told["created_at"])
    assert found["Noted."].metadata["app"] == "shop"
    assert engine.recall("green tea", ANA, limit=1)[0].record.key == told["id"]
    engine.undo(changes[0].group)
    assert engine.counts() == {}


def test_records_of_crewai_come_in_under_their_scopes_and_can_be_undone(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import((EXPORTS / "crewai.jsonl").read_bytes())
    assert plan.counts == {"new": 2, "invalid": 1}
    assert [(row.where, "namespace" in row.reason) for row in plan.rows if row.status == "invalid"] == [
        ("line 3", True)
    ]
    changes = engine.transfer.apply_import(plan)
    (team,) = engine.list(("company", "team"))
    assert (team.content, team.categories, team.importance, team.source, team.metadata) == (
        "The team ships on Thursdays.", ["process"], 0.8, "ana", {"agent": "planner"},
    )  # fmt: skip
    assert team.created_at.tzinfo == UTC
    assert team.created_at.replace(tzinfo=None).isoformat() == CREWAI[0]["created_at"]
    assert engine.list(("company", "team", "ana")) == []
    (leave,) = engine.list(("company", "team", "ana"), source="ana")
    assert leave.private
    engine.undo(changes[0].group)
    assert engine.counts() == {}


def test_records_of_crewais_root_come_in_where_one_says(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import(json.dumps(CREWAI), ("company",))
    assert plan.counts == {"new": 3}
    engine.transfer.apply_import(plan)
    assert "Invoices go to finance." in [record.content for record in engine.list(("company",), None)]
