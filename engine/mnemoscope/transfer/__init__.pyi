from .exporting import neutral as neutral
from .exporting import unneutral as unneutral
from .formats import Fault as Fault
from .formats import read_entries as read_entries
from .importing import CONFLICT_RULES as CONFLICT_RULES
from .importing import ConflictRule as ConflictRule
from .importing import ImportPlan as ImportPlan
from .importing import ImportRow as ImportRow
from .importing import ImportStatus as ImportStatus

__all__ = [
    "CONFLICT_RULES",
    "ConflictRule",
    "Fault",
    "ImportPlan",
    "ImportRow",
    "ImportStatus",
    "neutral",
    "read_entries",
    "unneutral",
]
