from .measure import MATCH_FROM as MATCH_FROM
from .measure import CaseResult as CaseResult
from .measure import Match as Match
from .measure import ReplayCase as ReplayCase
from .measure import ReplayReport as ReplayReport
from .measure import aevaluate as aevaluate
from .measure import case_of as case_of
from .measure import evaluate as evaluate
from .measure import matched as matched
from .setups import ReplaySetup as ReplaySetup
from .setups import memories_at as memories_at
from .setups import read_setup as read_setup
from .setups import scratch_engine as scratch_engine

__all__ = [
    "MATCH_FROM",
    "CaseResult",
    "Match",
    "ReplayCase",
    "ReplayReport",
    "ReplaySetup",
    "aevaluate",
    "case_of",
    "evaluate",
    "matched",
    "memories_at",
    "read_setup",
    "scratch_engine",
]
