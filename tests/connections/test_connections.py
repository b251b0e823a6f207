from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from mnemoscope import ConfigurationError, PermissionDeniedError, StoreUnavailableError
from mnemoscope.config import KNOBS
from mnemoscope.connections import (
    CONNECTION_KEYS,
    Connection,
    Connections,
    config_folder,
    connection_to,
    find_config,
    load_connections,
    open_connection,
    open_store,
)
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores import View

SECRET = "hunter2-and-more"
ANA = ("memories", "ana")


def written(folder: Path, text: str) -> Path:
    file = folder / "mnemoscope.toml"
    file.write_text(text, encoding="utf-8")
    return file


def loaded(folder: Path, text: str) -> Connections:
    return load_connections(written(folder, text), {})


FULL = """
default = "lab"

[connections.production]
url = "postgresql://app:${PGPASSWORD}@db.example:5432/agents"
embedder = "hashing"
dimensions = 256
fields = ["content", "title"]
namespaces = ["memories/ana", "memories/b.c@x"]
read_only = true
model = "anthropic:some-model"
profile = "brisk"

[connections.lab]
url = "sqlite:///lab.sqlite"

[connections.server]
url = "langgraph+https://agents.example"
headers = { x-api-key = "${LANGGRAPH_KEY}", x-team = "red" }

[profiles.brisk]
recency_half_life_days = 7
semantic_weight = 0.7
"""


def test_every_key_of_a_connection_is_read(tmp_path: Path) -> None:
    found = loaded(tmp_path, FULL)
    production = found.named("production")
    assert list(found.connections) == ["production", "lab", "server"]
    assert found.default == "lab"
    assert (production.embedder, production.dimensions, production.fields) == ("hashing", 256, ("content", "title"))
    assert production.namespaces == (ANA, ("memories", "b%2Ec@x"))
    assert (production.read_only, production.model, production.profile) == (True, "anthropic:some-model", "brisk")
    assert production.config is not None
    assert (production.config.recency_half_life_days, production.config.semantic_weight) == (7, 0.7)
    assert dict(found.named("server").headers) == {"x-api-key": "${LANGGRAPH_KEY}", "x-team": "red"}
    assert set(CONNECTION_KEYS) <= set(Connection.__dataclass_fields__)


def test_a_relative_file_is_looked_for_beside_the_configuration(tmp_path: Path) -> None:
    assert loaded(tmp_path, FULL).named("lab").file() == tmp_path / "lab.sqlite"


def test_an_absolute_file_and_one_of_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert connection_to("sqlite:////data/m.sqlite").file() == Path("/data/m.sqlite")
    assert connection_to("sqlite:///~/m.sqlite").file() == tmp_path / "m.sqlite"


WRONG = {
    'urll = "memory:"': ("[connections.x]: the key 'urll' is not known", "Did you mean 'url'?"),
    'embedder = "bundled"': ("[connections.x]: url is missing", "sqlite:///file"),
    "url = 5": ("[connections.x], url = a int: allowed is some text in quotes",),
    'url = "  "': ("allowed is some text in quotes",),
    'url = "mysql://u:hunter2-and-more@h/d"': ("a password must not stand in the file",),
    'url = "mysql://h/d"': ("url = 'mysql://h/d': allowed is sqlite:///file",),
    'url = "sqlite:m.sqlite"': ("allowed is sqlite:///file",),
    'url = "sqlite:///"': ("allowed is sqlite:///file",),
    'url = "postgresql:h"': ("allowed is sqlite:///file",),
    'url = "postgresql://a:hunter2-and-more@h/d"': ("a password must not stand in the file", "write ${NAME}"),
    'url = "memory:"\ndimensions = true': ("dimensions = bool True: allowed is a whole number from 1 to 65536",),
    'url = "memory:"\ndimensions = 0': ("dimensions = int 0",),
    'url = "memory:"\ndimensions = 1.5': ("dimensions = float 1.5",),
    'url = "memory:"\nread_only = "yes"': ("read_only = str 'yes': allowed is true or false",),
    'url = "memory:"\nfields = "content"': ("fields = str 'content': allowed is a list of texts",),
    'url = "memory:"\nfields = []': ("a list of texts with at least one",),
    'url = "memory:"\nnamespaces = ["a", 5]': ("namespaces = ",),
    'url = "memory:"\nnamespaces = ["a//b"]': ("namespaces = ['a//b']", "is empty"),
    'url = "memory:"\nnamespaces = ["__mnemoscope__"]': ("is reserved",),
    'url = "memory:"\nprofile = "fast"': ("there is no profile 'fast'; allowed is classic, precise, rules",),
    'url = "memory:"\nheaders = { a = "b" }': ("headers are sent to a LangGraph server alone",),
    'url = "langgraph://h"\nheaders = { authorization = "hunter2-and-more" }': ("authorization must not stand",),
    'url = "langgraph://h"\nheaders = "hunter2-and-more"': ("headers = 'hunter2-and-more'",),
    'url = "langgraph://h"\nembedder = "hashing"': ("embedder, dimensions and fields have no effect",),
    'url = "python:a:b"\ndimensions = 3': ("embedder, dimensions and fields have no effect",),
    'url = "python:a:b"\nfields = ["title"]': ("embedder, dimensions and fields have no effect",),
}


