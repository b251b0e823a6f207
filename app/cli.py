"""The `mnemoscope` command's entry point: makes `app` importable, then hands over to `app.commands`."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    root = str(Path(__file__).resolve().parent.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    from app.commands import mnemoscope

    mnemoscope(prog_name="mnemoscope")
