from .active import Known as Known
from .bundled import BundledEmbeddings as BundledEmbeddings
from .hashing import HashingEmbeddings as HashingEmbeddings
from .identity import IDENTITY_AT as IDENTITY_AT
from .identity import EmbedderIdentity as EmbedderIdentity
from .identity import indexed_text as indexed_text
from .identity import mismatch as mismatch
from .identity import present_identity as present_identity
from .identity import stored_identity as stored_identity
from .named import identity_of as identity_of
from .named import load_embeddings as load_embeddings
from .wordpiece import WordPiece as WordPiece

__all__ = [
    "IDENTITY_AT",
    "BundledEmbeddings",
    "EmbedderIdentity",
    "HashingEmbeddings",
    "Known",
    "WordPiece",
    "identity_of",
    "indexed_text",
    "load_embeddings",
    "mismatch",
    "present_identity",
    "stored_identity",
]
