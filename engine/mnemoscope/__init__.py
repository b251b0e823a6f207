"""Mnemoscope: see, explain, tune and repair what LangGraph agents remember."""

from .access import Access, Recalled
from .config import KNOBS, PRESETS, Knob, MemoryConfig
from .consolidation import LLMConsolidator
from .curation import Forgotten
from .engine import Applied, Listing, MemoryEngine
from .errors import (
    ConfigurationError,
    Conflict,
    ConflictError,
    ConversationError,
    EmbeddingError,
    FilterError,
    InputError,
    MnemoscopeError,
    ModelError,
    NamespaceError,
    NotFoundError,
    PermissionDeniedError,
    StoreError,
    StoreUnavailableError,
)
from .explaining import Explanation, PartStanding, Standing
from .extraction import LLMExtractor
from .facts import (
    ConsolidationDecision,
    ExtractedFact,
    ExtractedFacts,
    Extraction,
    Judgement,
    ModelCall,
    Withheld,
)
from .journal import Change, Tombstone
from .messages import Message
from .plans import Plan, PlannedChange, PlannedFact
from .recall import Dropped, MemoryMatch, RecallResult
from .records import Evidence, MemoryRecord
from .remedies import Remedy
from .rule_consolidation import RuleConsolidator
from .rules import RuleExtractor
from .scoring import ScorePart, composite_score
from .settlement import choose, edit_decision, edit_fact
from .threads import Thread, list_threads, open_checkpointer, read_thread
from .visibility import Drop

__all__ = [
    "KNOBS",
    "PRESETS",
    "Access",
    "Applied",
    "Change",
    "ConfigurationError",
    "Conflict",
    "ConflictError",
    "ConsolidationDecision",
    "ConversationError",
    "Drop",
    "Dropped",
    "EmbeddingError",
    "Evidence",
    "Explanation",
    "ExtractedFact",
    "ExtractedFacts",
    "Extraction",
    "FilterError",
    "Forgotten",
    "InputError",
    "Judgement",
    "Knob",
    "LLMConsolidator",
    "LLMExtractor",
    "Listing",
    "MemoryConfig",
    "MemoryEngine",
    "MemoryMatch",
    "MemoryRecord",
    "Message",
    "MnemoscopeError",
    "ModelCall",
    "ModelError",
    "NamespaceError",
    "NotFoundError",
    "PartStanding",
    "PermissionDeniedError",
    "Plan",
    "PlannedChange",
    "PlannedFact",
    "RecallResult",
    "Recalled",
    "Remedy",
    "RuleConsolidator",
    "RuleExtractor",
    "ScorePart",
    "Standing",
    "StoreError",
    "StoreUnavailableError",
    "Thread",
    "Tombstone",
    "Withheld",
    "choose",
    "composite_score",
    "edit_decision",
    "edit_fact",
    "list_threads",
    "open_checkpointer",
    "read_thread",
]
