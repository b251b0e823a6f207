"""History: every change in time, the undoing of it, and the memories as they were at another moment."""

from app.session import scope, session
from app.views.history import parts

draw = parts.choose_part()
draw(session.current(), scope.current())
