from .browsing import STATES as STATES
from .browsing import Browsed as Browsed
from .browsing import Filters as Filters
from .browsing import State as State
from .browsing import browse as browse
from .budget import DEFAULT_INDEX_BYTES as DEFAULT_INDEX_BYTES
from .budget import IndexBudget as IndexBudget
from .budget import IndexMemory as IndexMemory
from .budget import process_budget as process_budget
from .budget import without_collecting as without_collecting
from .columns import Columns as Columns
from .lexical import LexicalIndex as LexicalIndex
from .scope import IndexCache as IndexCache
from .scope import ScopeIndex as ScopeIndex
from .visibility import Drop as Drop
from .visibility import Visibility as Visibility

__all__ = [
    "DEFAULT_INDEX_BYTES",
    "STATES",
    "Browsed",
    "Columns",
    "Drop",
    "Filters",
    "IndexBudget",
    "IndexCache",
    "IndexMemory",
    "LexicalIndex",
    "ScopeIndex",
    "State",
    "Visibility",
    "browse",
    "process_budget",
    "without_collecting",
]
