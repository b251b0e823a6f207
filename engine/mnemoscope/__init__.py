"""Mnemoscope: see, explain, tune and repair what LangGraph agents remember."""
