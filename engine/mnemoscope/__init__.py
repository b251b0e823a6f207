"""Mnemoscope: see, explain, tune and repair what LangGraph agents remember."""

from .access import Access, Recalled
from .adoption import Adoption, AdoptionPlan, Unadoptable
from .background import Background
from .config import KNOBS, PRESETS, Knob, MemoryConfig
from .consolidation import LLMConsolidator
from .curation import Forgotten
from .engine import Applied, Listing, MemoryEngine
from .erasure import ErasureReceipt
from .errors import (
    CancelledWorkError,
    ConfigurationError,
    Conflict,
    ConflictError,
    ConversationError,
    EmbedderMismatchError,
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
from .findings import Finding, Proposal
from .importing import ImportPlan, ImportRow
from .jobs import Job
from .journal import Change, Tombstone
from .managers import aplan_without_store, plan_without_store
from .messages import Message
from .plans import Plan, PlannedChange, PlannedFact
from .prompt_book import PromptBook, PromptUse, PromptVersion
from .queue_file import read_jobs
from .recall import Dropped, MemoryMatch, RecallResult
from .records import Evidence, MemoryRecord
from .reembed_state import ReembedState
from .rejections import Rejection
from .remedies import Remedy
from .retention import Outlived, RetentionPlan, RetentionRule
from .rule_consolidation import RuleConsolidator
from .rules import RuleExtractor
from .runs import Run, RunFact
from .scoring import ScorePart, composite_score
from .searching import MultiRecall
from .settlement import choose, edit_decision, edit_fact
from .survey import Criteria, Survey
from .templates import MissingNamespaceError, NamespaceTemplate, SharedNamespaceWarning
from .text_hints import TextHint
from .threads import Thread, list_threads, open_checkpointer, read_thread
from .tracing import ForgottenConversation
from .trimming import Trimmed
from .undoing import TakenBack, UndoPlan
from .visibility import Drop
from .watching import Watch
from .worklists import WORKLISTS, Worklist

__all__ = [
    "KNOBS",
    "PRESETS",
    "WORKLISTS",
    "Access",
    "Adoption",
    "AdoptionPlan",
    "Applied",
    "Background",
    "CancelledWorkError",
    "Change",
    "ConfigurationError",
    "Conflict",
    "ConflictError",
    "ConsolidationDecision",
    "ConversationError",
    "Criteria",
    "Drop",
    "Dropped",
    "EmbedderMismatchError",
    "EmbeddingError",
    "ErasureReceipt",
    "Evidence",
    "Explanation",
    "ExtractedFact",
    "ExtractedFacts",
    "Extraction",
    "FilterError",
    "Finding",
    "Forgotten",
    "ForgottenConversation",
    "ImportPlan",
    "ImportRow",
    "InputError",
    "Job",
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
    "MissingNamespaceError",
    "MnemoscopeError",
    "ModelCall",
    "ModelError",
    "MultiRecall",
    "NamespaceError",
    "NamespaceTemplate",
    "NotFoundError",
    "Outlived",
    "PartStanding",
    "PermissionDeniedError",
    "Plan",
    "PlannedChange",
    "PlannedFact",
    "PromptBook",
    "PromptUse",
    "PromptVersion",
    "Proposal",
    "RecallResult",
    "Recalled",
    "ReembedState",
    "Rejection",
    "Remedy",
    "RetentionPlan",
    "RetentionRule",
    "RuleConsolidator",
    "RuleExtractor",
    "Run",
    "RunFact",
    "ScorePart",
    "SharedNamespaceWarning",
    "Standing",
    "StoreError",
    "StoreUnavailableError",
    "Survey",
    "TakenBack",
    "TextHint",
    "Thread",
    "Tombstone",
    "Trimmed",
    "Unadoptable",
    "UndoPlan",
    "Watch",
    "Withheld",
    "Worklist",
    "aplan_without_store",
    "choose",
    "composite_score",
    "edit_decision",
    "edit_fact",
    "list_threads",
    "open_checkpointer",
    "plan_without_store",
    "read_jobs",
    "read_thread",
]
