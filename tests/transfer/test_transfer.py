"""Export and import: a round trip loses nothing, other programs' exports come in, and bad files are told apart."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from engine_fixture import ANA, BEN, Ticking, facts, memory_store
from mnemoscope import ConflictError, ExtractedFact, InputError, MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.stores import Write
from mnemoscope.transfer import CONFLICT_RULES, neutral, unneutral

HOSTILE = ["=1+1", "+1", "-1", "@sum", "\t=1", "'=1", "''=1", "'tis", " =1", "\uff1d1", "plain", "\u200b=1"]


@pytest.fixture
def engine() -> MemoryEngine:
    return opened()


def opened() -> MemoryEngine:
    clock = Ticking()
    return MemoryEngine(memory_store(), extractor=RuleExtractor(), consolidator=RuleConsolidator(), clock=clock)


def filled(engine: MemoryEngine) -> MemoryEngine:
    """Two namespaces with changes, a tombstone, a private memory, a stranger's item and one without a vector."""
    facts = [
        ExtractedFact(content=text) for text in ("User lives in Hanoi", "User likes green tea", "\u202eright\n\x1b")
    ]
    engine.remember_facts(facts, ANA)
    engine.remember_facts([ExtractedFact(content="Ben plays chess")], BEN, private=True, source="club")
    keys = [record.key for record in engine.list(ANA)]
    engine.update(ANA, keys[0], importance=0.9, reason="matters")
    engine.forget(ANA, key=keys[1], reason="wrong")
    engine.store.put(BEN, "theirs", {"kind": "Note", "content": {"text": "a note"}, "odd": [1, None, {"a": True}]})
    engine.store.put(BEN, "bare", {"content": "No vector"}, index=False)
    return engine


def everything(engine: MemoryEngine) -> dict[object, object]:
    """Every item of the store with its vectors, our own books included."""
    found: dict[object, object] = {}
    for root in ((), ("__mnemoscope__",)):
        for namespace in engine.adapter.counts(root):
            snapshot = engine.adapter.load(namespace)
            for item, vectors in zip(snapshot.items, snapshot.vectors_by_item(), strict=True):
                found[item.ref] = (item.value, item.created_at, {name: row.tolist() for name, row in vectors.items()})
    return found


def books(found: dict[object, object]) -> dict[object, object]:
    return {ref: value for ref, value in found.items() if "import of" not in str(value)}


def test_a_round_trip_brings_items_vectors_tombstones_and_history_back(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export())
    other = opened()
    plan = other.transfer.plan_import(lines)
    assert plan.counts == {"new": len(plan.rows)}
    assert plan.to_embed == 0
    assert everything(other) == {}
    other.transfer.apply_import(plan)
    before = everything(engine)
    after = books(everything(other))
    tombstones_and_items = {ref: value[:3:2] for ref, value in before.items() if ref[0][1:2] != ("journal",)}  # type: ignore[index]
    assert {ref: value[:3:2] for ref, value in after.items() if ref[0][1:2] != ("journal",)} == tombstones_and_items  # type: ignore[index]
    assert {change.id for change in engine.history()} <= {change.id for change in other.history()}


