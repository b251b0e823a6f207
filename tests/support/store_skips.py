"""What the store contract skips on which store, and why: said here alone, so that the tests and the docs agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mnemoscope.stores import Abilities, generic, memory
from mnemoscope.stores.postgres import adapter as postgres
from mnemoscope.stores.sqlite import adapter as sqlite

OWN = {
    "memory": memory.MemoryAdapter._abilities,
    "sqlite": sqlite._ABILITIES,
    "postgres": postgres._ABILITIES,
}
GENERIC = ("generic-memory", "generic-sqlite", "generic-async-sqlite", "generic-async-postgres", "generic-server")
ABILITIES: dict[str, Abilities] = {**OWN, **dict.fromkeys(GENERIC, generic.GenericAdapter.abilities)}
"""What the adapter of each store can do."""

LACKS = {
    "reads_vectors": "the official interface gives no vectors back, and takes none",
    "sees_changes": "the official interface has no marker of changes",
}
"""Why an ability is missing, in words."""

NO_CREATION_TIME = "the official interface cannot set a time of creation"
CREATION_RESET = f"{NO_CREATION_TIME}, and this store resets it at every put"
ORPHANS = "the store keeps the vectors of deleted items, and the official interface cannot remove them"
SHORT = "the store's own search leaves out items without a vector"
ITS_OWN_EMBEDDER = "its vectors are given to it"
ONE_PROCESS = "no other process can open it"

_TIMES = (
    "test_times_are_aware_and_creation_survives_a_change",
    "test_a_given_creation_time_is_kept_to_the_microsecond",
)
_EMBEDS = {"test_a_store_whose_vectors_cannot_be_read_embeds_by_itself": ITS_OWN_EMBEDDER}
_SHORT = {"test_search_fills_its_limit_and_puts_items_without_a_vector_last": SHORT}
_SQLITE = {
    **dict.fromkeys(_TIMES, CREATION_RESET),
    "test_no_vectors_clears_those_that_were": ORPHANS,
    "test_vectors_of_fields_that_are_gone_go_too": ORPHANS,
    "test_a_deleted_vector_does_not_come_back": ORPHANS,
    "test_a_vector_the_store_left_behind_does_not_come_back": ORPHANS,
    **_SHORT,
}
FAULTS: dict[str, dict[str, str]] = {
    "memory": {**_EMBEDS, "test_the_token_tells_of_a_change_by_another_process": ONE_PROCESS},
    "sqlite": _EMBEDS,
    "postgres": _EMBEDS,
    "generic-memory": dict.fromkeys(_TIMES, CREATION_RESET),
    "generic-sqlite": _SQLITE,
    "generic-async-sqlite": _SQLITE,
    "generic-async-postgres": {_TIMES[1]: NO_CREATION_TIME, **_SHORT},
    "generic-server": {
        **dict.fromkeys(_TIMES, CREATION_RESET),
        "test_any_text_is_a_key[generic-server-]": "a server refuses the empty key",
    },
}
"""Which tests, or single cases of them, each store cannot pass for another reason than a missing ability."""


def skipped(store: str, test: Callable[..., Any], case: str = "") -> str | None:
    """Why a store skips a test, or None where it is run."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "needs" and not getattr(ABILITIES[store], mark.args[0]):
            return LACKS[mark.args[0]]
    return FAULTS[store].get(case) or FAULTS[store].get(test.__name__)


def skips_of(store: str, module: Any) -> Mapping[str, str]:
    """Everything that a store skips of a module of tests, as claims, with the reason."""
    found = {}
    for name, test in vars(module).items():
        if name.startswith("test_"):
            cases = [case for case in FAULTS[store] if case.split("[")[0] == name] or [""]
            reasons = {case: skipped(store, test, case) for case in cases}
            found |= {_claim(case or name): reason for case, reason in reasons.items() if reason}
    return found


def _claim(test: str) -> str:
    name, _, case = test.removeprefix("test_").partition("[")
    return name.replace("_", " ") + (" (the empty one)" if case else "")
