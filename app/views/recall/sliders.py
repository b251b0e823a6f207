"""The settings of a ranking that cost nothing to change: presets, sliders and their way back. All are in the URL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import streamlit as st
from mnemoscope import PRESETS, MemoryConfig, RecallResult
from mnemoscope.config import KNOBS
from mnemoscope.index import Drop
from mnemoscope.recall import Profile, Remedy

from app.views.recall.query import MOST_RETURNED

PRESET_KEY = "recall.preset"


RESET_KEY = "recall.reset"


HIDDEN_KEY = "recall-weights-dragged"


"""The container of the weights while they are dragged beside the ranking; the theme hides it."""


MOST_TOKENS = 1_000_000


CUTS = (Drop.BEYOND_LIMIT, Drop.BEYOND_TOKENS, Drop.BELOW_SCORE, Drop.BELOW_SIMILARITY)


"""The reasons that are a matter of numbers: those memories are near misses, the others were filtered out."""


STORED = "stored"


"""Stands for the engine's own configuration where presets are chosen."""


KEYS: dict[str, str] = {
    "semantic_weight": "r_s",
    "recency_weight": "r_r",
    "importance_weight": "r_i",
    "lexical_weight": "r_w",
    "recency_half_life_days": "r_h",
    "min_score": "r_min",
    "min_similarity": "r_sim",
    "limit": "r_k",
    "max_tokens": "r_tok",
}


"""The URL parameter of each setting, which is its widget's key too."""


_LABELS: dict[str, str] = {
    "semantic_weight": "Similarity",
    "recency_weight": "Recency",
    "importance_weight": "Importance",
    "lexical_weight": "Words within similarity",
    "min_score": "Minimum score",
    "min_similarity": "Minimum similarity",
}


_HELP: dict[str, str] = {
    "min_score": "Leaves out what scores less. Saved with a profile.",
    "min_similarity": "Leaves out what is less similar, however recent or important; 0 is off. Saved with a profile.",
}


_DAYS = (0.25, 0.5, *range(1, 31), *range(35, 95, 5), *range(100, 375, 25), 450, 545, 730, 1095, 1825, 3650)


_NAMED: dict[str, str] = {
    "semantic_weight": "the weight of similarity",
    "recency_weight": "the weight of recency",
    "importance_weight": "the weight of importance",
    "lexical_weight": "the share of words",
    "recency_half_life_days": "the half-life",
    "min_score": "the minimum score",
    "min_similarity": "the minimum similarity",
    "limit": "the limit",
    "max_tokens": "the token budget",
}


_WHOLE = ("limit", "max_tokens")


_STEP = 0.01


_LIMIT = 10


@dataclass(frozen=True)
class RankingSettings:
    """A configuration, the limit, and the budget of tokens, if there is one."""

    config: MemoryConfig
    limit: int
    max_tokens: int | None = None

    def rank(self, fetched: RecallResult) -> RecallResult:
        """The fetched candidates under these settings; no store, embedding or model call."""
        return fetched.rerank(
            self.config,
            limit=self.limit,
            min_score=self.config.min_score,
            min_similarity=self.config.min_similarity or None,
            max_tokens=self.max_tokens,
        )

    def having(self, setting: str, value: float) -> RankingSettings:
        """These settings with one changed."""
        if setting in _WHOLE:
            return replace(self, **{setting: int(value)})  # type: ignore[arg-type]
        return self.having_config(replace(self.config, **{setting: value}))  # type: ignore[arg-type]

    def having_config(self, config: MemoryConfig) -> RankingSettings:
        """These limits under another configuration."""
        return replace(self, config=config)


def draw_sliders(
    stored: MemoryConfig, profiles: Mapping[str, Profile], *, weighs_words: bool, is_dragged: bool = False
) -> RankingSettings:
    """Draw profiles and sliders, which start at the stored profile; what they say.

    While weights are dragged elsewhere, these are out of sight, and still hold what was chosen and put it into the URL.
    """
    _draw_profiles(stored, profiles)
    st.markdown("**Weights**")
    if is_dragged:
        st.caption("Drag them above the ranking.")
    with st.container(key=HIDDEN_KEY if is_dragged else "recall-weights"):
        weights = _draw_weights(stored, weighs_words=weighs_words)
    st.markdown("**Cuts**")
    minimums = {name: _slider(name, float(getattr(stored, name))) for name in ("min_score", "min_similarity")}
    limit = st.number_input("Limit", 1, MOST_RETURNED, _LIMIT, key=KEYS["limit"], bind="query-params")
    tokens = st.number_input(
        "Token budget",
        1,
        MOST_TOKENS,
        None,
        key=KEYS["max_tokens"],
        bind="query-params",
        placeholder="None",
        help="How many tokens the memories may take up in a prompt, each as its line of the recall node.",
    )
    chosen = RankingSettings(
        config=_config(stored, {**weights, **minimums}),
        limit=int(limit),
        max_tokens=None if tokens is None else int(tokens),
    )
    if chosen.config != stored:
        st.caption(":material/tune: The agent uses the stored profile, not this.")
    return chosen


