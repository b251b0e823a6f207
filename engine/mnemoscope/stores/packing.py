"""Vectors as text, and back: base64 of little-endian float32."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import numpy as np

from ..core.text import shown
from ..errors import InputError
from .base import Vectors

__all__ = ["packed", "unpacked"]


def packed(vectors: Vectors) -> dict[str, str]:
    """The text form, by field."""
    return {
        name: base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode("ascii")
        for name, vector in vectors.items()
    }


def unpacked(texts: Mapping[str, object]) -> Vectors:
    """The vectors of their text form.

    Raises:
        InputError: a text is not one.
    """
    return {name: _vector(text) for name, text in texts.items()}


def _vector(text: object) -> np.ndarray:
    try:
        if isinstance(text, str):
            return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except (binascii.Error, ValueError):
        pass
    raise InputError(f"A vector is the base64 text of 32-bit floats, got {shown(text)}.")
