"""Connect."""
import streamlit as st
st.title("Connect", anchor=False)