def label_profile(name: str) -> str:
    """A profile's name as it is shown."""
    if name == STORED:
        return "Stored profile"
    return name.capitalize() if name in PRESETS else name


def find_step(remedy: Remedy, stored: MemoryConfig) -> float | None:
    """The value of the setting's widget that carries the remedy out, or None where the widget ends before."""
    if remedy.before is None or remedy.readable is None:
        return 0.0 if remedy.setting == "min_similarity" else None
    rises = remedy.readable > remedy.before
    if remedy.setting in _WHOLE:
        most = MOST_RETURNED if remedy.setting == "limit" else MOST_TOKENS
        return remedy.readable if remedy.readable <= most else None
    if remedy.setting == "recency_half_life_days":
        days = list_half_lives(stored)
        beyond = [day for day in days if (day >= remedy.readable if rises else day <= remedy.readable)]
        return (min if rises else max)(beyond, default=None)
    steps = round(remedy.readable / _STEP, 6)
    value = round((math.ceil if rises else math.floor)(steps) * _STEP, 6)
    return value if 0.0 <= value <= 1.0 else None


def describe_change(remedy: Remedy, value: float) -> str:
    """What setting the widget to this value does: "Raise the limit from 3 to 7"."""
    before = remedy.before or 0.0
    unit = " days" if remedy.setting == "recency_half_life_days" else ""
    return f"{'Raise' if value > before else 'Lower'} {_NAMED[remedy.setting]} from {before:.4g} to {value:g}{unit}"


def set_slider(setting: str, value: float | None) -> None:
    """Set the setting's widget, from a callback."""
    st.session_state[KEYS[setting]] = int(value) if setting in _WHOLE and value is not None else value


def _draw_profiles(stored: MemoryConfig, profiles: Mapping[str, Profile]) -> None:
    names = [STORED, *profiles]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Profile",
            names,
            key=PRESET_KEY,
            format_func=label_profile,
            on_change=_take_profile,
            args=(stored, profiles),
            help="Puts every slider where the profile has it. The stored profile is what the agent uses.",
        )
        st.button(
            "Reset",
            key=RESET_KEY,
            icon=":material/restart_alt:",
            on_click=_reset,
            args=(stored,),
            help="Back to the stored profile.",
        )


def _take_profile(stored: MemoryConfig, profiles: Mapping[str, Profile]) -> None:
    name = st.session_state[PRESET_KEY]
    _set_sliders(stored if name == STORED else profiles[name].config, stored)


def _reset(stored: MemoryConfig) -> None:
    st.session_state[PRESET_KEY] = STORED
    _set_sliders(stored, stored)
    set_slider("limit", _LIMIT)
    st.session_state[KEYS["max_tokens"]] = None


def _set_sliders(config: MemoryConfig, stored: MemoryConfig) -> None:
    for name in (*_weight_names(weighs_words=True), "min_score", "min_similarity"):
        set_slider(name, float(getattr(config, name)))
    set_slider("recency_half_life_days", _nearest(config.recency_half_life_days, list_half_lives(stored)))


def _draw_weights(stored: MemoryConfig, *, weighs_words: bool) -> dict[str, float]:
    weights = {name: _slider(name, float(getattr(stored, name))) for name in _weight_names(weighs_words)}
    days = list_half_lives(stored)
    half_life = st.select_slider(
        "Half-life of recency",
        days,
        value=_nearest(stored.recency_half_life_days, days),
        key=KEYS["recency_half_life_days"],
        bind="query-params",
        format_func=lambda each: f"{each:g} {'day' if each == 1 else 'days'}",
        help=KNOBS["recency_half_life_days"].help,
    )
    return {**weights, "recency_half_life_days": float(half_life)}


def _slider(name: str, default: float) -> float:
    help_text = KNOBS[name].help if name in KNOBS else _HELP[name]
    return st.slider(
        _LABELS[name], 0.0, 1.0, default, _STEP, key=KEYS[name], bind="query-params", help=help_text, format="%.2f"
    )


def _weight_names(weighs_words: bool) -> list[str]:
    names = [field.name for field in fields(MemoryConfig) if field.name in KEYS and field.name.endswith("_weight")]
    return [name for name in names if weighs_words or name != "lexical_weight"]


def list_half_lives(stored: MemoryConfig) -> list[float]:
    """The half-lives that can be chosen, in days."""
    return sorted({*map(float, _DAYS), stored.recency_half_life_days})


def _nearest(days: float, offered: list[float]) -> float:
    return min(offered, key=lambda each: abs(math.log(each / days)))


def _config(stored: MemoryConfig, values: Mapping[str, float]) -> MemoryConfig:
    chosen = dict(values)
    if not any(chosen[name] for name in ("semantic_weight", "recency_weight", "importance_weight")):
        # With every weight at 0 nothing could be ranked; the least of similarity keeps an order.
        chosen["semantic_weight"] = _STEP
    return replace(stored, **chosen)  # type: ignore[arg-type]
