"""Health."""
import streamlit as st
st.title("Health", anchor=False)
