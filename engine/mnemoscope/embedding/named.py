"""What turns text into vectors: the bundled model, a lexical last resort, and anything LangChain knows by name."""

from __future__ import annotations

import sys
from collections.abc import Callable

from langchain_core.embeddings import Embeddings

from ..core.imports import PYTHON_PREFIX, built_by
from ..errors import ConfigurationError
from .bundled import BundledEmbeddings
from .hashing import HashingEmbeddings

__all__ = ["identity_of", "load_embeddings"]


_OURS: dict[str, Callable[[], Embeddings]] = {"bundled": BundledEmbeddings, "hashing": HashingEmbeddings}
_MODEL_ATTRIBUTES = ("model", "model_name", "model_id", "deployment")


def load_embeddings(name: str) -> Embeddings:
    """The embedder of that name: "bundled", "hashing", "python:package.module:factory" or "provider:model".

    The last is whatever `langchain.embeddings.init_embeddings` takes, such as "openai:text-embedding-3-small".

    Raises:
        ConfigurationError: there is no such embedder, or a package or setting that it needs is missing.
    """
    if name in _OURS:
        return _OURS[name]()
    if name.startswith(PYTHON_PREFIX):
        return built_by(name, Embeddings)  # type: ignore[type-abstract]
    try:
        from langchain.embeddings import init_embeddings

        embeddings: Embeddings = init_embeddings(name)
    except _refusals() as error:
        raise ConfigurationError(
            f"The embedder {name!r} cannot be used: {error}\n"
            "Name 'bundled' or 'hashing', which need no account and no network, 'python:package.module:factory', "
            "or 'provider:model' with that provider's package and key in place."
        ) from error
    return embeddings


def identity_of(embeddings: Embeddings) -> str:
    """The name under which a store remembers whose vectors it holds.

    It is the embedder's own `identity`, or else its class and the model it names.
    """
    own = getattr(embeddings, "identity", None)
    if isinstance(own, str) and own:
        return own
    models = (getattr(embeddings, attribute, None) for attribute in _MODEL_ATTRIBUTES)
    model = next((value for value in models if isinstance(value, str) and value), None)
    kind = type(embeddings).__name__
    return f"{kind}:{model}" if model else kind


def _refusals() -> tuple[type[Exception], ...]:
    # OpenAI's client reports a missing key by an error of its own, and is loaded only where it is used.
    openai = sys.modules.get("openai")
    return (ImportError, ValueError, *((openai.OpenAIError,) if openai else ()))
