"""What happens when a page fails: the operator sees a calm message, the log gets the rest."""

from __future__ import annotations

import logging
import secrets

from mnemoscope import MnemoscopeError
from mnemoscope.errors import describe_error

from app.components import states
from app.session import connections

logger = logging.getLogger("mnemoscope")


def report(error: Exception) -> bool:
    """Show an error that reached the top of a script, callback or fragment; always takes Streamlit's place.

    Errors this library raises on purpose say what to do. Any other is logged under an id that the page shows.
    """
    if isinstance(error, MnemoscopeError):
        states.draw_failed(error)
        return True
    error_id = secrets.token_hex(4)
    logger.error("Error %s in a page\n%s", error_id, connections.scrub_secrets(describe_error(error)))
    states.draw_broken(error_id)
    return True
