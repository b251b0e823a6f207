"""How the dashboard looks: one palette in two modes, and its mark. No font or picture comes from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parents[1] / "assets"

ICON = ASSETS / "icon.svg"
LOGO = ASSETS / "logo.svg"

PART_COLOURS: dict[str, str] = {"similarity": "#1A8A82", "recency": "#E08A1E", "importance": "#7B61D1"}
"""The colour of each part of a score, readable in both modes and told apart without red and green."""

_SHARED: dict[str, Any] = {
    "baseRadius": "0.5rem",
    "baseFontSize": 15,
    "paddingTop": "0.75rem",
    "paddingBottom": "3rem",
    "headingFontSizes": ["1.75rem", "1.35rem", "1.1rem", "1rem", "0.9rem", "0.85rem"],
    "headingFontWeights": [650, 600, 600, 600, 600, 600],
    "metricValueFontSize": "1.75rem",
}

_LIGHT: dict[str, Any] = {
    "primaryColor": "#0F756E",
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F2F6F5",
    "textColor": "#17232A",
    "linkColor": "#0F756E",
    "borderColor": "#D8E1E0",
    "dataframeHeaderBackgroundColor": "#F2F6F5",
    "dataframeBorderColor": "#E2E9E8",
    "codeTextColor": "#17232A",
    "codeBackgroundColor": "#F2F6F5",
    "chartCategoricalColors": ["#1A8A82", "#E08A1E", "#7B61D1", "#2F74C8", "#C2477A", "#7A9A2E", "#6B7C86"],
    "chartSequentialColors": [
        "#EAF5F3", "#CFE8E5", "#AFD9D4", "#8BC7C1", "#66B3AC", "#439E97", "#27887F", "#136F68", "#0B5650", "#063D39",
    ],
    "sidebar.backgroundColor": "#F7FAF9",
    "sidebar.secondaryBackgroundColor": "#E8EFEE",
    "sidebar.borderColor": "#E2E9E8",
}  # fmt: skip

_DARK: dict[str, Any] = {
    "primaryColor": "#45BFB4",
    "backgroundColor": "#11181C",
    "secondaryBackgroundColor": "#1A2429",
    "textColor": "#E3EAEB",
    "linkColor": "#5CCABF",
    "borderColor": "#2C3A41",
    "dataframeHeaderBackgroundColor": "#1A2429",
    "dataframeBorderColor": "#26343A",
    "codeTextColor": "#E3EAEB",
    "codeBackgroundColor": "#1A2429",
    "chartCategoricalColors": ["#3BB5AB", "#F0A548", "#A18BEC", "#6BA4EE", "#E57BA6", "#A8C65A", "#93A4AD"],
    "chartSequentialColors": [
        "#0C2B29", "#0E3D3A", "#12514C", "#176660", "#1F7C75", "#2A938B", "#41A9A0", "#66BFB7", "#93D4CE", "#C6EAE6",
    ],
    "sidebar.backgroundColor": "#0D1316",
    "sidebar.secondaryBackgroundColor": "#1A2429",
    "sidebar.borderColor": "#202C31",
}  # fmt: skip

OPTIONS: dict[str, Any] = {
    f"theme.{mode}{name}": value
    for mode, options in (("", _SHARED), ("light.", _LIGHT), ("dark.", _DARK))
    for name, value in options.items()
}
"""Streamlit's theme options, for the command and for `.streamlit/config.toml`."""

STYLE = """<style>
button[kind="primary"]:not(:disabled), button[kind="primaryFormSubmit"]:not(:disabled) {
    color: light-dark(#FFFFFF, #0B1114);
}
div:has(> .st-key-live-place) {
    position: fixed;
    top: 0.6rem;
    right: 3.9rem;
    width: auto;
    z-index: 999991;
}
div:has(> .st-key-curate-help) {
    min-width: min(100%, 20rem);
}
.st-key-recall-weights-dragged {
    display: none;
}
</style>"""
"""Streamlit writes white on the primary colour; in dark mode that is light, so that it can be read as text. The
indicator of what is followed stands in the bar at the top, where it stays in sight. On a narrow screen Curate's
explanation takes a line of its own. Weights that are dragged beside the ranking are not shown a second time."""
