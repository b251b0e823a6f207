"""`ReplaySetup`: one way to replay a conversation (rules or a model, prompts, settings), and scratch engines for it.

A scratch engine works on a store in memory: whatever is done with it, the store behind it stays as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from ..config import PRESETS, MemoryConfig
from ..consolidation.llm_consolidator import LLMConsolidator
from ..core.execution import run
from ..core.namespaces import Namespace, NamespaceLike, read_namespace
from ..core.records import MemoryRecord
from ..core.text import shown
from ..embedding.encode import embed_texts
from ..engine.facade import MemoryEngine
from ..errors import ConfigurationError
from ..extraction.llm import PART_CHARACTERS, LLMExtractor
from ..extraction.rules.consolidator import RuleConsolidator
from ..extraction.rules.extractor import RuleExtractor
from ..stores.base import CONTENT_FIELD, Write

__all__ = ["ReplaySetup", "memories_at", "read_setup", "scratch_engine"]


_TEXTS = ("name", "model", "embedder", "preset")
_FILES = ("extract_prompt", "consolidate_prompt")


@dataclass(frozen=True)
class ReplaySetup:
    """One way to replay. Without a model, rules extract and consolidate.

    `model` is a name or a chat model; `extractor` and `consolidator` are taken as they are instead. The prompts are
    instructions instead of those that ship with the library; `part_characters` is how much of a conversation one call
    is shown. `embedder` names what compares texts.
    """

    name: str = "rules"
    model: Any = None
    config: MemoryConfig = PRESETS["rules"]
    extract_prompt: str | None = None
    consolidate_prompt: str | None = None
    part_characters: int = PART_CHARACTERS
    embedder: str = "bundled"
    extractor: Any = None
    consolidator: Any = None

    def parts(self) -> dict[str, Any]:
        """The extractor and the consolidator, by the names that `MemoryEngine` takes them under.

        Raises:
            ConfigurationError: there is no such model.
        """
        return {"extractor": self.extractor or self._extractor(), "consolidator": self.consolidator or self._judge()}

    def _extractor(self) -> Any:
        if self.model is None:
            return RuleExtractor()
        return LLMExtractor(self.model, prompt=self.extract_prompt, part_characters=self.part_characters)

    def _judge(self) -> Any:
        return RuleConsolidator() if self.model is None else LLMConsolidator(self.model, prompt=self.consolidate_prompt)


def read_setup(path: str | Path) -> ReplaySetup:
    """The setup of a TOML file; its prompts are files named relative to it.

    Known are `name`, `model`, `embedder`, `preset`, `extract_prompt`, `consolidate_prompt`, `part_characters`, and a
    table `settings` with fields of `MemoryConfig`.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is not known.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The setup {str(path)!r} cannot be read: {error}") from error
    known = (*_TEXTS, *_FILES, "part_characters", "settings")
    for name, value in given.items():
        if name not in known:
            raise ConfigurationError(f"{file.name}: {name!r} is not known; known are {', '.join(known)}.")
        if name in (*_TEXTS, *_FILES) and not isinstance(value, str):
            raise ConfigurationError(f"{file.name}: {name} must be a text, got {shown(value)}.")
    rest: dict[str, Any] = {name: _prompt(file, given[name]) for name in _FILES if name in given}
    rest |= {name: given[name] for name in ("model", "embedder", "part_characters") if name in given}
    return ReplaySetup(name=given.get("name", file.stem), config=_config(file, given), **rest)


def scratch_engine(
    setup: ReplaySetup,
    embeddings: Embeddings,
    *,
    dimensions: int | None = None,
    records: Sequence[MemoryRecord] = (),
    vectors: Mapping[str, NDArray[np.float32]] | None = None,
) -> MemoryEngine:
    """An engine over a new store in memory that holds these memories; `vectors` are those known, by text."""
    width = dimensions or len(embeddings.embed_query(CONTENT_FIELD))
    store = InMemoryStore(index={"dims": width, "embed": embeddings, "fields": [CONTENT_FIELD]})
    engine = MemoryEngine(store, config=setup.config, actor="replay", **setup.parts())
    known = dict(vectors or {})
    missing = [each.content for each in records if each.content and each.content not in known]
    known |= run(embed_texts(engine.adapter, list(dict.fromkeys(missing)))) if missing else {}
    writes = [
        Write(
            each.namespace,
            each.key,
            each.to_value(),
            {CONTENT_FIELD: known[each.content]} if each.content in known else {},
            each.created_at,
        )
        for each in records
    ]
    if writes:
        engine.adapter.write(writes)
    return engine


def memories_at(
    engine: MemoryEngine, namespace: NamespaceLike, moment: datetime | None = None
) -> tuple[list[MemoryRecord], dict[str, NDArray[np.float32]]]:
    """The memories of a namespace, now or as they were, with the vectors that the store still has of their texts."""
    where: Namespace = read_namespace(namespace)
    index = engine.index(where)
    texts = {int(at): index.records[int(at)].content for at in index.owner}
    vectors = {texts[int(at)]: row for at, row in zip(index.owner, index.matrix, strict=True)}
    records = index.records if moment is None else engine.as_of(where, moment)
    return list(records), vectors


def _prompt(file: Path, name: str) -> str:
    try:
        return (file.parent / name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file.name}: the prompt {name!r} cannot be read: {error}") from error


def _config(file: Path, given: Mapping[str, Any]) -> MemoryConfig:
    preset = given.get("preset", "classic" if given.get("model") else "rules")
    if preset not in PRESETS:
        raise ConfigurationError(f"{file.name}: the preset {preset!r} is none of {', '.join(PRESETS)}.")
    settings = given.get("settings", {})
    known = {spec.name: getattr(PRESETS[preset], spec.name) for spec in fields(MemoryConfig)}
    unknown = [name for name in settings if name not in known] if isinstance(settings, dict) else [shown(settings)]
    if unknown:
        raise ConfigurationError(f"{file.name}: no setting {unknown[0]!r}; known are {', '.join(known)}.")
    return MemoryConfig(**{**known, **settings})
