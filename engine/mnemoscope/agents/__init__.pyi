from .managers import aplan_without_store as aplan_without_store
from .multi_query import MOST_QUERIES as MOST_QUERIES
from .nodes import cache_key as cache_key
from .scopes import NamespaceKey as NamespaceKey
from .scopes import SharedNamespaceWarning as SharedNamespaceWarning
from .user_profiles import patched_fields as patched_fields

__all__ = [
    "MOST_QUERIES",
    "NamespaceKey",
    "SharedNamespaceWarning",
    "aplan_without_store",
    "cache_key",
    "patched_fields",
]
