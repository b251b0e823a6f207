from .access import RECENT as RECENT
from .access import Access as Access
from .access import AccessLog as AccessLog
from .access import AskedQuery as AskedQuery
from .access import Recalled as Recalled
from .changes import ACTIONS as ACTIONS
from .changes import Edit as Edit
from .changes import Tombstone as Tombstone
from .changes import book as book
from .undo import TakenBack as TakenBack
from .undo import UndoPlan as UndoPlan

__all__ = [
    "ACTIONS",
    "RECENT",
    "Access",
    "AccessLog",
    "AskedQuery",
    "Edit",
    "Recalled",
    "TakenBack",
    "Tombstone",
    "UndoPlan",
    "book",
]
