from .cases import Case as Case
from .cases import CaseBook as CaseBook
from .cases import case as case
from .cases import cases_to_jsonl as cases_to_jsonl
from .cases import read_cases as read_cases
from .explanation import Standing as Standing
from .explanation import explain as explain
from .explanation import locate as locate
from .feedback import Feedback as Feedback
from .profiles import Profile as Profile
from .profiles import ProfileBook as ProfileBook
from .profiles import profile_to_python as profile_to_python
from .profiles import profile_to_toml as profile_to_toml
from .ranking import Candidates as Candidates
from .ranking import rank as rank
from .remedies import Remedy as Remedy
from .remedies import place_of as place_of
from .remedies import remedies_for as remedies_for
from .rendering import PREAMBLE as PREAMBLE
from .rendering import UNREADABLE as UNREADABLE
from .rendering import node_text as node_text
from .rendering import tool_text as tool_text
from .result import widen as widen
from .scoring import PARTS as PARTS
from .scoring import SECONDS_PER_DAY as SECONDS_PER_DAY
from .scoring import contributions as contributions
from .scoring import decay as decay
from .scoring import parts_of as parts_of
from .scoring import reasons_of as reasons_of
from .token_budget import prompt_line as prompt_line
from .token_budget import tokens_of as tokens_of

__all__ = [
    "PARTS",
    "PREAMBLE",
    "SECONDS_PER_DAY",
    "UNREADABLE",
    "Candidates",
    "Case",
    "CaseBook",
    "Feedback",
    "Profile",
    "ProfileBook",
    "Remedy",
    "Standing",
    "case",
    "cases_to_jsonl",
    "contributions",
    "decay",
    "explain",
    "locate",
    "node_text",
    "parts_of",
    "place_of",
    "profile_to_python",
    "profile_to_toml",
    "prompt_line",
    "rank",
    "read_cases",
    "reasons_of",
    "remedies_for",
    "tokens_of",
    "tool_text",
    "widen",
]
