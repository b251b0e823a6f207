"""Curate: what deserves a look, the trash, what is not kept for ever, and files in and out."""

from app.session import scope, session
from app.views.curate import parts

draw = parts.choose_part()
draw(session.current(), scope.current())
