from .adoption import ADOPTED as ADOPTED
from .adoption import Adoption as Adoption
from .adoption import AdoptionPlan as AdoptionPlan
from .adoption import TextHint as TextHint
from .adoption import Writer as Writer
from .adoption import text_hints as text_hints
from .erasure import ErasureReceipt as ErasureReceipt
from .retention import RetentionPlan as RetentionPlan
from .retention import RetentionRule as RetentionRule
from .tracing import ForgottenConversation as ForgottenConversation

__all__ = [
    "ADOPTED",
    "Adoption",
    "AdoptionPlan",
    "ErasureReceipt",
    "ForgottenConversation",
    "RetentionPlan",
    "RetentionRule",
    "TextHint",
    "Writer",
    "text_hints",
]
