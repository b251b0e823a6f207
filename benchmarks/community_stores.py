"""The store contract on community stores, through the official interface alone: what each of them passes.

    pip install -e '.[app,postgres,test]' -r benchmarks/community_requirements.txt
    python benchmarks/community_stores.py [postgres] [dynamodb]

PostgreSQL with pgvector is started by the tests; DynamoDB is `moto`, without vectors, which says nothing of the real
service.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

import store_skips  # noqa: E402
import stores_fixture  # noqa: E402
from langgraph.store.base import BaseStore  # noqa: E402
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor  # noqa: E402
from mnemoscope.stores import GenericAdapter, adapt  # noqa: E402
from stores_fixture import DIMENSIONS, EMBEDDINGS, Backend, postgres_database  # noqa: E402

WORDS = [
    "tea",
    "coffee",
    "lisbon",
    "porto",
    "jazz",
    "bees",
    "honey",
    "garden",
    "book",
    "train",
    "river",
    "mountain",
    "red",
    "blue",
    "green",
    "cold",
    "warm",
]
QUERY = "tea coffee lisbon"
INDEX: Any = {"dims": DIMENSIONS, "embed": EMBEDDINGS, "fields": ["content"]}
_NEEDS_VECTORS = "it is run without vectors here"
VECTORS = (
    "test_the_store_itself_finds_what_was_written",
    "test_keep_leaves_the_vector",
    "test_a_new_vector_replaces_the_old_one",
    "test_no_vectors_clears_those_that_were",
    "test_vectors_of_fields_that_are_gone_go_too",
    "test_a_deleted_vector_does_not_come_back",
    "test_a_vector_the_store_left_behind_does_not_come_back",
    "test_the_last_write_to_a_place_wins",
    "test_equal_texts_in_one_batch_are_each_embedded",
    "test_a_store_whose_vectors_cannot_be_read_embeds_by_itself",
    "test_search_fills_its_limit_and_puts_items_without_a_vector_last",
    "test_an_item_with_many_near_vectors_hides_no_other",
    "test_several_searches_at_once_are_as_one_by_one",
)
"""Tests that a store without an index cannot pass."""


def backend_of(store: BaseStore) -> Backend:
    """The store as the suite looks at it: behind it there is only the store itself."""

    def rows() -> list[Any]:
        found = store.search((), limit=100_000)
        return sorted((item.namespace, item.key, repr(item.value), item.created_at, item.updated_at) for item in found)

    return Backend(adapt(store), store, rows)


@contextmanager
def opened_postgres(_folder: Path) -> Iterator[Backend]:
    """`langgraph-store-postgres` on the embedded server."""
    from langgraph_store_postgres import PostgresStore

    url = postgres_database("community").replace("postgresql://", "postgresql+psycopg://")
    store = PostgresStore(url, index=INDEX)
    yield backend_of(store)
    store._engine.dispose()


@contextmanager
def opened_dynamodb(_folder: Path) -> Iterator[Backend]:
    """`langgraph-store-dynamodb` on `moto`."""
    from langgraph_store_dynamodb import DynamoDBStore
    from moto import mock_aws

    with mock_aws():
        yield backend_of(DynamoDBStore(table_name="memories", region_name="eu-west-1"))


STORES: dict[str, Callable[[Path], Any]] = {
    "postgres": opened_postgres,
    "dynamodb": opened_dynamodb,
}
WITHOUT_VECTORS = ("dynamodb",)


class Tally:
    """Counts what passed and keeps what failed."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.failed: dict[str, Counter[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one outcome."""
        name = next((name for name in STORES if f"[community-{name}" in report.nodeid), None)
        if name is None or (report.when != "call" and report.outcome == "passed"):
            return
        self.counts.setdefault(name, Counter())[report.outcome] += 1
        if report.outcome == "failed":
            test = report.nodeid.partition("::")[2].partition("[")[0].removeprefix("test_").replace("_", " ")
            said = str(report.longrepr).strip().splitlines()
            why = next((line[1:].strip() for line in said if line.startswith("E ")), "")
            self.failed.setdefault(name, Counter())[f"{test}: {why:.140}"] += 1


def beside_its_own_search(folder: Path) -> None:
    """How many of ten each finds in a namespace of 50 among 2,000 memories: the store's own search, and recall."""
    numbers = random.Random(1)
    with opened_postgres(folder) as backend:
        for at in range(2_000):
            content = " ".join(numbers.choices(WORDS, k=6))
            backend.stock.put(("memories", f"user{at % 40}"), str(at), {"content": content})
        engine = MemoryEngine(backend.stock, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        for user in ("user1", "user2", "user3"):
            its_own = backend.stock.search(("memories", user), query=QUERY, limit=10)
            ours = engine.recall(QUERY, ("memories", user), limit=10, touch=False)
            print(f"  own search {len(its_own)} of 10, recall {len(ours)} of 10, exact: {ours.exact}")
        engine.close()


def main(names: list[str]) -> None:
    """Run the suite and print what each store passed and failed."""
    for name in names:
        store_skips.ABILITIES[f"community-{name}"] = GenericAdapter.abilities
        store_skips.FAULTS[f"community-{name}"] = dict.fromkeys(
            VECTORS if name in WITHOUT_VECTORS else (), _NEEDS_VECTORS
        )
        stores_fixture.BACKENDS[f"community-{name}"] = STORES[name]
    tally = Tally()
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header", "--no-summary", "--tb=line"]
    options += ["-o", "markers=needs: see pyproject.toml\nxdist_group: of pytest-xdist", "-W", "default"]
    pytest.main([*options, "-k", "community", str(ROOT / "tests" / "stores" / "test_contract.py")], plugins=[tally])
    for name in names:
        print(f"\n{name}: {dict(tally.counts.get(name, {}))}")
        for line, count in sorted(tally.failed.get(name, {}).items()):
            print(f"  {count} x {line}")
    if "postgres" in names:
        print("\npostgres, 2,000 memories of 40 users:")
        with tempfile.TemporaryDirectory() as folder:
            beside_its_own_search(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:] or list(STORES))
