"""Curate: what deserves a look, the trash, what is not kept for ever, and files in and out."""

from app import curate_parts, scope, session

draw = curate_parts.choose()
draw(session.current(), scope.current())
