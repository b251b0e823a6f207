from .findings import Finding as Finding
from .findings import Proposal as Proposal
from .findings import ProposalKind as ProposalKind
from .findings import Rejection as Rejection
from .junk import junk_reason as junk_reason
from .scripts import script_of as script_of
from .survey import Criteria as Criteria
from .survey import Survey as Survey
from .worklists import WORKLISTS as WORKLISTS

__all__ = [
    "WORKLISTS",
    "Criteria",
    "Finding",
    "Proposal",
    "ProposalKind",
    "Rejection",
    "Survey",
    "junk_reason",
    "script_of",
]
