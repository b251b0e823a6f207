from __future__ import annotations

import pytest
from mnemoscope import ConfigurationError
from mnemoscope.core import MASK, expand, has_literal_secret, masked, scrub, secrets_in


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ana:hunter2@db/memories", "postgresql://ana:***@db/memories"),
        ("postgresql://ana:p@ss/w:rd@db/memories", "postgresql://ana:***@db/memories"),
        ("postgresql://ana:${PASSWORD}@db/memories", "postgresql://ana:${PASSWORD}@db/memories"),
        ("postgresql://ana:x${PASSWORD}@db/memories", "postgresql://ana:***@db/memories"),
        ("postgresql://ana@db/memories", "postgresql://ana@db/memories"),
        ("postgresql://db/m?user=ana&password=hunter2", "postgresql://db/m?user=ana&password=***"),
        ("postgresql://db/m?sslpassword=hunter2#x", "postgresql://db/m?sslpassword=***#x"),
        ("langgraph://host:2024?api_key=hunter2", "langgraph://host:2024?api_key=***"),
        ("sqlite:///C:/a@b.sqlite", "sqlite:///C:/a@b.sqlite"),
        ("python:pkg.module:factory", "python:pkg.module:factory"),
        ("memory:", "memory:"),
    ],
)
def test_secrets_are_masked_and_placeholders_are_shown(address: str, shown: str) -> None:
    assert masked(address) == shown
    assert "hunter2" not in masked(address)
    assert has_literal_secret(address) == (address != shown)


def test_a_password_is_encoded_for_its_place_in_an_address() -> None:
    filled = expand("postgresql://ana:${P}@${HOST}/m?sslpassword=${P}", {"P": "a/b@c d", "HOST": "db:5432"}, what="it")
    assert filled == "postgresql://ana:a%2Fb%40c%20d@db:5432/m?sslpassword=a%2Fb%40c%20d"


def test_an_address_that_is_a_variable_is_taken_as_it_is() -> None:
    assert (
        expand("${DATABASE_URL}", {"DATABASE_URL": "postgresql://u:p%40@h/d"}, what="it") == "postgresql://u:p%40@h/d"
    )


@pytest.mark.parametrize("environment", [{}, {"P": ""}])
def test_a_variable_that_is_not_set_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="the environment variable P is not set"):
        expand("postgresql://ana:${P}@db/m", environment, what="The url")


def test_what_is_no_variable_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no variable's name"):
        expand("${not a name}", {}, what="The url")


def test_secrets_are_found_as_they_are_written_and_as_they_are_meant() -> None:
    found = secrets_in("postgresql://ana:a%2Fb@db/m?password=c%20d&user=ana")
    assert {"a%2Fb", "a/b", "c d"} <= set(found)
    assert "ana" not in found


def test_scrubbing_takes_the_longest_secret_first() -> None:
    assert scrub("hunter22 and hunter2", ["hunter2", "hunter22", ""]) == f"{MASK} and {MASK}"
