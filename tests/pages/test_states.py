from __future__ import annotations

from streamlit.testing.v1 import AppTest


def three_states() -> None:
    import streamlit as st
    from mnemoscope import ConflictError

    from app.components import states

    def clear() -> None:
        st.session_state["cleared"] = True

    states.draw_empty("Nothing is remembered here yet", "Open Replay.")
    states.draw_filtered_out(1340, key="browse.clear", on_clear=clear)
    states.draw_failed(ConflictError([]))


def test_empty_filtered_out_and_failed_say_different_things() -> None:
    page = AppTest.from_function(three_states).run(timeout=20)
    shown = [element.value for element in page.markdown]
    assert "**Nothing is remembered here yet**" in shown
    assert ":material/filter_alt_off: The filters leave none of 1,340 memories." in shown
    assert "Someone changed this meanwhile" in page.error[0].value


def test_filters_are_cleared_from_where_they_left_nothing() -> None:
    page = AppTest.from_function(three_states).run(timeout=20)
    page.button(key="browse.clear").click().run()
    assert page.session_state["cleared"] is True
