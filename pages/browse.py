"""Browse: every memory of the scope, to read, find, edit and forget."""

import streamlit as st

from app.components import states, tables
from app.session import links, scope, session
from app.views.browse import actions as browse_actions
from app.views.browse import filters, memory, results

head = results.draw_head()
working = session.current()
here = scope.current()
index = working.engine.index(here.namespace, subtree=here.subtree)
opened = links.read_open_memory(here)

if not len(index):
    states.draw_nothing_remembered(here, working.engine.counts())
else:
    can_find_meaning = results.can_find_meaning(working.engine)
    chosen = filters.draw_filters(index, finds_meaning=can_find_meaning, include_private=head.shows_private)
    found = results.search_memories(working.engine, index, chosen)
    head.count(found.browsed)
    listing, detail = st.columns([11, 9], gap="medium") if opened else (st.container(), None)
    with listing:
        if not len(found.browsed):
            states.draw_filtered_out(found.browsed.total, key="browse.clear-all", on_clear=filters.clear_filters)
        else:
            actions, table, pages = st.container(), st.container(), st.container()
            with pages:
                window = tables.draw_pager(len(found.browsed), key=filters.PAGE_KEY)
            with table:
                records = found.browsed.page(window.start, window.stop - window.start)
                ticked = results.draw_table(
                    records,
                    columns=results.choose_columns(chosen, here, is_narrow=opened is not None),
                    similarities=found.similarity_of(records),
                    is_narrow=opened is not None,
                )
            with actions:
                known = results.list_categories(index)
                browse_actions.draw_actions(
                    working, found.browsed, records, ticked, categories=known, explains=opened is None
                )
    if opened:
        with detail:
            memory.draw_memory(working, index, opened, include_private=head.shows_private)
    results.draw_browse_code(here, chosen)
