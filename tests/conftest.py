"""What every test may use: a seeded engine, and the dashboard over it as an `AppTest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
MAIN = ROOT / "app" / "main.py"


@pytest.fixture
def dashboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """A function that opens a page of the dashboard over an engine and runs it once.

    `dashboard(engine, "browse", query={"ns": ["memories", "ana"]}, writing=True)` gives the `AppTest`; `state`
    seeds the session state before that first run (a table's selection, say). The engine takes the place of
    `app.session.memory_engine`. Without an engine the real one is opened, as the environment says.
    """
    from app import session
    from app.session import OPERATOR_KEY, WRITING_KEY

    def open_page(
        engine: Any = None,
        page: str = "overview",
        *,
        query: dict[str, str | list[str]] | None = None,
        writing: bool = False,
        state: dict[str, Any] | None = None,
    ) -> AppTest:
        if engine is not None:
            monkeypatch.setattr(session, "memory_engine", lambda _store, _model: engine)
        test = AppTest.from_file(str(MAIN), default_timeout=30)
        for name, value in (query or {}).items():
            test.query_params[name] = value
        for name, value in {OPERATOR_KEY: "tester", WRITING_KEY: writing, **(state or {})}.items():
            test.session_state[name] = value
        if page != "overview":
            test.switch_page(str(ROOT / "pages" / f"{page}.py"))
        return test.run()

    monkeypatch.setenv("MNEMOSCOPE_OPERATOR", "tester")
    _clear_caches()
    yield open_page
    _clear_caches()


def _clear_caches() -> None:
    st.cache_data.clear()
    st.cache_resource.clear()
