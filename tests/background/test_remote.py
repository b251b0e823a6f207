"""Conversations handed over to a LangGraph server, over real HTTP to a server that runs a real graph when asked."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from engine_fixture import ANA, BEN, contents, engine_over
from langgraph.graph import START, MessagesState, StateGraph
from mnemoscope import InputError, StoreError, StoreUnavailableError
from mnemoscope.background import RemoteBackground

KEY = "the-servers-key"


class Api(BaseHTTPRequestHandler):
    """The end point that makes runs, as a LangGraph server has it; `asked` keeps what came."""

    asked: list[tuple[str, dict[str, Any]]]
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        status = self.status if self.headers.get("x-api-key") == KEY else 403
        content = json.dumps({"run_id": str(uuid.uuid4())} if status == 200 else {"detail": KEY}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def api() -> Iterator[tuple[str, type[Api]]]:
    handler = type("Handler", (Api,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    server.server_close()
    thread.join()


def remote(url: str) -> RemoteBackground:
    return RemoteBackground(url, "remember", headers={"x-api-key": KEY}, secrets=[KEY])


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "id": f"turn-{text}"} for text in texts]


def test_the_callers_configuration_is_kept_and_not_changed(api: tuple[str, type[Api]]) -> None:
    url, handler = api
    config: Any = {
        "tags": ["shop"],
        "metadata": {"team": "support"},
        "configurable": {
            "tenant": "acme", "nested": {"a": [1]}, "thread_id": "t1", "checkpoint_id": "c", "__pregel_task_id": "p",
        },
    }  # fmt: skip
    before = copy.deepcopy(config)
    with remote(url) as background:
        run = background.submit(said("Tea"), ANA, "t1", after_seconds=1.2, config=config)
    assert config == before
    path, body = handler.asked[0]
    assert uuid.UUID(run or "")
    assert path == f"/threads/{uuid.UUID(path.split('/')[2])}/runs"
    assert body["config"]["configurable"] == {"tenant": "acme", "nested": {"a": [1]}, "memory_namespace": list(ANA)}
    assert body["config"]["tags"] == ["shop"]
    assert body["metadata"] == {"team": "support", "memory_thread": "t1"}
    assert [body[name] for name in ("assistant_id", "multitask_strategy", "if_not_exists", "after_seconds")] == [
        "remember", "enqueue", "create", 2,
    ]  # fmt: skip


def test_runs_of_one_conversation_share_a_thread_and_no_two_users_do(api: tuple[str, type[Api]]) -> None:
    url, handler = api
    with remote(url) as background:
        for namespace, thread in ((ANA, "t1"), (ANA, "t1"), (ANA, "t2"), (BEN, "t1"), (ANA, None), (BEN, None)):
            background.submit("Tea", namespace, thread)
    threads = [path for path, _ in handler.asked]
    assert threads[0] == threads[1]
    assert len(set(threads)) == 5
    assert handler.asked[0][1]["input"] == {"messages": [{"role": "user", "content": "Tea"}]}


def test_what_is_submitted_is_what_a_graph_with_a_remember_node_remembers_once(api: tuple[str, type[Api]]) -> None:
    url, handler = api
    engine = engine_over()
    graph = StateGraph(MessagesState)
    graph.add_node("remember", engine.agents.remember_node())
    graph.add_edge(START, "remember")
    compiled = graph.compile()
    with remote(url) as background:
        background.submit(said("Tea"), ANA, "t1")
        asyncio.run(background.asubmit(said("Tea", "Jazz"), ANA, "t1"))
    for _, body in handler.asked:
        compiled.invoke(body["input"], body["config"])
    assert contents(engine) == ["Jazz", "Tea"]
    assert len(engine.history(ANA)) == 2


def test_where_nothing_was_said_nothing_is_asked_of_the_server(api: tuple[str, type[Api]]) -> None:
    url, handler = api
    with remote(url) as background:
        assert background.submit([], ANA) is None
        with pytest.raises(InputError, match="nothing to remember"):
            background.submit(42, ANA)
        with pytest.raises(InputError, match="after_seconds"):
            background.submit("Tea", ANA, after_seconds=-1)
    assert handler.asked == []


def test_a_server_that_refuses_or_is_not_there_is_an_error_without_secrets(api: tuple[str, type[Api]]) -> None:
    url, handler = api
    handler.status = 500
    with remote(url) as background, pytest.raises(StoreError, match="refused the run") as refused:
        background.submit("Tea", ANA)
    assert KEY not in str(refused.value)
    with remote("http://127.0.0.1:9") as background, pytest.raises(StoreUnavailableError, match="cannot be reached"):
        background.submit("Tea", ANA)
