"""Replay: what a conversation would leave behind, looked at and corrected before anything is written."""

import streamlit as st

from app import (
    replay_compare,
    replay_facts,
    replay_mode,
    replay_plan,
    replay_setting,
    replay_transcript,
    replay_workbench,
    session,
    states,
)

with st.container(horizontal=True):
    st.title("Replay", anchor=False)
st.caption("See what a conversation would teach the agent, correct it, and commit what is right.")

working = session.current()
mode = replay_mode.choose()
chosen, run, namespace = (None, None, None) if mode == "prompt" else replay_setting.draw(working, plans=mode == "plan")
if mode == "prompt":
    replay_workbench.draw(working)
elif chosen is None:
    states.empty("No conversation yet", "Upload a file above, or replay a sample.", icon=":material/forum:")
elif not chosen.transcript.messages:
    states.empty("Nobody says anything here", "This conversation holds no message, so there is nothing to plan.")
elif namespace is not None and mode == "compare":
    replay_compare.draw(working, chosen, namespace)
else:
    left, right = st.columns([5, 6], gap="medium")
    # The plan is drawn first, since it decides which quote stands out.
    with right:
        replay_plan.draw(run, working, chosen)
    with left:
        st.subheader("Conversation", anchor=False)
        replay_transcript.draw(
            chosen.transcript.messages,
            run.plan.facts if run else (),
            current=replay_facts.shown_fact(run) if run else None,
            on_pick=replay_facts.opener(run) if run else None,
        )
