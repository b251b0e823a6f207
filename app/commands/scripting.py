"""What the commands for scripts share: the engine they work on, and how they print memories and changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click
from mnemoscope import NamespaceError, PermissionDeniedError, StoreUnavailableError
from mnemoscope.connections import Role, may
from mnemoscope.core import from_iso, read_namespace

from app.commands.options import operator_option, role_option, said_plainly, settings_from, store_options
from app.text.display import one_line
from app.text.shell_words import namespace_word, quoted, read_namespace_word

if TYPE_CHECKING:
    from mnemoscope import Change, MemoryEngine, MemoryRecord
    from mnemoscope.stores import Ref

_LONGEST_LINE = 500

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Namespace(click.ParamType[tuple[str, ...]]):
    name = "namespace"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        try:
            return value if isinstance(value, tuple) else read_namespace_word(value)
        except NamespaceError as error:
            self.fail(str(error), param, ctx)


class _Moment(click.ParamType[datetime]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return value if isinstance(value, datetime) else from_iso(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; write it as 2026-01-31 or 2026-01-31T18:30+02:00.", param, ctx)


NAMESPACE = _Namespace()
"""The type of an option that is a namespace: "a/b", or a JSON list where a label has a slash of its own."""

NAMESPACE_OPTION = click.option(
    "--namespace", type=NAMESPACE, required=True, help='The namespace, such as "memories/ana".'
)
SCOPE_OPTION = click.option(
    "--namespace", type=NAMESPACE, default="", help='The namespace, such as "memories/ana"; the whole store by default.'
)
SUBTREE_OPTION = click.option("--subtree", is_flag=True, help="Also the namespaces below it.")
MOMENT = _Moment()
"""The type of an option that is a time."""

DRY_RUN_OPTION = click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")


def script_options(command: _Command) -> _Command:
    """The options of every command for scripts: which store, and whether to print JSON."""
    option: Callable[[_Command], _Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return store_options(option(command))


def writing_options(command: _Command) -> _Command:
    """The options of every command for scripts that writes: also who does it, in which role, and why."""
    reason: Callable[[_Command], _Command] = click.option(
        "--reason", default="", help="Why; it is kept in the history."
    )
    return script_options(operator_option(role_option(reason(command))))


def place_options(command: _Command) -> _Command:
    """The options that name memories of one namespace."""
    keys: Callable[[_Command], _Command] = click.option(
        "--key", "keys", multiple=True, required=True, help="This memory; repeatable."
    )
    return NAMESPACE_OPTION(keys(command))


@contextmanager
def working_engine(
    given: Mapping[str, Any], *, writing: bool = False, needed: Role = "editor", makes: bool = False
) -> Iterator[MemoryEngine]:
    """The engine over the connection that the options name; errors become one line and exit code 1.

    Without `writing` nothing in the store is made or changed. `needed` is the role that writing takes, and `makes`
    says that a store that is not there is made: only where something is put into it.
    """
    from mnemoscope.connections import open_connection

    from app.session import connections

    options = dict(given)
    settings = settings_from(read_only=options.pop("is_read_only", False), **options)
    with said_plainly():
        offered = connections.read_catalogue(settings)
        role = offered.roles.of(None)
        if writing and not may(role, needed):
            raise PermissionDeniedError(f"Your role is {role}, and this takes the role {needed}; nothing was written.")
        connection = offered.find(None)
        if writing and not makes and connections.read_version(connection) == connections.MISSING:
            raise StoreUnavailableError(f"There is no SQLite file {connection.file()}. Check the path.")
        engine = open_connection(connection, writing=writing, touch=False, actor=settings.operator)
        try:
            if writing and (closed := connections.why_closed(engine)):
                raise PermissionDeniedError(closed)
            yield engine
        finally:
            engine.close()


def taken_out(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """These options, taken out of what the command was given: the rest says which store."""
    return {name: options.pop(name) for name in names}


def on_this_store(line: str) -> str:
    """A command to be copied, on the store of the command that runs."""
    given = click.get_current_context().params
    names = ("store", "config", "connection", "embedder", "next_embedder")
    words = [f"--{name.replace('_', '-')} {quoted(str(given[name]))}" for name in names if given.get(name)]
    return " ".join(["mnemoscope", line, *words])


def places_of(asked: Mapping[str, Any]) -> list[Ref]:
    """Where the memories are that `--namespace` and `--key` name."""
    where = read_namespace(asked["namespace"])
    return [(where, key) for key in asked["keys"]]


def record_value(record: MemoryRecord) -> dict[str, Any]:
    """A memory as JSON: where it is, and the value as it is stored."""
    return {"namespace": list(record.namespace), "key": record.key, **record.to_value()}


def change_value(change: Change) -> dict[str, Any]:
    """A change as JSON, without the vectors that are kept to undo it."""
    value = change.to_value()
    return {"id": change.id, **{name: part for name, part in value.items() if not name.endswith("vectors")}}


def print_json(value: object) -> None:
    """Print JSON; whatever is not ASCII is escaped, so that stored text cannot act on the terminal."""
    click.echo(json.dumps(value, indent=2, default=str))


def print_records(records: Sequence[MemoryRecord]) -> None:
    """Print one line a memory: namespace, key and text."""
    for record in records:
        click.echo(f"{namespace_word(record.namespace)}  {one_line(record.key)}  {_short(record.content)}")


def print_changes(changes: Sequence[Change]) -> None:
    """Print one line a change: when, what, by whom, where, and the text that it left."""
    for change in changes:
        text = change.text_before if change.text_after is None else change.text_after
        parts = (
            f"{change.at:%Y-%m-%d %H:%M:%S}",
            change.action,
            change.actor,
            change.group,
            namespace_word(change.namespace),
            change.key,
            "(erased)" if change.erased else _short(text or ""),
        )
        click.echo("  ".join(one_line(part) for part in parts))


def report_changes(changes: Sequence[Change], *, as_json: bool) -> None:
    """Print what was changed, and how it is taken back."""
    if as_json:
        print_json([change_value(change) for change in changes])
        return
    print_changes(changes)
    if changes:
        click.echo(f"To take it back: {on_this_store(f'undo {changes[0].group}')}", err=True)
    else:
        click.echo("Nothing was changed.", err=True)


def _short(text: str) -> str:
    return one_line(text, _LONGEST_LINE)
