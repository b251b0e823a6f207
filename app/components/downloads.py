"""Files that a page offers: their names, and how they are made once they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mnemoscope.core import utc_now

from app.session.scope import Scope


def make_later(make: Callable[[], Iterator[bytes]]) -> Callable[[], bytes]:
    """What makes the file when it is asked for; Streamlit holds it in memory until it is fetched."""
    return lambda: b"".join(make())


def name_file(here: Scope, ending: str, what: str = "memories") -> str:
    """A name that says what, of which scope, and of which day."""
    letters = "-".join([what, *here.namespace[:4]])
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_") else "-" for each in letters)
    return f"{plain[:80]}-{utc_now():%Y-%m-%d}.{ending}"
