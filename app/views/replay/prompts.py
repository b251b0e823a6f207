"""The prompt workbench: a wording edited beside how it differs, measured, kept as a version, and put to use."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from mnemoscope import PRESETS, MnemoscopeError
from mnemoscope.core import utc_now
from mnemoscope.models import PURPOSES, PromptBook, PromptVersion, Purpose, prompt_version
from mnemoscope.replay import ReplaySetup

from app.components import actions, code, differences, url_choices
from app.session import session
from app.session.session import Session
from app.text.display import age, one_line, timestamp
from app.views.replay.compare import measure

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

NAME_KEY, NOTE_KEY = "replay.prompt_name", "replay.prompt_note"

SAVE_KEY, USE_KEY = "replay.prompt_save", "replay.prompt_use"

VERSION_KEY = "p_prompt"

_USES_SHOWN = 20


def draw_workbench(working: Session) -> None:
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
            key=text_key(version),
            label_visibility="collapsed",
        ).strip()
        _draw_actions(working, book, versions, version, text)
    with right:
        against = _draw_difference(versions, used, version, text)
    st.subheader("What it changes", anchor=False)
    setups = _setup(purpose, model, against.text), _setup(purpose, model, text)
    why_not = _why_not(model, text, against)
    measure.draw_measure(working, None if why_not else setups, measure.WORDINGS, why_not)
    st.subheader("Versions", anchor=False)
    _draw_versions(book, versions, used, purpose)
    code.draw_code(_python(purpose, version))


def _choose(working: Session) -> tuple[Purpose, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        url_choices.follow(PURPOSE_KEY, PURPOSES, "extract")
        purpose: Purpose = st.selectbox(
            "The prompt for",
            PURPOSES,
            format_func=lambda name: _PURPOSES[name],
            key=PURPOSE_KEY,
            on_change=url_choices.write,
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
    url_choices.follow(VERSION_KEY, by_id, default)
    # Always in the URL: which one is in use may change, and a link should not.
    url_choices.write(VERSION_KEY, "")
    chosen = st.selectbox(
        "Begin with",
        list(by_id),
        format_func=lambda name: label_version(by_id[name], used),
        key=VERSION_KEY,
        on_change=url_choices.write,
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
            format_func=lambda name: label_version(by_id[name], used),
            key=AGAINST_KEY,
            label_visibility="collapsed",
        )
        if text == by_id[chosen].text:
            st.caption("Not at all. Change a word on the left, and the difference shows here.")
        else:
            differences.draw_difference(by_id[chosen].text, text, key="replay-prompt-difference")
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


def text_key(version: PromptVersion) -> str:
    """The key of the text in which this version is edited; each keeps its own draft."""
    return f"replay.prompt_text-{version.purpose}-{version.id}"


def label_version(version: PromptVersion, used: PromptVersion) -> str:
    """The version in one line; the one in use says so."""
    name = one_line(version.name, 60) or "(no name)"
    by = f"{one_line(version.actor, 40)}, {age(version.at, utc_now())}" if version.at else "with the library"
    return f"\u2068{name}\u2069  ·  {version.id}  ·  {by}{'  ·  in use' if version.id == used.id else ''}"


def _draw_actions(
    working: Session, book: PromptBook, versions: list[PromptVersion], begun: PromptVersion, text: str
) -> None:
    """Draw what can be done with the text that was `begun` with a version: keep it, put it to use, save it."""
    purpose = begun.purpose
    known = next((each for each in versions if each.id == prompt_version(text)), None)
    is_used = known is not None and known.id == book.in_use(purpose).id
    if known is None:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Name", key=NAME_KEY, max_chars=60, placeholder="fewer trivial facts")
            st.text_input("Why", key=NOTE_KEY, max_chars=500, placeholder="what it is meant to change")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Keep as a version",
            key=SAVE_KEY,
            type="primary",
            icon=":material/save:",
            disabled=known is not None or not text or not working.is_writing,
            on_click=_save,
            args=(begun, text),
        )
        st.button(
            "Put to use",
            key=USE_KEY,
            icon=":material/publish:",
            disabled=known is None or is_used or not working.is_writing,
            help="This connection, and every agent that follows the store's prompt, reads by it from the next "
            "conversation on.",
            on_click=_use,
            args=(purpose, prompt_version(text)),
        )
        st.download_button(
            "As a file",
            text,
            file_name=f"{purpose}.txt",
            key="replay.prompt_file",
            icon=":material/download:",
            on_click="ignore",
            help="For extract_prompt or consolidate_prompt in a setup of `mnemoscope replay`.",
        )
    st.caption(_describe_standing(known, is_used, working))


def _draw_versions(book: PromptBook, versions: list[PromptVersion], used: PromptVersion, purpose: Purpose) -> None:
    """Draw all versions, and which of them was in use since when."""
    st.dataframe(
        pd.DataFrame(
            {
                "name": [one_line(each.name, 60) for each in versions],
                "version": [each.id for each in versions],
                "in use": [each.id == used.id for each in versions],
                "kept": [timestamp(each.at) if each.at else "with the library" for each in versions],
                "by": [one_line(each.actor, 60) for each in versions],
                "why": [one_line(each.note, 300) for each in versions],
                "characters": [len(each.text) for each in versions],
            }
        ),
        hide_index=True,
        alt="The versions of this prompt, the newest first",
    )
    uses = book.uses(purpose)
    if uses:
        names = {each.id: each.name for each in versions}
        with st.expander("Put to use", icon=":material/history:"):
            for use in uses[:_USES_SHOWN]:
                name = names.get(use.version, "") if use.version else "As it ships"
                st.text(f"{timestamp(use.at)} · {one_line(use.actor, 60)} · {one_line(name, 60)} {use.version or ''}")
            if len(uses) > _USES_SHOWN:
                st.caption(f"These are the latest {_USES_SHOWN} of {len(uses):,}.")


def _describe_standing(known: PromptVersion | None, is_used: bool, working: Session) -> str:
    if not working.is_writing:
        return "Writing is off, so a wording can be tried and measured here, and not kept."
    if known is None:
        return "This wording is not kept yet."
    return "This wording is kept, and in use." if is_used else "This wording is kept, and not in use."


def _save(begun: PromptVersion, text: str) -> None:
    try:
        working = session.require_writing()
        made = PromptBook(working.adapter).save(
            text,
            purpose=begun.purpose,
            name=st.session_state.get(NAME_KEY, ""),
            note=st.session_state.get(NOTE_KEY, ""),
            actor=working.operator,
        )
    except MnemoscopeError as error:
        actions.refuse(error)
        return
    # The draft is a version now, and what it was begun with is as it was.
    del st.session_state[text_key(begun)]
    st.session_state[VERSION_KEY] = made.id
    url_choices.write(VERSION_KEY, "")
    actions.report("Kept the wording as a version.")


def _use(purpose: Purpose, version: str) -> None:
    try:
        working = session.require_writing()
        PromptBook(working.adapter).use(version, purpose=purpose, actor=working.operator)
    except MnemoscopeError as error:
        actions.refuse(error)
    else:
        actions.report("This wording is in use from the next conversation on.")
