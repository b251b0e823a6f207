from .metrics import DEFAULT_METRICS as DEFAULT_METRICS
from .metrics import Interval as Interval
from .metrics import Places as Places
from .metrics import interval as interval
from .metrics import measure as measure
from .metrics import metric_help as metric_help
from .metrics import read_metric as read_metric
from .recall import CaseChange as CaseChange
from .recall import Comparison as Comparison
from .recall import Evaluation as Evaluation
from .recall import Judged as Judged
from .recall import collect as collect
from .recall import compare as compare
from .recall import evaluate as evaluate
from .tuning import FEWEST_CASES as FEWEST_CASES
from .tuning import GRID as GRID
from .tuning import MIN_SCORES as MIN_SCORES
from .tuning import Floor as Floor
from .tuning import PlateauPoint as PlateauPoint
from .tuning import WeightSearch as WeightSearch
from .tuning import floors as floors
from .tuning import halves as halves
from .tuning import search as search

__all__ = [
    "DEFAULT_METRICS",
    "FEWEST_CASES",
    "GRID",
    "MIN_SCORES",
    "CaseChange",
    "Comparison",
    "Evaluation",
    "Floor",
    "Interval",
    "Judged",
    "Places",
    "PlateauPoint",
    "WeightSearch",
    "collect",
    "compare",
    "evaluate",
    "floors",
    "halves",
    "interval",
    "measure",
    "metric_help",
    "read_metric",
    "search",
]
