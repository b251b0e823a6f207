"""What happens when a page fails: the operator sees a calm message, the log gets the rest."""

from __future__ import annotations

import logging
import secrets
import traceback

from mnemoscope import MnemoscopeError

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
    trace = "".join(traceback.format_exception(error))
    logger.error("Error %s in a page\n%s", error_id, connections.scrub_secrets(trace))
    states.draw_broken(error_id)
    return True
