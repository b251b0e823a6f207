"""The sample conversations give exactly the memories they promise, and nothing the second time."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from mnemoscope import ConversationError, Evidence, ExtractedFact, MemoryRecord, RuleConsolidator, RuleExtractor
from mnemoscope.conversations import SampleConversation, load_samples, read_sample

NOW = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)
SAMPLES = load_samples(NOW)

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)


def facts_of(sample: SampleConversation) -> list[ExtractedFact]:
    return RuleExtractor().extract(sample.messages).facts


def replay(facts: list[ExtractedFact], memories: dict[str, MemoryRecord]) -> list[tuple[str, str, str | None]]:
    """Apply the rules fact by fact, every memory offered; returns (content, action, replaced text) of each."""
    log = []
    for fact in facts:
        decision = RuleConsolidator()(fact, [(memory, 0.7) for memory in memories.values()])
        replaced = memories[decision.target_key].content if decision.target_key else None
        log.append((fact.content, decision.action, replaced))
        evidence = Evidence(None, fact.message_ids, fact.quote, fact.said_at)
        if decision.action == "insert":
            key = str(len(memories))
            memories[key] = MemoryRecord(key, ("memories",), fact.content, evidence=[evidence])
        elif decision.action == "update" and decision.target_key:
            old = memories[decision.target_key]
            memories[old.key] = replace(old, content=fact.content, evidence=[*old.evidence, evidence])
    return log


@every_sample
def test_sample_gives_exactly_its_expected_memories(sample: SampleConversation) -> None:
    memories: dict[str, MemoryRecord] = {}
    replay(facts_of(sample), memories)
    assert sorted(each.content for each in memories.values()) == sorted(each.content for each in sample.expected)


@every_sample
def test_sample_corrects_what_it_says_it_corrects(sample: SampleConversation) -> None:
    updates = [(content, replaced) for content, action, replaced in replay(facts_of(sample), {}) if action == "update"]
    assert sorted(updates) == sorted(
        (each.content, each.replaces) for each in sample.expected if each.action == "update"
    )


@every_sample
def test_second_replay_adds_nothing(sample: SampleConversation) -> None:
    memories: dict[str, MemoryRecord] = {}
    replay(facts_of(sample), memories)
    assert {action for _, action, _ in replay(facts_of(sample), memories)} <= {"skip"}


@every_sample
def test_nothing_unwanted_becomes_a_fact(sample: SampleConversation) -> None:
    text = "\n".join(f"{fact.content}\n{fact.quote}" for fact in facts_of(sample))
    assert [phrase for phrase in sample.not_expected if phrase in text] == []
    assert all(any(phrase in message.text for message in sample.messages) for phrase in sample.not_expected)


def test_injection_and_secrets_are_counted() -> None:
    counted = {sample.id: RuleExtractor().extract(sample.messages).held_back for sample in SAMPLES}
    assert counted["ana-a-secret"]["secret"] == 3
    assert counted["ben-injection"]["instruction"] >= 1
    assert counted["ben-injection"]["pasted"] == 1


def test_samples_cover_what_they_should() -> None:
    assert len(SAMPLES) >= 10
    assert {sample.namespace for sample in SAMPLES} >= {("memories", who) for who in ("ana", "ben", "chitose")}
    assert max(len(sample.messages) for sample in SAMPLES) > 60
    assert min(len(sample.messages) for sample in SAMPLES) == 0
    assert any(message.role == "tool" for sample in SAMPLES for message in sample.messages)


def test_samples_spread_over_the_last_nine_months_in_order() -> None:
    begun = [sample.started_at for sample in SAMPLES if sample.started_at]
    assert begun == sorted(begun)
    assert 240 < (NOW - begun[0]).days < 280
    assert all(message.said_at and message.said_at < NOW for sample in SAMPLES for message in sample.messages)


def test_message_ids_are_unique_over_all_samples() -> None:
    ids = [message.id for sample in SAMPLES for message in sample.messages]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": "x"}'])
def test_broken_sample_is_refused(text: str) -> None:
    with pytest.raises(ConversationError, match="not a sample conversation"):
        read_sample(text, NOW)
