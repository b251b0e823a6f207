from .facts import Extraction as Extraction
from .facts import Judgement as Judgement
from .facts import Similar as Similar
from .facts import Withheld as Withheld
from .proposals import MOST_FACTS as MOST_FACTS
from .proposals import REASONS as REASONS
from .rules.consolidator import compare as compare
from .rules.voice import in_third_person as in_third_person
from .sensitive import sensitive_parts as sensitive_parts
from .sentences import read_prose as read_prose

__all__ = [
    "MOST_FACTS",
    "REASONS",
    "Extraction",
    "Judgement",
    "Similar",
    "Withheld",
    "compare",
    "in_third_person",
    "read_prose",
    "sensitive_parts",
]