@pytest.mark.parametrize("body", WRONG)
def test_what_is_wrong_is_named_with_file_table_key_and_way_out(tmp_path: Path, body: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        loaded(tmp_path, f"[connections.x]\n{body}\n")
    said = str(refusal.value)
    assert said.startswith(f"{tmp_path / 'mnemoscope.toml'}, [connections.x]")
    for part in WRONG[body]:
        assert part in said
    assert "headers = " in body or SECRET not in said


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[connections", "is not TOML"),
        ("[conections.x]", "Did you mean 'connections'?"),
        ("connections = 5", "connections holds tables alone"),
        ("[connections]\nx = 5", "connections holds tables alone"),
        ('[connections."<b>"]\nurl = "memory:"', "a name has at most 60 letters"),
        ('default = "y"\n[connections.x]\nurl = "memory:"', "default = str 'y': name one of the connections: x."),
        ("[profiles.p]\nrecency = 5", "[profiles.p]: the key 'recency' is not known"),
        (
            "[profiles.p]\nsemantic_weight = 5",
            "[profiles.p]: MemoryConfig.semantic_weight must be a number from 0 to 1",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_whole(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        loaded(tmp_path, text)
    assert part in str(refusal.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mnemoscope.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_connections(tmp_path / "mnemoscope.toml")


def test_every_knob_can_be_set_by_a_profile(tmp_path: Path) -> None:
    lines = [f"{name} = {str(knob.default).lower()}" for name, knob in KNOBS.items()]
    assert loaded(tmp_path, "[profiles.all]\n" + "\n".join(lines)).profile("all", where="it")


def test_the_file_is_found_where_it_is_named_then_here_then_in_the_users_folder(tmp_path: Path) -> None:
    named, here, users = tmp_path / "named.toml", tmp_path / "here", tmp_path / "config"
    environment = {"XDG_CONFIG_HOME": str(users), "APPDATA": str(users)}
    (here).mkdir()
    assert find_config(None, environment, folder=here) is None
    own = config_folder(environment)
    own.mkdir(parents=True)
    (own / "mnemoscope.toml").touch()
    assert find_config(None, environment, folder=here) == own / "mnemoscope.toml"
    (here / "mnemoscope.toml").touch()
    assert find_config(None, environment, folder=here) == here / "mnemoscope.toml"
    named.touch()
    assert find_config(None, {**environment, "MNEMOSCOPE_CONFIG": str(named)}, folder=here) == named
    assert find_config(named, {}, folder=here) == named
    with pytest.raises(ConfigurationError, match="There is no configuration file"):
        find_config(tmp_path / "gone.toml", {}, folder=here)


def test_a_name_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no connection 'x'; there is production, lab, server"):
        loaded(tmp_path, FULL).named("x")


# Secrets


def test_no_secret_is_in_any_form_of_a_connection_or_of_its_errors(tmp_path: Path, caplog: Any) -> None:
    environment = {"PGPASSWORD": SECRET, "LANGGRAPH_KEY": SECRET}
    found = loaded(tmp_path, FULL.replace("db.example:5432", "127.0.0.1:1").replace("agents.example", "127.0.0.1:1"))
    caplog.set_level(logging.DEBUG)
    for name in ("production", "server"):
        connection = found.named(name)
        assert SECRET not in repr(connection) + str(connection) + connection.shown_url
        assert SECRET in connection.secrets(environment)
        with pytest.raises((StoreUnavailableError, ConfigurationError)) as failure:
            open_connection(connection, writing=False, environment=environment).counts()
        seen: BaseException | None = failure.value
        while seen is not None:
            assert SECRET not in str(seen) + repr(seen)
            seen = seen.__cause__
    assert SECRET not in caplog.text


def test_a_header_that_cannot_be_sent_is_refused_without_its_value() -> None:
    headers = (("x-api-key", "${KEY}"),)
    connection = Connection(name="server", url="langgraph://127.0.0.1:1", headers=headers)
    engine = open_connection(connection, environment={"KEY": f"{SECRET}\nmore"})
    with pytest.raises(StoreUnavailableError) as failure:
        engine.counts()
    engine.close()
    assert SECRET not in str(failure.value)


def test_a_password_from_the_environments_address_is_masked() -> None:
    connection = connection_to(f"postgresql://ana:{SECRET}@db/agents")
    assert connection.name == "db/agents"
    assert repr(connection) == "Connection(name='db/agents', url='postgresql://ana:***@db/agents')"


def test_a_variable_that_is_missing_fails_that_connection_alone(tmp_path: Path) -> None:
    found = loaded(tmp_path, FULL)
    with pytest.raises(ConfigurationError, match="'production': the environment variable PGPASSWORD is not set"):
        open_store(found.named("production"), environment={})
    engine = open_connection(found.named("lab"), environment={})
    assert engine.counts() == {}
    engine.close()


# Opening


def factory() -> BaseStore:
    return InMemoryStore(index={"dims": 64, "embed": HashingEmbeddings(64), "fields": ["content"]})


def broken_factory() -> BaseStore:
    raise RuntimeError("no licence")


def test_any_base_store_is_opened_by_its_factory() -> None:
    engine = open_connection(connection_to(f"python:{__name__}:factory"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    assert engine.counts() == {ANA: 1}
    engine.close()


def test_a_factory_that_fails_is_a_store_that_cannot_be_opened() -> None:
    with pytest.raises(StoreUnavailableError, match="broken_factory failed: RuntimeError: no licence"):
        open_connection(connection_to(f"python:{__name__}:broken_factory"))


@pytest.mark.parametrize("writing", [False, True])
def test_a_read_only_connection_can_never_be_written(tmp_path: Path, writing: bool) -> None:
    path = tmp_path / "m.sqlite"
    open_connection(connection_to(str(path), embedder="hashing")).close()
    engine = open_connection(connection_to(str(path), embedder="hashing", read_only=True), writing=writing)
    with pytest.raises(PermissionDeniedError, match="This connection is read-only"):
        engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    assert engine.config.touch_on_recall is False
    engine.close()


def test_without_writing_nothing_is_written_and_a_missing_file_is_not_made(tmp_path: Path) -> None:
    missing = connection_to(str(tmp_path / "new" / "m.sqlite"), embedder="hashing")
    with pytest.raises(StoreUnavailableError, match="with writing switched on, it is made"):
        open_connection(missing, writing=False)
    assert not list(tmp_path.iterdir())
    open_connection(missing).close()
    assert (tmp_path / "new" / "m.sqlite").exists()


def test_a_file_of_another_owner_is_opened_for_reading_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.sqlite"
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    engine.close()
    monkeypatch.setattr("os.access", lambda file, _mode: Path(file) != path)
    engine = open_connection(connection_to(str(path), embedder="hashing"))
    assert isinstance(engine.adapter, View)
    assert engine.adapter.notices == (
        f"The file {path} cannot be written (its permissions forbid it), so it is open for reading alone.",
    )
    assert engine.counts() == {ANA: 1}
    with pytest.raises(PermissionDeniedError, match="cannot be written"):
        engine.forget(ANA, key=engine.list(ANA)[0].key)
    engine.close()


def test_the_fields_are_those_that_the_store_embeds(tmp_path: Path) -> None:
    connection = connection_to(str(tmp_path / "m.sqlite"), embedder="hashing", fields=("title",))
    opened = open_store(connection)
    opened.store.put(ANA, "a", {"title": "green tea", "content": "nothing"})
    assert opened.store.search(ANA, query="green tea")[0].score == pytest.approx(1.0)
    opened.close()


def test_a_profile_is_what_the_engine_works_with(tmp_path: Path) -> None:
    text = (
        '[connections.x]\nurl = "memory:"\nembedder = "hashing"\nprofile = "p"\n[profiles.p]\nrecency_weight = 0.125\n'
    )
    engine = open_connection(loaded(tmp_path, text).named("x"))
    assert engine.config.recency_weight == 0.125
    engine.close()
