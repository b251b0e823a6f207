from .checkup import check_backend as check_backend
from .checkup import check_up as check_up
from .leaks import check_leaks as check_leaks
from .leftovers import check_phantoms as check_phantoms
from .report import LARGEST as LARGEST
from .report import Kinds as Kinds
from .report import health_checks as health_checks
from .report import kinds_of as kinds_of
from .steps import STEPS as STEPS
from .steps import Check as Check
from .steps import State as State

__all__ = [
    "LARGEST",
    "STEPS",
    "Check",
    "Kinds",
    "State",
    "check_backend",
    "check_leaks",
    "check_phantoms",
    "check_up",
    "health_checks",
    "kinds_of",
]
