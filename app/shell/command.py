"""The `mnemoscope` command: which commands there are, each loaded when it is called.

A further command is one `click.Command` in `app.commands` (or here, where it starts the dashboard), and one row below.
"""

from __future__ import annotations

from importlib import import_module

import click

SCRIPTS = {
    "recall": ("app.commands.recall:recall", "Recall memories for a query, best first."),
    "remember": ("app.commands.remember:remember", "Extract facts from text and remember them."),
    "list": ("app.commands.recall:listing", "List memories, latest change first."),
    "evaluate": ("app.commands.evaluate:evaluate", "Measure a profile against a file of cases."),
    "export": ("app.commands.transfer:export", "Export memories to a file."),
    "import": ("app.commands.transfer:importing", "Import a file; preview it with --dry-run."),
    "update": ("app.commands.edit:update", "Edit the text or labels of memories."),
    "merge": ("app.commands.edit:merge", "Merge memories into the first one named."),
    "move": ("app.commands.edit:move", "Move memories to another namespace."),
    "forget": ("app.commands.history:forget", "Forget memories; you can restore them."),
    "trash": ("app.commands.trash:trash", "List forgotten memories."),
    "restore": ("app.commands.trash:restore", "Restore forgotten memories."),
    "allow": ("app.commands.trash:allow", "Allow forgotten facts to be learned again."),
    "erase": ("app.commands.trash:erase", "Erase memories for good."),
    "history": ("app.commands.history:history", "List changes, latest first."),
    "undo": ("app.commands.history:undo", "Undo a change, a group of changes or a run."),
    "worklist": ("app.commands.curate:worklist", "Print findings to review, and settle them."),
    "adopt": ("app.commands.curate:adopt", "Convert items that other programs wrote."),
    "retain": ("app.commands.curate:retain", "Forget what a namespace's retention rules select."),
    "reembed": ("app.commands.reembed:reembed", "Re-embed a store with its next embedder."),
}
"""The commands for scripts, on one connection each: where each is, and what the list of commands says of it."""

COMMANDS = {
    "run": ("app.shell.start:run", "Start the dashboard on your stores."),
    "demo": ("app.shell.start:demo", "Start the dashboard on sample data."),
    "doctor": ("app.commands.doctor:doctor", "Check a connection step by step; write nothing."),
    "replay": ("app.commands.replay:replay", "Measure what is learned from conversations."),
    **SCRIPTS,
}
"""Every command, in the order of the help."""


def load_command(name: str) -> click.Command:
    """The command of that name, with its options.

    Loading all of them would take a second of processor time, and a shell waits for it at each call.
    """
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    return command


class _LoadedWhenCalled(click.Group):
    """The group of `COMMANDS`; arguments without a command's name are those of `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help", "--version")):
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and load_command(listed.name or ""), rest


_LISTED = [click.Command(name, help=summary) for name, (_, summary) in COMMANDS.items()]


@click.group(cls=_LoadedWhenCalled, commands=_LISTED, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mnemoscope", prog_name="mnemoscope")
def mnemoscope() -> None:
    """See, explain, tune and repair what LangGraph agents remember.

    Without a command, the dashboard starts on your stores, with the options of `run`.
    """
