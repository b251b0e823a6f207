"""Write the checkpoints of this folder again, each by the versions of LangGraph that its name tells.

    python tests/conversations/checkpoints/make.py

makes an environment for each row of `VERSIONS` in a temporary folder, lets a small agent talk there, and dumps its
database as SQL. It needs the package index, and for PostgreSQL the test environment.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
VERSIONS = {
    "sqlite-1.0.0": ("langgraph==0.2.20", "langgraph-checkpoint==1.0.9", "langchain-core==0.2.40"),
    "sqlite-2.0.1": ("langgraph==0.2.60", "langgraph-checkpoint==2.0.9", "langchain-core==0.3.28"),
    "sqlite-2.0.11": ("langgraph==0.6.7", "langgraph-checkpoint==2.1.1"),
    "sqlite-3.1.1": ("langgraph==1.2.8",),
    "postgres-2.0.3": ("langgraph==0.2.60", "langgraph-checkpoint==2.0.9", "langchain-core==0.3.28", "psycopg[binary]"),
    "postgres-3.0.2": ("langgraph==1.0.5", "langgraph-checkpoint==3.0.1", "psycopg[binary]"),
    "shallow-2.0.23": ("langgraph==0.6.7", "langgraph-checkpoint==2.1.1", "psycopg[binary]"),
}
TALKS = {"ana": ("I live in Lisbon.", "I am allergic to peanuts."), "ben": ("I work as a nurse.",)}


def talk(kind: str, place: str) -> None:
    """Let a graph answer what people say, with its checkpoints at this place; run by the old versions."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph

    if kind == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver as Saver
    elif kind == "postgres":
        from langgraph.checkpoint.postgres import PostgresSaver as Saver
    else:
        from langgraph.checkpoint.postgres import ShallowPostgresSaver as Saver
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [AIMessage(f"Noted, number {len(state['messages'])}.")]})
    graph.add_edge(START, "answer")
    with Saver.from_conn_string(place) as saver:
        saver.setup()
        agent = graph.compile(checkpointer=saver)
        for thread, turns in TALKS.items():
            for number, turn in enumerate(turns):
                message = HumanMessage(turn, id=f"{thread}-{number}")
                agent.invoke({"messages": [message]}, {"configurable": {"thread_id": thread}})


def main() -> None:
    """Make every row of `VERSIONS`."""
    sys.path.append(str(HERE.parents[1] / "support"))
    with tempfile.TemporaryDirectory() as folder:
        for name, packages in VERSIONS.items():
            kind, _, version = name.partition("-")
            saver = "sqlite" if kind == "sqlite" else "postgres"
            environment = Path(folder) / name
            subprocess.run([sys.executable, "-m", "venv", environment], check=True)
            install = [environment / "bin/pip", "install", "--quiet", f"langgraph-checkpoint-{saver}=={version}"]
            subprocess.run([*install, *packages], check=True)
            place = str(environment / "threads.sqlite") if saver == "sqlite" else new_database(name)
            subprocess.run([environment / "bin/python", __file__, kind, place], check=True)
            dump = dump_sqlite(place) if saver == "sqlite" else dump_postgres(place)
            (HERE / f"{name}.sql").write_text(dump, encoding="utf-8")


def new_database(name: str) -> str:
    from stores_fixture import postgres_database

    return postgres_database(name.replace("-", "_").replace(".", "_"))


def dump_sqlite(place: str) -> str:
    with sqlite3.connect(place) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def dump_postgres(url: str) -> str:
    """The tables and rows of a database as statements, in no other order than they need."""
    import psycopg

    lines = []
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
        for (table,) in tables:
            columns = connection.execute(
                "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
                "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (table,),
            ).fetchall()
            lines.append(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns)});")
            literals = ", ".join(f"quote_nullable({name}::text)" for name, _ in columns)
            for row in connection.execute(f"SELECT {literals} FROM {table}"):
                lines.append(f"INSERT INTO {table} VALUES ({', '.join(row)});")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        talk(*sys.argv[1:])
    else:
        main()
