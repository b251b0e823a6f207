"""What an installation without an extra says: the way to install it, on one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

_WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
"""


def without(missing: tuple[str, ...], script: str) -> subprocess.CompletedProcess[str]:
    """Run the script as if these packages were not installed."""
    code = _WITHOUT.format(missing=missing) + script
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": "engine:."})


@pytest.mark.parametrize(
    ("missing", "module", "extra"),
    [
        ("sqlite_vec", "sqlite.connection", "sqlite"),
        ("sqlite_vec", "sqlite.adapter", "sqlite"),
        ("langgraph.store.sqlite", "sqlite.adapter", "sqlite"),
        ("psycopg", "postgres.connection", "postgres"),
        ("psycopg", "postgres.adapter", "postgres"),
        ("psycopg_pool", "postgres.adapter", "postgres"),
        ("langgraph.store.postgres", "postgres.adapter", "postgres"),
    ],
)
def test_a_store_whose_extra_is_missing_says_how_to_install_it(missing: str, module: str, extra: str) -> None:
    script = f"""
from mnemoscope.errors import ConfigurationError
try:
    import mnemoscope.stores.{module}
except ConfigurationError as error:
    print(error)
"""
    done = without((missing,), script)
    assert done.stdout.strip() == (
        f"This store needs a package that is missing ({missing}): pip install 'mnemoscope[{extra}]'."
    ), done.stderr


def test_the_command_without_the_app_is_one_line_and_exit_code_1() -> None:
    done = without(("click",), "from app.cli import main; main()")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The command needs a package that is missing (click): pip install 'mnemoscope[app]'\n"
