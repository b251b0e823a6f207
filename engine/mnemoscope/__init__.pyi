from .agents.managers import plan_without_store as plan_without_store
from .agents.scopes import MissingNamespaceError as MissingNamespaceError
from .agents.scopes import NamespaceTemplate as NamespaceTemplate
from .background.workers import Background as Background
from .config import PRESETS as PRESETS
from .config import MemoryConfig as MemoryConfig
from .consolidation.llm_consolidator import LLMConsolidator as LLMConsolidator
from .consolidation.plan import Plan as Plan
from .consolidation.remember import Applied as Applied
from .conversations.messages import Message as Message
from .conversations.messages import messages_to_text as messages_to_text
from .core.records import Evidence as Evidence
from .core.records import MemoryRecord as MemoryRecord
from .curation.edits import Forgotten as Forgotten
from .engine.facade import MemoryEngine as MemoryEngine
from .errors import CancelledWorkError as CancelledWorkError
from .errors import ConfigurationError as ConfigurationError
from .errors import ConflictError as ConflictError
from .errors import ConversationError as ConversationError
from .errors import EmbedderMismatchError as EmbedderMismatchError
from .errors import EmbeddingError as EmbeddingError
from .errors import InputError as InputError
from .errors import MnemoscopeError as MnemoscopeError
from .errors import ModelError as ModelError
from .errors import NamespaceError as NamespaceError
from .errors import NotFoundError as NotFoundError
from .errors import PermissionDeniedError as PermissionDeniedError
from .errors import StoreError as StoreError
from .errors import StoreUnavailableError as StoreUnavailableError
from .extraction.facts import ConsolidationDecision as ConsolidationDecision
from .extraction.facts import Consolidator as Consolidator
from .extraction.facts import ExtractedFact as ExtractedFact
from .extraction.facts import ExtractedFacts as ExtractedFacts
from .extraction.facts import Extractor as Extractor
from .extraction.llm import LLMExtractor as LLMExtractor
from .extraction.rules.consolidator import RuleConsolidator as RuleConsolidator
from .extraction.rules.extractor import RuleExtractor as RuleExtractor
from .journal.changes import Change as Change
from .recall.explanation import Explanation as Explanation
from .recall.result import MemoryMatch as MemoryMatch
from .recall.result import RecallResult as RecallResult
from .recall.scoring import ScorePart as ScorePart
from .recall.scoring import composite_score as composite_score

__all__ = [
    "PRESETS",
    "Applied",
    "Background",
    "CancelledWorkError",
    "Change",
    "ConfigurationError",
    "ConflictError",
    "ConsolidationDecision",
    "Consolidator",
    "ConversationError",
    "EmbedderMismatchError",
    "EmbeddingError",
    "Evidence",
    "Explanation",
    "ExtractedFact",
    "ExtractedFacts",
    "Extractor",
    "Forgotten",
    "InputError",
    "LLMConsolidator",
    "LLMExtractor",
    "MemoryConfig",
    "MemoryEngine",
    "MemoryMatch",
    "MemoryRecord",
    "Message",
    "MissingNamespaceError",
    "MnemoscopeError",
    "ModelError",
    "NamespaceError",
    "NamespaceTemplate",
    "NotFoundError",
    "PermissionDeniedError",
    "Plan",
    "RecallResult",
    "RuleConsolidator",
    "RuleExtractor",
    "ScorePart",
    "StoreError",
    "StoreUnavailableError",
    "composite_score",
    "messages_to_text",
    "plan_without_store",
]
