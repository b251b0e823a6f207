from .base import EMBED_AGAIN as EMBED_AGAIN
from .base import KEEP as KEEP
from .base import Abilities as Abilities
from .base import Guard as Guard
from .base import Hit as Hit
from .base import Ref as Ref
from .base import Snapshot as Snapshot
from .base import StoreAdapter as StoreAdapter
from .base import StoredItem as StoredItem
from .base import TracksChanges as TracksChanges
from .base import Vectors as Vectors
from .base import Write as Write
from .choice import adapt as adapt
from .generic import GenericAdapter as GenericAdapter
from .memory import MemoryAdapter as MemoryAdapter
from .server import ServerStore as ServerStore
from .snapshots import nearest as nearest
from .values import copy_json as copy_json
from .values import same_json as same_json
from .view import View as View
from .view import Watcher as Watcher

__all__ = [
    "EMBED_AGAIN",
    "KEEP",
    "Abilities",
    "GenericAdapter",
    "Guard",
    "Hit",
    "MemoryAdapter",
    "Ref",
    "ServerStore",
    "Snapshot",
    "StoreAdapter",
    "StoredItem",
    "TracksChanges",
    "Vectors",
    "View",
    "Watcher",
    "Write",
    "adapt",
    "copy_json",
    "nearest",
    "same_json",
]
