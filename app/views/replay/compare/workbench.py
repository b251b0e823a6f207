"""The prompt workbench: a wording edited beside how it differs, measured on conversations, kept and put to use."""

from __future__ import annotations

import streamlit as st
from mnemoscope import PRESETS
from mnemoscope.models import PURPOSES, PromptBook, PromptVersion, Purpose, prompt_version
from mnemoscope.replay import ReplaySetup

from app.components import python_lines, word_difference
from app.session.session import Session
from app.text.display import one_line
from app.views.replay.compare import measure, prompts
from app.views.replay.compare.prompts import VERSION_KEY
from app.views.replay.source import url

__all__ = ["AGAINST_KEY", "MODEL_KEY", "PURPOSE_KEY", "draw"]

PURPOSE_KEY = "p_purpose"
AGAINST_KEY = "replay.prompt_against"
MODEL_KEY = "replay.prompt_model"

_HEIGHT = 460
_PURPOSES = {"extract": "Extraction", "consolidate": "Consolidation"}
_NO_MODEL = (
    "**No model is configured here.** Rules read the conversations, and rules follow no prompt. Wordings can be "
    "written and kept all the same. To measure them, name a model above; to have this connection read by one, start "
    "with `--model`, or set `model` in `mnemoscope.toml`."
)


def draw(working: Session) -> None:
    """Draw the whole workbench."""
    book = PromptBook(working.adapter)
    with st.container(border=True, key="replay-workbench"):
        purpose, model = _choose(working)
        versions, used = book.all(purpose), book.in_use(purpose)
        version = _choose_version(versions, used)
    if not working.model:
        st.info(_NO_MODEL, icon=":material/rule:")
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("The wording", anchor=False)
        text = st.text_area(
            "The wording",
            version.text,
            height=_HEIGHT,
            key=prompts.text_key(version),
            label_visibility="collapsed",
        ).strip()
        prompts.draw_actions(working, book, versions, version, text)
    with right:
        against = _draw_difference(versions, used, version, text)
    st.subheader("What it changes", anchor=False)
    setups = _setup(purpose, model, against.text), _setup(purpose, model, text)
    why_not = _why_not(model, text, against)
    measure.draw(working, None if why_not else setups, measure.WORDINGS, why_not)
    st.subheader("Versions", anchor=False)
    prompts.draw_versions(book, versions, used, purpose)
    python_lines.draw(_python(purpose, version))


def _choose(working: Session) -> tuple[Purpose, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        url.follow(PURPOSE_KEY, PURPOSES, "extract")
        purpose: Purpose = st.selectbox(
            "The prompt for",
            PURPOSES,
            format_func=lambda name: _PURPOSES[name],
            key=PURPOSE_KEY,
            on_change=url.write,
            args=(PURPOSE_KEY, "extract"),
            width=180,
        )
        model = st.text_input(
            "Measured with the model",
            working.model or "",
            key=MODEL_KEY,
            placeholder="anthropic:claude-sonnet-4-5",
            help="The conversations that you measure on are sent to this model, and nothing else is.",
            width=360,
        )
    return purpose, model.strip()


def _choose_version(versions: list[PromptVersion], used: PromptVersion) -> PromptVersion:
    by_id = {each.id: each for each in versions}
    asked = st.query_params.get(VERSION_KEY)
    if asked is not None and asked not in by_id:
        st.warning("The wording that was asked for is not kept in this store: it was given in code, or elsewhere.")
        st.text(one_line(asked, 60))
    default = used.id if used.id in by_id else versions[-1].id
    url.follow(VERSION_KEY, by_id, default)
    # Always in the URL: which one is in use may change, and a link should not.
    url.write(VERSION_KEY, "")
    chosen = st.selectbox(
        "Begin with",
        list(by_id),
        format_func=lambda name: prompts.labelled(by_id[name], used),
        key=VERSION_KEY,
        on_change=url.write,
        args=(VERSION_KEY, ""),
    )
    return by_id[chosen]


def _draw_difference(
    versions: list[PromptVersion], used: PromptVersion, version: PromptVersion, text: str
) -> PromptVersion:
    """Draw how the text differs from another version; that version."""
    by_id = {each.id: each for each in versions}
    if st.session_state.get(AGAINST_KEY) not in by_id:
        st.session_state[AGAINST_KEY] = used.id if used.id in by_id else version.id
    st.subheader("How it differs from", anchor=False)
    with st.container(height=_HEIGHT, border=True):
        chosen = st.selectbox(
            "From",
            list(by_id),
            format_func=lambda name: prompts.labelled(by_id[name], used),
            key=AGAINST_KEY,
            label_visibility="collapsed",
        )
        if text == by_id[chosen].text:
            st.caption("Not at all. Change a word on the left, and the difference shows here.")
        else:
            word_difference.draw(by_id[chosen].text, text, key="replay-prompt-difference")
    return by_id[chosen]


def _setup(purpose: Purpose, model: str, text: str) -> ReplaySetup:
    extract, consolidate = (text, None) if purpose == "extract" else (None, text)
    return ReplaySetup(
        prompt_version(text), model, PRESETS["classic"], extract_prompt=extract, consolidate_prompt=consolidate
    )


def _why_not(model: str, text: str, against: PromptVersion) -> str:
    if not model:
        return "Name a model above to measure."
    if not text:
        return "There is no wording to measure."
    return "Both wordings are the same." if text == against.text else ""


def _python(purpose: Purpose, version: PromptVersion) -> dict[str, str]:
    part = "LLMExtractor" if purpose == "extract" else "LLMConsolidator"
    keyword = "extractor" if purpose == "extract" else "consolidator"
    return {
        "Put this version to use": f"PromptBook(store).use({version.id!r}, purpose={purpose!r}, actor='me')",
        "An agent that follows whichever is in use": (
            f"MemoryEngine(store, model, {keyword}={part}(model, prompt=PromptBook(store).source({purpose!r})))"
        ),
    }
