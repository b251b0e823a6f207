from .execution import Step as Step
from .execution import Steps as Steps
from .execution import arun as arun
from .execution import on_thread as on_thread
from .execution import run as run
from .filters import OPERATORS as OPERATORS
from .filters import compile_filter as compile_filter
from .locks import Locks as Locks
from .locks import locks_of as locks_of
from .namespaces import Namespace as Namespace
from .namespaces import NamespaceLike as NamespaceLike
from .namespaces import Scope as Scope
from .namespaces import decode_label as decode_label
from .namespaces import encode_label as encode_label
from .namespaces import is_reserved as is_reserved
from .namespaces import is_within as is_within
from .namespaces import read_namespace as read_namespace
from .namespaces import read_prefix as read_prefix
from .namespaces import show_namespace as show_namespace
from .payloads import text_of as text_of
from .payloads import with_text as with_text
from .progress import Watch as Watch
from .records import rewritten as rewritten
from .secrets import MASK as MASK
from .secrets import expand as expand
from .secrets import has_literal_secret as has_literal_secret
from .secrets import masked as masked
from .secrets import scrub as scrub
from .secrets import secrets_in as secrets_in
from .text import normalise as normalise
from .text import shown as shown
from .text import storable as storable
from .times import Clock as Clock
from .times import from_iso as from_iso
from .times import utc_now as utc_now
from .tokenizer import tokenise as tokenise

__all__ = [
    "MASK",
    "OPERATORS",
    "Clock",
    "Locks",
    "Namespace",
    "NamespaceLike",
    "Scope",
    "Step",
    "Steps",
    "Watch",
    "arun",
    "compile_filter",
    "decode_label",
    "encode_label",
    "expand",
    "from_iso",
    "has_literal_secret",
    "is_reserved",
    "is_within",
    "locks_of",
    "masked",
    "normalise",
    "on_thread",
    "read_namespace",
    "read_prefix",
    "rewritten",
    "run",
    "scrub",
    "secrets_in",
    "show_namespace",
    "shown",
    "storable",
    "text_of",
    "tokenise",
    "utc_now",
    "with_text",
]
