from __future__ import annotations

import logging
import re

import pytest
from mnemoscope.errors import LOG_TEXT
from streamlit.testing.v1 import AppTest


def broken_script() -> None:
    from app.shell import failures

    failures.report(ValueError("what only the log may hold"))


def refused_script() -> None:
    from mnemoscope import StoreUnavailableError

    from app.shell import failures

    failures.report(StoreUnavailableError("The file **m.sqlite** is locked; close the other program."))


def test_an_unexpected_error_shows_an_id_and_logs_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="mnemoscope"):
        shown = AppTest.from_function(broken_script).run(timeout=20).error[0].value
    error_id = re.search(r"`([0-9a-f]{8})`", shown)
    assert error_id is not None
    assert "what only the log may hold" not in shown
    assert error_id.group(1) in caplog.text
    assert "builtins.ValueError, raised at" in caplog.text
    assert "what only the log may hold" not in caplog.text


def test_the_log_says_what_went_wrong_where_somebody_asks_for_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOG_TEXT, "1")
    with caplog.at_level(logging.ERROR, logger="mnemoscope"):
        AppTest.from_function(broken_script).run(timeout=20)
    assert "what only the log may hold" in caplog.text


def test_an_error_with_a_way_out_is_shown_in_its_own_words_as_plain_text() -> None:
    page = AppTest.from_function(refused_script).run(timeout=20)
    assert "The store did not answer" in page.error[0].value
    assert page.code[0].value == "The file **m.sqlite** is locked; close the other program."


@pytest.mark.parametrize("script", [broken_script, refused_script])
def test_a_failing_page_never_shows_a_traceback(script: object) -> None:
    page = AppTest.from_function(script).run(timeout=20)  # type: ignore[arg-type]
    assert not page.exception
