"""`MemoryConfig`: every number that shapes scoring, consolidation and recall, declared once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from .core.text import shown
from .errors import ConfigurationError

__all__ = ["KNOBS", "PRESETS", "Knob", "MemoryConfig"]


@dataclass(frozen=True)
class Knob:
    """One setting: its default, the range that is allowed (both ends included), and what it does."""

    name: str
    default: float | int | bool
    low: float
    high: float
    help: str


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob("semantic_weight", 0.5, 0.0, 1.0, "How much similarity to the query counts."),
        Knob("recency_weight", 0.3, 0.0, 1.0, "How much a recent change counts."),
        Knob("importance_weight", 0.2, 0.0, 1.0, "How much a memory's importance counts."),
        Knob("recency_half_life_days", 30.0, 1e-6, 1e6, "Days after which recency has halved."),
        Knob("lexical_weight", 0.0, 0.0, 1.0, "Share of BM25 in the similarity; 0 is cosine alone."),
        Knob("min_score", 0.0, 0.0, 1.0, "The least score of what a recall returns."),
        Knob("min_similarity", 0.0, 0.0, 1.0, "The least similarity of what a recall returns; 0 is off."),
        Knob(
            "consolidation_threshold",
            0.85,
            0.0,
            1.0,
            "Similarity from which a new fact is judged against a memory; 1 is off.",
        ),
        Knob("consolidation_limit", 5, 1, 100, "How many similar memories the judge sees for one fact."),
        Knob(
            "recall_oversample",
            3,
            1,
            1000,
            "First widening of a search where a store's vectors cannot be read.",
        ),
        Knob("default_importance", 0.5, 0.0, 1.0, "Importance of a memory that states none."),
        Knob("touch_on_recall", True, 0, 1, "Whether a recall is noted in the memory's access history."),
        Knob("suppress_for_days", 36_500.0, 0.0, 36_500.0, "Days for which facts like a forgotten one are suppressed."),
        Knob(
            "history_days",
            36_500.0,
            0.0,
            36_500.0,
            "Days of history that trim_history keeps when it is called.",
        ),
        Knob("keep_transcripts", True, 0, 1, "Whether the turns that memories came from are kept with their run."),
        Knob(
            "transcript_days",
            36_500.0,
            0.0,
            36_500.0,
            "Days for which trim_transcripts keeps the turns of runs when it is called.",
        ),
    )
}


def _knob(name: str) -> Any:
    return field(default=KNOBS[name].default, metadata={"help": KNOBS[name].help})


@dataclass(frozen=True)
class MemoryConfig:
    """Weights, half-life and thresholds; frozen, and checked when made.

    `score = semantic_weight·similarity + recency_weight·0.5^(age_days/recency_half_life_days)
    + importance_weight·importance`, the formula of CrewAI's unified memory and of `langgraph-memory`.
    Weights are used as given and need not sum to 1, but one of them must be above 0.

    Raises:
        ConfigurationError: a field is not a finite number within the range of its `KNOBS` row.
    """

    semantic_weight: float = _knob("semantic_weight")
    recency_weight: float = _knob("recency_weight")
    importance_weight: float = _knob("importance_weight")
    recency_half_life_days: float = _knob("recency_half_life_days")
    consolidation_threshold: float = _knob("consolidation_threshold")
    consolidation_limit: int = _knob("consolidation_limit")
    recall_oversample: int = _knob("recall_oversample")
    default_importance: float = _knob("default_importance")
    touch_on_recall: bool = _knob("touch_on_recall")
    lexical_weight: float = _knob("lexical_weight")
    min_score: float = _knob("min_score")
    min_similarity: float = _knob("min_similarity")
    suppress_for_days: float = _knob("suppress_for_days")
    history_days: float = _knob("history_days")
    keep_transcripts: bool = _knob("keep_transcripts")
    transcript_days: float = _knob("transcript_days")

    def __post_init__(self) -> None:
        for spec in fields(self):
            _check(KNOBS[spec.name], getattr(self, spec.name))
        if self.semantic_weight + self.recency_weight + self.importance_weight == 0:
            raise ConfigurationError(
                "MemoryConfig: semantic_weight, recency_weight and importance_weight are all 0, "
                "so nothing could be ranked; set at least one above 0."
            )


def _check(knob: Knob, value: object) -> None:
    what = f"MemoryConfig.{knob.name}"
    if isinstance(knob.default, bool):
        if not isinstance(value, bool):
            raise ConfigurationError(f"{what} must be True or False, got {shown(value)}.")
        return
    whole = isinstance(knob.default, int)
    allowed = f"{'a whole number' if whole else 'a number'} from {knob.low:g} to {knob.high:g}"
    number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not number or not knob.low <= value <= knob.high:  # type: ignore[operator]
        raise ConfigurationError(f"{what} must be {allowed}, got {shown(value)}.")


PRESETS: dict[str, MemoryConfig] = {
    "classic": MemoryConfig(),
    # On LoCoMo: nDCG@10 of .56 on turns and .67 on facts, against .09 and .17 of the classic formula.
    "precise": MemoryConfig(
        semantic_weight=0.85,
        recency_weight=0.05,
        importance_weight=0.1,
        recency_half_life_days=365.0,
        lexical_weight=0.4,
    ),
    # Rules read words and cost nothing, while a corrected fact can be far from what it corrects.
    "rules": MemoryConfig(consolidation_threshold=0.25, consolidation_limit=20),
}
"""Named configurations.

"classic" is the published formula. "precise" finds best by measurement (`benchmarks/locomo.py`): what is meant and what
is said in the same words, with little regard to age; choose it where memories stay true for long. "rules" goes with
`RuleConsolidator`.
"""
