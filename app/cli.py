"""The `mnemoscope` command's entry point: makes `app` importable, then hands over to `app.shell.command`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run the command line."""
    root = str(Path(__file__).resolve().parent.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        from app.shell.command import mnemoscope
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("app", "mnemoscope"):
            raise
        print(
            f"The command needs a package that is missing ({error.name}): pip install 'mnemoscope[app]'",
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    mnemoscope(prog_name="mnemoscope")
