"""Browse: every memory of the scope, to read, find, edit and forget."""

import streamlit as st

from app.components import states, tables
from app.session import scope, session
from app.views.browse import actions as browse_actions
from app.views.browse import filters, search, status
from app.views.browse import opened as browse_opened
from app.views.browse import table as browse_table
from app.views.memory import detail as memory_detail

head = status.head()
working = session.current()
here = scope.current()
index = working.engine.index(here.namespace, subtree=here.subtree)
opened = browse_opened.current(here)

if not len(index):
    states.nothing_remembered(here, working.engine.counts())
else:
    can_find_meaning = search.can_find_meaning(working.engine)
    chosen = filters.draw(index, finds_meaning=can_find_meaning, include_private=head.shows_private)
    found = search.search(working.engine, index, chosen)
    head.count(found.browsed)
    listing, detail = st.columns([11, 9], gap="medium") if opened else (st.container(), None)
    with listing:
        if not len(found.browsed):
            states.filtered_out(found.browsed.total, key="browse.clear-all", on_clear=filters.clear)
        else:
            actions, table, pages = st.container(), st.container(), st.container()
            with pages:
                window = tables.pager(len(found.browsed), key=filters.PAGE_KEY)
            with table:
                records = found.browsed.page(window.start, window.stop - window.start)
                ticked = browse_table.draw(
                    records,
                    columns=status.columns(chosen, here, is_narrow=opened is not None),
                    similarities=found.similarity_of(records),
                    is_narrow=opened is not None,
                )
            with actions:
                known = status.known_categories(index)
                browse_actions.draw(working, found.browsed, records, ticked, categories=known, explains=opened is None)
    if opened:
        with detail:
            memory_detail.draw(working, index, opened, include_private=head.shows_private)
    status.draw_python(here, chosen)
