"""History: every change in time, the undoing of it, and the memories as they were at another moment."""

from app import history_parts, scope, session

draw = history_parts.choose()
draw(session.current(), scope.current())
