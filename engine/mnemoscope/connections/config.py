"""Named connections: which store, embedder, model and profile, read from `mnemoscope.toml` and checked strictly."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..config import PRESETS, MemoryConfig
from ..core.namespaces import Namespace, read_prefix
from ..core.secrets import expand, has_literal_secret, is_secret_name, masked, secrets_in
from ..core.text import shown
from ..errors import ConfigurationError, NamespaceError
from .keys import CONNECTION_KEYS, TOP_KEYS, check_keys, read_key
from .roles import Roles, read_roles

__all__ = [
    "CONFIG_FILE",
    "CONFIG_VARIABLE",
    "DEFAULT_FIELDS",
    "SCHEMES",
    "Connection",
    "Connections",
    "config_folder",
    "connection_to",
    "find_config",
    "load_connections",
]


CONFIG_FILE = "mnemoscope.toml"
CONFIG_VARIABLE = "MNEMOSCOPE_CONFIG"
DEFAULT_FIELDS = ("content",)

SCHEMES: dict[str, str] = {
    "sqlite": "sqlite:///file",
    "postgresql": "postgresql://user:${PGPASSWORD}@host/database",
    "postgres": "postgres://user:${PGPASSWORD}@host/database",
    "langgraph": "langgraph://host:port",
    "langgraph+https": "langgraph+https://host",
    "python": "python:package.module:factory",
    "memory": "memory:",
}
"""What an address may begin with, and its form."""

_NAME = re.compile(r"\w[\w .@-]{0,59}")
_BRINGS_ITS_OWN_EMBEDDER = ("python", "langgraph", "langgraph+https")


@dataclass(frozen=True, kw_only=True, repr=False)
class Connection:
    """One store and how to use it.

    `url` is as it was written, with `${NAME}` for what the environment holds; `shown_url` is what people may see.
    `next_embedder` is the one to go over to, and is used as soon as the store has gone over.
    `namespaces` are the prefixes that are shown, all where there is none. `text_fields` says, by prefix, which
    field of an item of others is its text: a name, or a path such as "data.text". `config` is what `profile` names.
    `queue` is the file of the background's queue, if there is one. `folder` is where relative files are looked for.
    """

    name: str
    url: str
    embedder: str | None = None
    next_embedder: str | None = None
    dimensions: int | None = None
    fields: tuple[str, ...] = DEFAULT_FIELDS
    namespaces: tuple[Namespace, ...] = ()
    read_only: bool = False
    model: str | None = None
    profile: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    text_fields: tuple[tuple[Namespace, str], ...] = ()
    queue: str | None = None
    config: MemoryConfig | None = None
    folder: str = ""

    def __repr__(self) -> str:
        return f"Connection(name={self.name!r}, url={self.shown_url!r})"

    @property
    def shown_url(self) -> str:
        """The address with every secret masked."""
        return masked(self.url)

    def address(self, environment: Mapping[str, str] = os.environ) -> str:
        """The address with its secrets, for opening alone.

        Raises:
            ConfigurationError: a variable is not set, or the address is of no known form.
        """
        address = expand(self.url, environment, what=f"The url of the connection {self.name!r}")
        _check_scheme(address, where=f"The connection {self.name!r}")
        return address

    def scheme(self, environment: Mapping[str, str] = os.environ) -> str:
        """What the address begins with, one of `SCHEMES`."""
        return self.address(environment).partition(":")[0].casefold()

    def file(self, environment: Mapping[str, str] = os.environ) -> Path | None:
        """The file of an SQLite store; None for any other store."""
        address = self.address(environment)
        if not address.startswith("sqlite:"):
            return None
        return Path(self.folder) / Path(address.removeprefix("sqlite:").removeprefix("///")).expanduser()

    def queue_file(self) -> Path | None:
        """The file of the background's queue; None where none is named."""
        return Path(self.folder) / Path(self.queue).expanduser() if self.queue else None

    def expanded_headers(self, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The headers with their secrets, for opening alone."""
        what = f"A header of the connection {self.name!r}"
        return {name: expand(value, environment, what=what) for name, value in self.headers}

    def secrets(self, environment: Mapping[str, str] = os.environ) -> list[str]:
        """Everything that must never be shown, as far as it is set."""
        found: list[str] = []
        try:
            found += secrets_in(self.address(environment))
            found += [self.expanded_headers(environment)[name] for name, value in self.headers if "${" in value]
        except ConfigurationError:
            return found
        return found


@dataclass(frozen=True)
class Connections:
    """The connections of one file by name, its profiles with the presets, which comes first, and who may do what."""

    file: Path | None = None
    connections: Mapping[str, Connection] = field(default_factory=dict)
    profiles: Mapping[str, MemoryConfig] = field(default_factory=lambda: dict(PRESETS))
    default: str | None = None
    roles: Roles = field(default_factory=Roles)

    def named(self, name: str) -> Connection:
        """The connection of this name.

        Raises:
            ConfigurationError: there is none.
        """
        if name not in self.connections:
            known = ", ".join(self.connections) or f"none; write a [connections.{name}] table in {CONFIG_FILE}"
            raise ConfigurationError(f"There is no connection {name!r}; there is {known}.")
        return self.connections[name]

    def profile(self, name: str, *, where: str) -> MemoryConfig:
        """The profile of this name; `where` says who asks.

        Raises:
            ConfigurationError: there is none.
        """
        if name not in self.profiles:
            raise ConfigurationError(
                f"{where}: there is no profile {name!r}; allowed is {', '.join(self.profiles)}. "
                f"Add a [profiles.{name}] table, or name one of these."
            )
        return self.profiles[name]


def load_connections(
    file: str | Path | None = None, environment: Mapping[str, str] = os.environ, *, folder: Path | None = None
) -> Connections:
    """The connections of the file that is named, or found by `find_config`; none at all where there is no file.

    Raises:
        ConfigurationError: the file is missing though it was named, is not TOML, or holds what is not allowed.
    """
    found = find_config(file, environment, folder=folder)
    if found is None:
        return Connections()
    try:
        document = tomllib.loads(found.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{found} cannot be read: {error}. Check the path and its permissions.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{found} is not TOML: {error}. Correct that line.") from error
    return _read_document(document, found)


def find_config(
    file: str | Path | None = None, environment: Mapping[str, str] = os.environ, *, folder: Path | None = None
) -> Path | None:
    """The configuration file: the one named, that of MNEMOSCOPE_CONFIG, `./mnemoscope.toml`, or the user's own.

    Raises:
        ConfigurationError: the named file is not there.
    """
    named = file or environment.get(CONFIG_VARIABLE, "").strip() or None
    if named is not None:
        path = Path(named).expanduser().absolute()
        if not path.is_file():
            raise ConfigurationError(f"There is no configuration file {path}; check --config or {CONFIG_VARIABLE}.")
        return path
    candidates = [(folder or Path.cwd()) / CONFIG_FILE, config_folder(environment) / CONFIG_FILE]
    return next((path for path in candidates if path.is_file()), None)


def config_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of this user's configuration, as the operating system names it."""
    if sys.platform == "win32":
        base = Path(environment.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "mnemoscope"


def connection_to(store: str, *, known: Connections | None = None, **settings: Any) -> Connection:
    """The connection to a store that is named by its path or address alone.

    `settings` are fields of `Connection`; a profile is looked up in `known`.

    Raises:
        ConfigurationError: the address or a setting cannot be used.
    """
    has_scheme = any(store.startswith(f"{scheme}:") for scheme in SCHEMES) or store.startswith("${")
    if not has_scheme and "://" in store:
        _check_scheme(store, where="The store")
    url = store if has_scheme else f"sqlite:///{os.path.abspath(os.path.expanduser(store))}"
    given = {name: value for name, value in settings.items() if value is not None}
    profile = given.get("profile")
    config = (known or Connections()).profile(profile, where="The settings") if profile else None
    return _checked(Connection(**{"name": _name_of(url), "url": url, "config": config, **given}), where="The store")


def _name_of(url: str) -> str:
    if url.startswith("sqlite:"):
        return Path(url.removeprefix("sqlite:")).name
    shown_url = re.sub(r"://[^/?#]*@", "://", masked(url))
    return shown_url.partition("?")[0].partition("://")[2] or shown_url


def _read_document(document: Mapping[str, Any], file: Path) -> Connections:
    check_keys(document, TOP_KEYS, where=str(file))
    profiles = dict(PRESETS)
    for name, table in _tables(document, "profiles", file).items():
        profiles[name] = _read_profile(table, f"{file}, [profiles.{name}]")
    known = Connections(file, {}, profiles)
    connections = {
        name: _read_connection(name, table, known, f"{file}, [connections.{name}]")
        for name, table in _tables(document, "connections", file).items()
    }
    default = document.get("default")
    if default is not None and default not in connections:
        names = ", ".join(connections) or "none"
        raise ConfigurationError(f"{file}, default = {shown(default)}: name one of the connections: {names}.")
    roles = read_roles(document.get("roles", {}), where=f"{file}, [roles]")
    return Connections(file, connections, profiles, default, roles)


def _tables(document: Mapping[str, Any], name: str, file: Path) -> dict[str, dict[str, Any]]:
    tables = document.get(name, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ConfigurationError(f"{file}: {name} holds tables alone; write [{name}.<name>] above the settings.")
    for each in tables:
        if not _NAME.fullmatch(each):
            raise ConfigurationError(
                f"{file}, [{name}.{shown(each)}]: a name has at most 60 letters, digits, spaces and any of '_-.@', "
                "and begins with a letter or digit. Rename the table."
            )
    return tables


def _read_profile(table: Mapping[str, Any], where: str) -> MemoryConfig:
    known = [spec.name for spec in fields(MemoryConfig)]
    check_keys(table, known, where=where)
    try:
        return MemoryConfig(**table)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error


def _read_connection(name: str, table: Mapping[str, Any], known: Connections, where: str) -> Connection:
    check_keys(table, list(CONNECTION_KEYS), where=where)
    if "url" not in table:
        raise ConfigurationError(f"{where}: url is missing; allowed is {_allowed_urls()}. Add a url.")
    given = {key: read_key(CONNECTION_KEYS[key], value, where=where) for key, value in table.items()}
    if "namespaces" in given:
        given["namespaces"] = _read_namespaces(given["namespaces"], where)
    if "text_fields" in given:
        texts, paths = zip(*given["text_fields"], strict=True) if given["text_fields"] else ((), ())
        given["text_fields"] = tuple(zip(_read_namespaces(texts, where, "text_fields"), paths, strict=True))
    config = known.profile(given["profile"], where=where) if "profile" in given else None
    connection = Connection(name=name, config=config, folder=str(known.file.parent) if known.file else "", **given)
    if has_literal_secret(connection.url):
        raise ConfigurationError(
            f"{where}, url = {connection.shown_url!r}: a password must not stand in the file; "
            "put it in an environment variable and write ${NAME} in its place."
        )
    return _checked(connection, where=where)


def _read_namespaces(texts: tuple[str, ...], where: str, key: str = "namespaces") -> tuple[Namespace, ...]:
    try:
        return tuple(read_prefix(text) for text in texts)
    except NamespaceError as error:
        raise ConfigurationError(f"{where}, {key} = {list(texts)!r}: {error}") from error


def _checked(connection: Connection, *, where: str) -> Connection:
    """The connection, if what can be told without the environment is right."""
    for name, value in connection.headers:
        if is_secret_name(name) and "${" not in value:
            raise ConfigurationError(
                f"{where}, headers: {name} must not stand in the file; put its value in an environment variable "
                "and write ${NAME}."
            )
    if connection.url.startswith("${"):
        return connection
    scheme = _check_scheme(connection.url, where=where)
    told = (connection.embedder, connection.next_embedder, connection.dimensions)
    is_told = any(told) or connection.fields != DEFAULT_FIELDS
    if scheme in _BRINGS_ITS_OWN_EMBEDDER and is_told:
        raise ConfigurationError(
            f"{where}: embedder, next_embedder, dimensions and fields have no effect on a {scheme}: store, which "
            "embeds by itself; leave them out."
        )
    if connection.headers and not scheme.startswith("langgraph"):
        raise ConfigurationError(f"{where}: headers are sent to a LangGraph server alone; leave them out.")
    return connection


def _check_scheme(url: str, *, where: str) -> str:
    scheme, colon, rest = url.partition(":")
    folded = scheme.casefold()
    wants_slashes = folded in SCHEMES and "://" in SCHEMES[folded]
    if not colon or folded not in SCHEMES or (wants_slashes and not rest.startswith("//")):
        raise ConfigurationError(f"{where}, url = {masked(url)!r}: allowed is {_allowed_urls()}. Correct the address.")
    if folded == "sqlite" and (not rest.startswith("///") or not rest.strip("/")):
        raise ConfigurationError(
            f"{where}, url = {masked(url)!r}: allowed is sqlite:///file, or sqlite:////path/to/file from the root."
        )
    return folded


def _allowed_urls() -> str:
    return ", ".join(SCHEMES.values())
