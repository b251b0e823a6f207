from .answers import ListForm as ListForm
from .client import CALLS_A_QUESTION as CALLS_A_QUESTION
from .client import Answer as Answer
from .client import Asker as Asker
from .client import load_model as load_model
from .client import prompt_text as prompt_text
from .client import prompt_version as prompt_version
from .prompts import PURPOSES as PURPOSES
from .prompts import PromptBook as PromptBook
from .prompts import PromptVersion as PromptVersion
from .prompts import Purpose as Purpose

__all__ = [
    "CALLS_A_QUESTION",
    "PURPOSES",
    "Answer",
    "Asker",
    "ListForm",
    "PromptBook",
    "PromptVersion",
    "Purpose",
    "load_model",
    "prompt_text",
    "prompt_version",
]
