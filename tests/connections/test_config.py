from __future__ import annotations

import dataclasses
import math

import pytest
from mnemoscope import PRESETS, ConfigurationError, MemoryConfig
from mnemoscope.config import KNOBS

NUMBERS = [knob for knob in KNOBS.values() if not isinstance(knob.default, bool)]


def test_defaults_are_those_of_the_published_formula() -> None:
    assert dataclasses.asdict(MemoryConfig()) == {
        "semantic_weight": 0.5,
        "recency_weight": 0.3,
        "importance_weight": 0.2,
        "recency_half_life_days": 30,
        "consolidation_threshold": 0.85,
        "consolidation_limit": 5,
        "recall_oversample": 3,
        "default_importance": 0.5,
        "touch_on_recall": True,
        "lexical_weight": 0.0,
        "min_score": 0.0,
        "min_similarity": 0.0,
        "suppress_for_days": 36_500,
        "history_days": 36_500,
        "keep_transcripts": True,
        "transcript_days": 36_500,
    }


def test_every_field_has_a_knob_with_its_default_and_a_help_text() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(MemoryConfig)}
    assert fields == {knob.name: knob.default for knob in KNOBS.values()}
    assert all(knob.help.endswith(".") and knob.low <= knob.default <= knob.high for knob in KNOBS.values())


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        MemoryConfig().semantic_weight = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("knob", NUMBERS, ids=lambda knob: knob.name)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "0.5", None, True, 10**400, -1])
def test_a_wrong_value_is_refused_with_field_value_and_range(knob: object, value: object) -> None:
    with pytest.raises(ConfigurationError, match=rf"MemoryConfig\.{knob.name} must be .* from .* to .*, got"):  # type: ignore[attr-defined]
        MemoryConfig(**{knob.name: value})  # type: ignore[attr-defined, arg-type]


@pytest.mark.parametrize("knob", NUMBERS, ids=lambda knob: knob.name)
def test_both_ends_of_a_range_are_allowed(knob: object) -> None:
    kind = type(knob.default)  # type: ignore[attr-defined]
    for end in (knob.low, knob.high):  # type: ignore[attr-defined]
        assert getattr(MemoryConfig(**{knob.name: kind(end)}), knob.name) == kind(end)  # type: ignore[attr-defined, arg-type]


@pytest.mark.parametrize("value", [1, 0, "yes", None])
def test_a_switch_is_true_or_false(value: object) -> None:
    with pytest.raises(ConfigurationError, match="touch_on_recall must be True or False"):
        MemoryConfig(touch_on_recall=value)  # type: ignore[arg-type]


def test_weights_that_are_all_zero_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one above 0"):
        MemoryConfig(semantic_weight=0, recency_weight=0, importance_weight=0)


def test_a_whole_number_may_stand_for_a_share() -> None:
    assert MemoryConfig(semantic_weight=1).semantic_weight == 1


def test_a_config_error_is_a_value_error() -> None:
    assert issubclass(ConfigurationError, ValueError)
    assert PRESETS["classic"] == MemoryConfig()
