"""Tune: profiles measured on cases, better weights searched for, and the threshold of consolidation learned."""

from app.session import scope, session
from app.views.tune import parts

draw = parts.choose_part()
draw(session.current(), scope.current())
