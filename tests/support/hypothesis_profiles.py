"""How many examples hypothesis tries: one profile for every test, in three sizes.

`make check` takes "quick", `make test` "full"; `pytest --hypothesis-profile=thorough` looks longer for what nobody has
found. A machine that is busy is no fault, and so there is no deadline.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_FULL = 100

# CI tries the same examples each time. Elsewhere every run tries others, keeps what fails, and prints how to repeat it.
settings.register_profile(
    "full",
    max_examples=_FULL,
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("full"), max_examples=20, derandomize=True)
settings.register_profile("thorough", settings.get_profile("full"), max_examples=2_000, derandomize=False)
settings.load_profile("full")


def examples(full: int) -> settings:
    """So many examples in the profile "full", and in proportion in the others: for what takes long, or needs many."""
    return settings(max_examples=max(1, full * settings().max_examples // _FULL))
