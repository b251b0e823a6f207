"""Browse: every memory of the scope, to read, find, edit and forget."""

import streamlit as st

from app import (
    browse_actions,
    browse_filters,
    browse_opened,
    browse_search,
    browse_status,
    browse_table,
    memory_detail,
    scope,
    session,
    states,
    tables,
)

head = browse_status.head()
working = session.current()
here = scope.current()
index = working.engine.index(here.namespace, subtree=here.subtree)
opened = browse_opened.current(here)

if not len(index):
    states.nothing_remembered(here, working.engine.counts())
else:
    can_find_meaning = browse_search.can_find_meaning(working.engine)
    chosen = browse_filters.draw(index, finds_meaning=can_find_meaning, include_private=head.shows_private)
    found = browse_search.search(working.engine, index, chosen)
    head.count(found.browsed)
    listing, detail = st.columns([11, 9], gap="medium") if opened else (st.container(), None)
    with listing:
        if not len(found.browsed):
            states.filtered_out(found.browsed.total, key="browse.clear-all", on_clear=browse_filters.clear)
        else:
            actions, table, pages = st.container(), st.container(), st.container()
            with pages:
                window = tables.pager(len(found.browsed), key=browse_filters.PAGE_KEY)
            with table:
                records = found.browsed.page(window.start, window.stop - window.start)
                ticked = browse_table.draw(
                    records,
                    columns=browse_status.columns(chosen, here, is_narrow=opened is not None),
                    similarities=found.similarity_of(records),
                    is_narrow=opened is not None,
                )
            with actions:
                known = browse_status.known_categories(index)
                browse_actions.draw(working, found.browsed, records, ticked, categories=known, explains=opened is None)
    if opened:
        with detail:
            memory_detail.draw(working, index, opened, include_private=head.shows_private)
    browse_status.draw_python(here, chosen)