def test_importing_the_same_file_again_changes_nothing(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import(b"".join(filled(engine).transfer.export()))
    assert plan.counts == {"same": len(plan.rows)}
    assert plan.written == 0
    assert engine.transfer.apply_import(plan) == []


def test_an_import_is_undone_at_once(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export(history=False))
    other = opened()
    changes = other.transfer.apply_import(other.transfer.plan_import(lines))
    assert len({change.group for change in changes}) == 1
    assert {change.action for change in changes} == {"import"}
    other.undo(changes[0].group)
    assert other.counts() == {}


def test_without_vectors_the_texts_are_embedded_once(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export(vectors=False, history=False))
    other = opened()
    plan = other.transfer.plan_import(lines)
    assert plan.to_embed == 5
    other.transfer.apply_import(plan)
    assert other.recall("green tea lives Hanoi", ANA)[0].record.namespace == ANA


def test_a_scope_is_moved_as_a_whole(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export(("memories",), subtree=True, history=False))
    other = opened()
    other.transfer.apply_import(other.transfer.plan_import(lines, "archive/2025"))
    assert set(other.counts()) == {("archive", "2025", "ana"), ("archive", "2025", "ben")}


@pytest.mark.parametrize(("rule", "kept"), [("skip", "here"), ("overwrite", "theirs"), ("newer", "theirs")])
def test_each_conflict_rule(engine: MemoryEngine, rule: str, kept: str) -> None:
    engine.adapter.store.put(ANA, "k", {"content": "here", "created_at": "2025-01-01T00:00:00+00:00"})
    row = {"key": "k", "content": "theirs", "created_at": "2025-06-01T00:00:00+00:00"}
    plan = engine.transfer.plan_import(json.dumps([row]), ANA, conflicts=rule)  # type: ignore[arg-type]
    assert plan.counts == {"conflicting": 1}
    engine.transfer.apply_import(plan)
    assert engine.get(ANA, "k").content == kept  # type: ignore[union-attr]


def test_newer_keeps_what_is_here_where_it_is_newer(engine: MemoryEngine) -> None:
    engine.adapter.store.put(ANA, "k", {"content": "here", "created_at": "2025-09-01T00:00:00+00:00"})
    row = {"key": "k", "content": "theirs", "created_at": "2025-06-01T00:00:00+00:00"}
    assert engine.transfer.plan_import(json.dumps([row]), ANA, conflicts="newer").written == 0


def test_what_was_forgotten_here_does_not_come_back_by_itself(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export(ANA, history=False))
    key = engine.list(ANA)[0].key
    engine.forget(ANA, key=key, reason="private")
    plan = engine.transfer.plan_import(lines)
    row = next(row for row in plan.rows if row.ref == (ANA, key))
    assert (row.status, row.is_written) == ("conflicting", False)
    assert "forgotten here" in row.reason
    back = engine.transfer.plan_import(lines, conflicts="overwrite")
    changes = engine.transfer.apply_import(back)
    assert engine.get(ANA, key) is not None
    engine.undo(changes[0].group)
    assert engine.curation.trash(ANA)[0].record.key == key


def test_a_plan_is_refused_where_the_store_changed_since(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import('[{"key": "k", "content": "theirs"}]', ANA)
    engine.adapter.store.put(ANA, "k", {"content": "meanwhile"})
    with pytest.raises(ConflictError):
        engine.transfer.apply_import(plan)
    assert engine.get(ANA, "k").content == "meanwhile"  # type: ignore[union-attr]


def test_mem0_and_crewai_exports_come_in(engine: MemoryEngine) -> None:
    mem0 = {
        "results": [
            {
                "id": "a1", "memory": "Likes tea", "hash": "x", "metadata": {"app": "shop"}, "user_id": "ana@x.org",
                "created_at": "2024-07-01T12:00:00-07:00", "updated_at": None, "categories": ["food"], "score": 0.3,
            }
        ]
    }  # fmt: skip
    engine.transfer.apply_import(engine.transfer.plan_import(json.dumps(mem0)))
    record = engine.get(("memories", "ana@x.org"), "a1")
    assert record is not None
    assert (record.content, record.categories, record.metadata["app"]) == ("Likes tea", ["food"], "shop")
    assert record.created_at.isoformat() == "2024-07-01T19:00:00+00:00"
    crewai = [
        {
            "id": "c1", "content": "Prefers Rust", "scope": "/project/alpha", "categories": ["tools"],
            "importance": 0.8, "metadata": {}, "created_at": "2025-02-01T10:00:00",
            "last_accessed": "2025-02-02T10:00:00", "source": "dev", "private": True, "embedding": [0.1] * 4,
        }
    ]  # fmt: skip
    engine.transfer.apply_import(engine.transfer.plan_import(json.dumps(crewai)))
    found = engine.get(("project", "alpha"), "c1")
    assert found is not None
    assert (found.importance, found.source, found.private) == (0.8, "dev", True)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_cannot_run_and_comes_back_as_it_was(text: str) -> None:
    cell = neutral(text)
    assert unneutral(cell) == text
    assert not cell.strip("\ufeff\u200b \t\r\n").startswith(("=", "+", "-", "@", "\uff1d"))


def test_a_table_has_no_cell_that_runs_and_comes_back(engine: MemoryEngine) -> None:
    for key, text in enumerate(HOSTILE):
        value = {"content": f"{text} x".strip(), "categories": ["=cmd|' /c calc'!A1", "a; b"]}
        engine.store.put(ANA, f"={key}", value)
    table = b"".join(engine.transfer.export_table(ANA))
    cells = [cell for row in csv.reader(io.StringIO(table.decode("utf-8-sig"))) for cell in row]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    assert engine.transfer.plan_import(table).counts == {"same": len(HOSTILE)}
    other = opened()
    other.transfer.apply_import(other.transfer.plan_import(table))
    assert {record.content for record in other.list(ANA)} == {record.content for record in engine.list(ANA)}
    assert all("a; b" in record.categories for record in other.list(ANA))


def test_a_table_edited_by_people_updates_what_it_states_and_keeps_the_rest(engine: MemoryEngine) -> None:
    engine.store.put(ANA, "k", {"content": "old", "importance": 0.2, "theirs": 1})
    plan = engine.transfer.plan_import(
        "namespace;key;content;importance\nmemories/ana;k;new;0,7\n", conflicts="overwrite"
    )
    engine.transfer.apply_import(plan)
    record = engine.get(ANA, "k")
    assert record is not None
    assert (record.content, record.importance, record.extra) == ("new", 0.7, {"theirs": 1})


def faulty() -> Iterator[tuple[str, bytes, str]]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("memories.jsonl", '{"content": "x"}')
    yield "zip", archive.getvalue(), "is a ZIP archive"
    yield "gzip", gzip.compress(b'{"content": "x"}'), "is a gzip archive"
    yield "utf-16 without a mark", "[{}]".encode("utf-16-le"), "binary data"
    yield "latin-1", "key,content\nk,café".encode("latin-1"), "is not UTF-8: byte 17"
    yield "empty", b" \n ", "is empty"
    yield "no table", b"name,age\nana,3\n", "names no column 'content'"
    yield "newer", b'{"type": "mnemoscope-export", "version": 99}', "version int 99"


@pytest.mark.parametrize(("data", "message"), [case[1:] for case in faulty()], ids=[case[0] for case in faulty()])
def test_a_file_that_cannot_be_read_is_refused_by_name(engine: MemoryEngine, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine.transfer.plan_import(data, ANA, name="upload.bin")


BAD_ROWS = {
    "not json": ("{nope", "not JSON"),
    "no object": ("7", "no object"),
    "no text": ('{"a": 1}', "no text"),
    "reserved": ('{"namespace": ["__mnemoscope__", "journal"], "key": "k", "value": {"content": "x"}}', "reserved"),
    "empty label": ('{"namespace": [""], "key": "k", "value": {"content": "x"}}', "empty"),
    "nul": ('{"content": "a\\u0000b"}', ""),
    "deep": ('{"content": "x", "metadata": ' + '{"a":' * 300 + "1" + "}" * 301, ""),
    "too deep": ('{"content": "x", "metadata": ' + '{"a":' * 3000 + "1" + "}" * 3001, "too deep"),
    "number": ('{"content": "x", "n": 1e999}', ""),
    "vector": ('{"namespace": ["a"], "key": "k", "value": {"content": "x"}, "vectors": 7}', "vectors"),
    "tombstone": ('{"type": "tombstone", "namespace": ["a"], "key": "k", "value": {"content": "x"}}', "no tombstone"),
    "change": ('{"type": "change", "namespace": ["a"], "key": "k", "value": {}}', "no change"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_named_by_its_line_and_the_others_go_on(engine: MemoryEngine, row: str, reason: str) -> None:
    plan = engine.transfer.plan_import(f'{{"content": "first"}}\n{row}\n{{"content": "last"}}\n', ANA)
    bad = [each for each in plan.rows if each.status == "invalid"]
    if reason:
        assert len(bad) == 1
        assert bad[0].where.startswith("line 2")
        assert reason in bad[0].reason
    engine.transfer.apply_import(plan)
    assert {"first", "last"} <= {record.content for record in engine.list(ANA)}


def test_a_file_that_was_cut_off_says_so(engine: MemoryEngine) -> None:
    lines = b"".join(filled(engine).transfer.export())
    plan = opened().transfer.plan_import(lines[: lines.rindex(b'{"type":"end"')])
    assert [row.reason for row in plan.rows if row.status == "invalid"] == [
        "the file ends before its last line: it was cut off, and rows may be missing"
    ]


def test_the_same_place_twice_is_taken_once(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import('[{"key": "k", "content": "one"}, {"key": "k", "content": "two"}]', ANA)
    assert plan.counts == {"new": 1, "invalid": 1}
    assert "named before" in next(row.reason for row in plan.rows if row.status == "invalid")


def test_a_row_that_says_no_namespace_needs_one(engine: MemoryEngine) -> None:
    plan = engine.transfer.plan_import('[{"content": "whose?"}]')
    assert plan.counts == {"invalid": 1}
    assert "name a namespace" in plan.rows[0].reason


@pytest.mark.parametrize(
    "flaw",
    [{"shelf": 5}, {"shelf": "meta"}, {"shelf": ["cases"]}, {"before": "x"}, {"after": [1]}, {"key": 5}, {"group": 7}],
    ids=str,
)
def test_a_change_of_another_shape_is_refused_and_passed_over(engine: MemoryEngine, flaw: dict[str, object]) -> None:
    filled(engine)
    lines = [json.loads(line) for line in b"".join(engine.transfer.export(ANA)).splitlines()]
    for line in lines:
        if line["type"] == "change":
            line["value"].update(flaw)
    other = opened()
    plan = other.transfer.plan_import("\n".join(map(json.dumps, lines)))
    changes = [row for row in plan.rows if row.kind == "change" or row.status == "invalid"]
    assert {row.status for row in changes} == {"invalid"}
    assert all(row.reason.startswith(("it is no change of this program", "it is of a book")) for row in changes)
    if flaw != {"shelf": "meta"}:
        known = engine.history(ANA)[0]
        item = engine.adapter.get([(("__mnemoscope__", "journal", *ANA), known.id)])[0]
        assert item is not None
        engine.adapter.write([Write(item.namespace, item.key, {**item.value, **flaw})])
        assert known.id not in [change.id for change in engine.history(ANA)]


@pytest.mark.parametrize("rule", CONFLICT_RULES)
def test_what_was_erased_for_good_comes_back_by_no_rule_but_by_name(engine: MemoryEngine, rule: Any) -> None:
    engine.remember_facts(facts("likes tea", "has a dog"), ANA)
    gone, kept = engine.list(ANA)
    exported = b"".join(engine.transfer.export(ANA))
    engine.curation.erase(ANA, gone.key, confirm="memories/ana", actor="mia")
    plan = engine.transfer.plan_import(exported, conflicts=rule)
    (row,) = [each for each in plan.rows if each.status == "erased"]
    assert row.ref == (ANA, gone.key)
    assert "erased for good here on" in row.reason
    assert "by mia" in row.reason
    assert not row.is_written
    engine.transfer.apply_import(plan)
    assert [each.key for each in engine.list(ANA)] == [kept.key]
    wanted = engine.transfer.plan_import(exported, conflicts=rule, erased=[(ANA, gone.key)])
    engine.transfer.apply_import(wanted)
    assert {each.key for each in engine.list(ANA)} == {gone.key, kept.key}


def test_the_tombstone_of_what_was_erased_stays_out_too(engine: MemoryEngine) -> None:
    engine.remember_facts(facts("likes tea"), ANA)
    key = engine.list(ANA)[0].key
    engine.forget(ANA, key=key)
    exported = b"".join(engine.transfer.export(ANA))
    engine.curation.erase(ANA, key, confirm="memories/ana")
    plan = engine.transfer.plan_import(exported, conflicts="overwrite")
    engine.transfer.apply_import(plan)
    assert engine.curation.trash(ANA) == []
