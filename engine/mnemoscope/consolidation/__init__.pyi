from .calibration import LABELS as LABELS
from .calibration import LabelBook as LabelBook
from .calibration import Pair as Pair
from .calibration import ThresholdPoint as ThresholdPoint
from .calibration import sample_pairs as sample_pairs
from .calibration import suggested as suggested
from .calibration import threshold_curve as threshold_curve
from .decisions import Settlement as Settlement
from .decisions import choose as choose
from .decisions import edit_decision as edit_decision
from .decisions import edit_fact as edit_fact
from .decisions import memory_key as memory_key
from .decisions import merged_names as merged_names
from .judging import RULES_STOOD_IN as RULES_STOOD_IN
from .plan import PlannedChange as PlannedChange
from .plan import PlannedFact as PlannedFact
from .plan import Terms as Terms
from .planner import calls_left as calls_left
from .runs import NOT_KEPT as NOT_KEPT
from .runs import Run as Run

__all__ = [
    "LABELS",
    "NOT_KEPT",
    "RULES_STOOD_IN",
    "LabelBook",
    "Pair",
    "PlannedChange",
    "PlannedFact",
    "Run",
    "Settlement",
    "Terms",
    "ThresholdPoint",
    "calls_left",
    "choose",
    "edit_decision",
    "edit_fact",
    "memory_key",
    "merged_names",
    "sample_pairs",
    "suggested",
    "threshold_curve",
]
