from .job import MADE_WHILE_WAITING as MADE_WHILE_WAITING
from .job import Pace as Pace
from .job import ReembedJob as ReembedJob
from .state import LEASE as LEASE
from .state import REEMBEDDING_AT as REEMBEDDING_AT
from .state import ReembedState as ReembedState
from .state import worker_name as worker_name

__all__ = ["LEASE", "MADE_WHILE_WAITING", "REEMBEDDING_AT", "Pace", "ReembedJob", "ReembedState", "worker_name"]
