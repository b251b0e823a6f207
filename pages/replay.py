"""Replay: what a conversation would leave behind, looked at and corrected before anything is written."""

import streamlit as st

from app.components import states
from app.session import session
from app.views.replay import prompts, setting
from app.views.replay.compare import compare
from app.views.replay.plan import facts, plan
from app.views.replay.source import transcript

with st.container(horizontal=True):
    st.title("Replay", anchor=False)
st.caption("See what a conversation would teach the agent, correct it, and commit what is right.")

working = session.current()
mode = setting.choose_mode()
chosen, run, namespace = (None, None, None) if mode == "prompt" else setting.draw_setting(working, plans=mode == "plan")
if mode == "prompt":
    prompts.draw_workbench(working)
elif chosen is None:
    states.draw_empty("No conversation yet", "Upload a file above, or replay a sample.", icon=":material/forum:")
elif not chosen.transcript.messages:
    states.draw_empty("Nobody says anything here", "This conversation holds no message, so there is nothing to plan.")
elif namespace is not None and mode == "compare":
    compare.draw_comparison(working, chosen, namespace)
else:
    left, right = st.columns([5, 6], gap="medium")
    # The plan is drawn first, since it decides which quote stands out.
    with right:
        plan.draw_plan(run, working, chosen)
    with left:
        st.subheader("Conversation", anchor=False)
        transcript.draw_transcript(
            chosen.transcript.messages,
            run.plan.facts if run else (),
            current=facts.find_shown_fact(run) if run else None,
            on_pick=facts.make_opener(run) if run else None,
        )
