"""A small server that speaks OpenAI's chat protocol on the loopback, so that tests drive the real client.

Each request is answered by the next of a list of scripted replies; what was asked is kept, so calls can be counted.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from langchain_openai import ChatOpenAI

BY_CALL = {"profile": {"structured_output": False}}
"""Options of a client whose model knows tool calls and no JSON schema."""

IN_PROSE = {"profile": {"structured_output": False, "tool_calling": False}}
"""Options of a client whose model knows neither."""

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

Reply: TypeAlias = Callable[["_Handler", dict[str, Any]], None]
"""Answers one request."""


class OpenAIServer:
    """The server and what it was asked: `requests` are the JSON bodies in order."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.is_closing = threading.Event()
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.script = self  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_reply(self, body: dict[str, Any]) -> Reply:
        """The reply to this request; where the script has ended, an error that a test cannot overlook."""
        with self._lock:
            self.requests.append(body)
            return self._replies.pop(0) if self._replies else fails(418, "the script has no further reply")

    def close(self) -> None:
        """Stop serving and let hanging replies go."""
        self.is_closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.script.next_reply(body)(self, body)

    @property
    def script(self) -> OpenAIServer:
        return self.server.script  # type: ignore[attr-defined, no-any-return]

    def send(self, status: int, payload: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@contextmanager
def serving(*replies: Reply) -> Iterator[OpenAIServer]:
    """A server that gives these replies, one a request."""
    server = OpenAIServer(replies)
    try:
        yield server
    finally:
        server.close()


def client(server: OpenAIServer, **options: Any) -> ChatOpenAI:
    """The real client of this server. It repeats nothing by itself, so that every request is one of ours."""
    return ChatOpenAI(
        **{"model": "test-model", "base_url": server.url, "api_key": "none", "max_retries": 0, "timeout": 20, **options}
    )


def says(content: object, *, finish: str = "stop", refusal: str | None = None, cost: float | None = None) -> Reply:
    """An answer of text, or of the JSON of any other value."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    return _completion(message, finish, cost)


def calls(arguments: object, *, name: str | None = None, finish: str = "tool_calls") -> Reply:
    """An answer that calls the tool it was given, with these arguments (text as it is, else as JSON)."""

    def reply(handler: _Handler, body: dict[str, Any]) -> None:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        function = {"name": name or body["tools"][0]["function"]["name"], "arguments": text}
        tool_call = {"id": "call_1", "type": "function", "function": function}
        _completion({"role": "assistant", "content": None, "tool_calls": [tool_call]}, finish)(handler, body)

    return reply


def fails(status: int, message: str, *, code: str | None = None, headers: dict[str, str] | None = None) -> Reply:
    """An error of the provider."""

    def reply(handler: _Handler, _: dict[str, Any]) -> None:
        handler.send(status, {"error": {"message": message, "type": "error", "code": code}}, headers)

    return reply


def hangs(handler: _Handler, _: dict[str, Any]) -> None:
    """No answer at all until the test is over."""
    handler.script.is_closing.wait(30)
    handler.close_connection = True


def drops(handler: _Handler, _: dict[str, Any]) -> None:
    """The connection breaks before the answer."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def _completion(message: dict[str, Any], finish: str, cost: float | None = None) -> Reply:
    def reply(handler: _Handler, body: dict[str, Any]) -> None:
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        usage = USAGE if cost is None else {**USAGE, "cost": cost}
        frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
        handler.send(200, {**frame, "choices": [choice], "usage": usage})

    return reply
