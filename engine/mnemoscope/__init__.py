"""Mnemoscope: see, explain, tune and repair what LangGraph agents remember."""

from .agents.managers import aplan_without_store, plan_without_store
from .agents.multi_query import MultiRecall
from .agents.scopes import MissingNamespaceError, NamespaceTemplate, SharedNamespaceWarning
from .background.jobs import Job
from .background.queue_file import read_jobs
from .background.workers import Background
from .config import KNOBS, PRESETS, Knob, MemoryConfig
from .consolidation.apply import Applied
from .consolidation.decisions import choose, edit_decision, edit_fact
from .consolidation.llm_consolidator import LLMConsolidator
from .consolidation.plan import Plan, PlannedChange, PlannedFact
from .consolidation.runs import Run, RunFact
from .conversations.checkpoints import Thread, list_threads, open_checkpointer, read_thread
from .conversations.messages import Message
from .core.progress import Watch
from .core.records import Evidence, MemoryRecord
from .curation.adoption import Adoption, AdoptionPlan, TextHint, Unadoptable
from .curation.edits import Forgotten
from .curation.erasure import ErasureReceipt
from .curation.retention import Outlived, RetentionPlan, RetentionRule
from .engine.facade import MemoryEngine
from .engine.reading import Listing
from .engine.tracing import ForgottenConversation
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
    ModelCall,
    ModelError,
    NamespaceError,
    NotFoundError,
    PermissionDeniedError,
    StoreError,
    StoreUnavailableError,
)
from .extraction.facts import ConsolidationDecision, ExtractedFact, ExtractedFacts, Extraction, Judgement, Withheld
from .extraction.llm import LLMExtractor
from .extraction.rules.consolidator import RuleConsolidator
from .extraction.rules.extractor import RuleExtractor
from .index.visibility import Drop
from .journal.changes import Change, Tombstone
from .journal.trimming import Trimmed
from .journal.undo import TakenBack, UndoPlan
from .models.prompts import PromptBook, PromptUse, PromptVersion
from .recall.access import Access, Recalled
from .recall.explanation import Explanation, PartStanding, Standing
from .recall.remedies import Remedy
from .recall.result import Dropped, MemoryMatch, RecallResult
from .recall.scoring import ScorePart, composite_score
from .reembedding.state import ReembedState
from .transfer.importing import ImportPlan, ImportRow
from .worklists.findings import Finding, Proposal, Rejection
from .worklists.survey import Criteria, Survey
from .worklists.worklists import WORKLISTS, Worklist

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
