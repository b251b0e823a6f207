"""The sample store of `mnemoscope demo`: where it lies, and how it is built."""

from __future__ import annotations

import os
from pathlib import Path

from app.session.settings import data_folder


def trial_path() -> Path:
    """Where this user's sample store lies."""
    return data_folder() / "demo.sqlite"


def ensure_trial(*, fresh: bool = False) -> Path:
    """Build the sample store unless it is there already, or in any case with `fresh`.

    It appears under its name only once it is complete.
    """
    path = trial_path()
    if path.exists() and not fresh:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name("demo.unfinished.sqlite")
    _remove(unfinished)
    _build(unfinished)
    _remove(path)
    os.replace(unfinished, path)
    return path


def _build(path: Path) -> None:
    from mnemoscope.demo import build_demo

    build_demo(path)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
