"""Tune: profiles measured on cases, better weights searched for, and the threshold of consolidation learned."""

from app import scope, session, tune_parts

draw = tune_parts.choose()
draw(session.current(), scope.current())
