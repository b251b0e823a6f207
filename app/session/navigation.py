"""The dashboard's pages, as a table; adding a page is one row and one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

PAGES_FOLDER = Path(__file__).resolve().parents[2] / "pages"


@dataclass(frozen=True)
class PageRow:
    """One page. Its file name without the ending is its URL; the first row is the default page, at `/`.

    `needs_store` says that it is not run while the store does not answer.
    """

    name: str
    title: str
    icon: str
    section: str
    help: str
    needs_store: bool = True


PAGES: tuple[PageRow, ...] = (
    PageRow("overview", "Overview", ":material/dashboard:", "See", "What is remembered, how it grew, what changed."),
    PageRow("browse", "Browse", ":material/table_rows:", "See", "Every memory: read, filter, edit and forget."),
    PageRow("recall", "Recall", ":material/manage_search:", "Explain", "What a query brings back, and why."),
    PageRow("tune", "Tune", ":material/tune:", "Explain", "How well recall works, measured, and how to better it."),
    PageRow("replay", "Replay", ":material/replay:", "Explain", "What a conversation would leave behind."),
    PageRow("curate", "Curate", ":material/checklist:", "Repair", "Worklists, trash, retention, files in and out."),
    PageRow("history", "History", ":material/history:", "Repair", "Every change: compare, undo, look back in time."),
    PageRow(
        "health", "Health", ":material/monitor_heart:", "Operate", "Whether the store is in order, and what to do."
    ),
    PageRow(
        "connect",
        "Connect",
        ":material/cable:",
        "Operate",
        "Try a connection step by step, and write it down.",
        needs_store=False,
    ),
)


def choose() -> Page:
    """Draw the navigation; the page that the URL names."""
    sections: dict[str, list[Page]] = {}
    for row in PAGES:
        sections.setdefault(row.section, []).append(_page(row))
    return st.navigation(sections, expanded=True)


def path_of(name: str) -> str:
    """The script of the page with this name, as `st.switch_page` takes it.

    Raises:
        KeyError: there is no such page.
    """
    if all(row.name != name for row in PAGES):
        raise KeyError(f"There is no page {name!r}; there are {', '.join(row.name for row in PAGES)}.")
    return str(PAGES_FOLDER / f"{name}.py")


def row_of(page: Page) -> PageRow:
    """The row of this page."""
    return next(row for row in PAGES if row.title == page.title)


def _page(row: PageRow) -> Page:
    return st.Page(
        PAGES_FOLDER / f"{row.name}.py",
        title=row.title,
        icon=row.icon,
        help=row.help,
        default=row is PAGES[0],
    )
