"""The tables of rules: every rule does what its examples say, and a block of lines becomes the pattern it describes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from mnemoscope import RuleExtractor
from mnemoscope.extraction.patterns import Words, compile_block, load_table
from mnemoscope.extraction.rules.attributes import read_attribute
from mnemoscope.extraction.rules.tables import english_rules, language_rules, match_language

extractor = RuleExtractor()
TABLES = ("english", "languages", "attributes")


def rows(table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load_table(table)["rule"]
    return found


def examples(table: str) -> list[Any]:
    """The place of each rule, with one of its examples, split at its arrow."""
    return [
        pytest.param(at, *(part.strip() for part in f"{line} →".split("→")[:2]), id=f"{at}-{line.split(' →')[0]}")
        for at, row in enumerate(rows(table))
        for line in row["examples"].splitlines()
        if line.strip()
    ]


@pytest.mark.parametrize(("at", "said", "fact"), examples("english"))
def test_an_english_rule_gives_the_fact_of_its_example(at: int, said: str, fact: str) -> None:
    [found] = extractor(said)
    assert found.content == fact
    rule = english_rules()[at]
    assert (tuple(found.categories), found.importance) == (rule.categories, rule.importance)


@pytest.mark.parametrize(("at", "said", "value"), examples("languages"))
def test_a_rule_of_another_language_keeps_its_example_as_it_was_said(at: int, said: str, value: str) -> None:
    rule = language_rules()[at]
    matched = match_language(said)
    assert matched is not None
    assert matched[0] is rule
    [found] = extractor(said)
    assert found.content == f"{said[:1].upper()}{said[1:]}".rstrip(".。।")
    assert (tuple(found.categories), found.importance) == (rule.categories, rule.importance)
    if rule.attribute is not None:
        attribute = read_attribute(said)
        assert attribute is not None
        assert (attribute.name, attribute.value) == (rule.attribute, value)


@pytest.mark.parametrize(("at", "statement", "attribute"), examples("attributes"))
def test_an_attribute_is_read_from_its_example(at: int, statement: str, attribute: str) -> None:
    found = read_attribute(statement)
    assert found is not None
    assert f"{found.name}: {found.value}" == attribute.rpartition(", ")[2]
    assert found.subject == (attribute.rpartition(", ")[0] or "user")
    assert found.is_weak == rows("attributes")[at].get("weak", False)


@pytest.mark.parametrize("table", TABLES)
def test_every_rule_has_an_example(table: str) -> None:
    assert [row.get("name", row.get("language")) for row in rows(table) if not row["examples"].strip()] == []


@pytest.mark.parametrize(
    ("block", "pattern"),
    [
        ("tea", "tea"),
        ("tea\ncoffee", "(?:tea|coffee)"),
        ("# hot\ntea\n\n  # cold\ncoffee", "(?:tea|coffee)"),
        ("i drink\n    tea\n    coffee", "i drink (?:tea|coffee)"),
        ("grand…\n    ma\n    pa", "grand(?:ma|pa)"),
        ("i drink\n    tea\n    coffee\n… now", "i drink (?:tea|coffee) now"),
        ("(?!…\n    tea\n    coffee\n…\\b)\\w+", "(?!(?:tea|coffee)\\b)\\w+"),
        ("…\n    tea\n    coffee\n…s?\nmilk", "(?:(?:tea|coffee)s?|milk)"),
        ("i\n    drink\n        tea\n        coffee\n    eat rice\nwe", "(?:i (?:drink (?:tea|coffee)|eat rice)|we)"),
        ("(a|an) (?P<value>x)", "(?:a|an) (?P<value>x)"),
        ("i'm", "i['’]m"),
        ("[\\w'-]+", "[\\w'-]+"),
        ("[]'(]\\(\\'", "[]'(]\\(\\'"),
        ("{hot} (tea|{cold})", "(?:warm|hot) (?:tea|iced (?:warm|hot))"),
    ],
)
def test_a_block_is_the_pattern_it_describes(block: str, pattern: str) -> None:
    words = Words({"hot": "warm\nhot", "cold": "iced {hot}"})
    assert compile_block(block, words).pattern == pattern


def test_a_word_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        compile_block("{nowhere}")


def test_tables_are_read_when_they_are_first_needed() -> None:
    program = (
        "from mnemoscope.extraction.rules import attributes, consolidator, extractor, tables; "
        "print(tables.english_rules.cache_info().currsize, tables.language_rules.cache_info().currsize); "
        "extractor.RuleExtractor()('I like tea.'); "
        "print(tables.english_rules.cache_info().currsize)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "0", "1"]
