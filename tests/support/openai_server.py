"""A small model server on the loopback, so that tests drive the real clients of three providers.

It speaks the chat protocols of OpenAI, Anthropic and Google, whole and streamed; the path of a request says which.
Each request is answered by the next of a list of scripted replies; what was asked is kept, so calls can be counted.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

if TYPE_CHECKING:
    from langchain_anthropic import ChatAnthropic
    from langchain_google_genai import ChatGoogleGenerativeAI

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
    def origin(self) -> str:
        """Where it listens; the paths of the three protocols are below it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL for a client of OpenAI's protocol."""
        return f"{self.origin}/v1"

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


@contextmanager
def serving(*replies: Reply) -> Iterator[OpenAIServer]:
    """A server that gives these replies, one a request."""
    server = OpenAIServer(replies)
    try:
        yield server
    finally:
        server.close()


# Clients. They repeat nothing by themselves, so that every request is one of ours.


def client(server: OpenAIServer, **options: Any) -> ChatOpenAI:
    """OpenAI's real client of this server."""
    return ChatOpenAI(
        **{"model": "test-model", "base_url": server.url, "api_key": "none", "max_retries": 0, "timeout": 20, **options}
    )


def anthropic_client(server: OpenAIServer, **options: Any) -> ChatAnthropic:
    """Anthropic's real client of this server."""
    from langchain_anthropic import ChatAnthropic

    given = {"model": "claude-test", "base_url": server.origin, "api_key": "none", "max_retries": 0, "timeout": 20}
    return ChatAnthropic(**{**given, "max_tokens": 1000, **options})


def google_client(server: OpenAIServer, **options: Any) -> ChatGoogleGenerativeAI:
    """Google's real client of this server."""
    from langchain_google_genai import ChatGoogleGenerativeAI

    given = {"model": "gemini-test", "base_url": server.origin, "google_api_key": "none", "timeout": 20}
    # One attempt in all: for this client `max_retries` counts the first one too.
    return ChatGoogleGenerativeAI(**{**given, "max_retries": 1, **options})


CLIENTS: dict[str, Callable[..., BaseChatModel]] = {
    "openai": client,
    "anthropic": anthropic_client,
    "google": google_client,
}
"""A client for each protocol."""


# Replies


@dataclass(frozen=True)
class Said:
    """One answer of a model, in no protocol yet; the arguments of a call are text, which may be broken JSON."""

    text: str = ""
    thoughts: str = ""
    calls: tuple[tuple[str | None, str], ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    cost: float | None = None


def says(
    content: object,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    cost: float | None = None,
    thoughts: str = "",
) -> Reply:
    """An answer of text, or of the JSON of any other value; `thoughts` come before it in a block of their own."""
    return _reply(Said("" if refusal else _text(content), thoughts, finish=finish, refusal=refusal, cost=cost))


def calls(*arguments: object, name: str | None = None, finish: str = "tool_calls", text: str = "") -> Reply:
    """An answer that calls the tool it was given, once for each of these arguments (text as it is, else as JSON)."""
    return _reply(Said(text, calls=tuple((name, _text(each)) for each in arguments), finish=finish))


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


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _reply(said: Said) -> Reply:
    def reply(handler: _Handler, body: dict[str, Any]) -> None:
        is_google = "generateContent" in handler.path or "streamGenerateContent" in handler.path
        if is_google:
            payload = _google(said, body)
            handler.stream([payload]) if "streamGenerateContent" in handler.path else handler.send(200, payload)
        elif handler.path.endswith("/messages"):
            handler.stream(_anthropic_events(said, body)) if body.get("stream") else handler.send(
                200, _anthropic(said, body)
            )
        elif body.get("stream"):
            handler.stream([*_openai_chunks(said, body), "[DONE]"])
        else:
            handler.send(200, _openai(said, body))

    return reply


# OpenAI's chat completions


def _openai(said: Said, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": said.refusal}
    if not said.calls and not said.refusal:
        message["content"] = said.text
    if said.thoughts:
        message["reasoning_content"] = said.thoughts
    if said.calls:
        message["tool_calls"] = [
            {"id": f"call_{at}", "type": "function", "function": {"name": name or _tool(body), "arguments": arguments}}
            for at, (name, arguments) in enumerate(said.calls, start=1)
        ]
    choice = {"index": 0, "message": message, "finish_reason": said.finish, "logprobs": None}
    usage = USAGE if said.cost is None else {**USAGE, "cost": said.cost}
    frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**frame, "choices": [choice], "usage": usage}


def _openai_chunks(said: Said, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    whole = _openai(said, body)["choices"][0]["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": said.text[at : at + 12]} for at in range(0, len(said.text), 12)]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(whole.get("tool_calls", ()))]
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    for delta in deltas:
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": said.finish}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**frame, "choices": [], "usage": USAGE}


def _tool(body: dict[str, Any]) -> str:
    """The name of the one tool that the request offers, in any of the three protocols."""
    tool = body["tools"][0]
    declared = tool.get("function") or (tool.get("functionDeclarations") or [tool])[0]
    return str(declared["name"])


# Anthropic's messages

_ANTHROPIC_ENDINGS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def _anthropic(said: Said, body: dict[str, Any]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    if said.thoughts:
        blocks.append({"type": "thinking", "thinking": said.thoughts, "signature": "s"})
    if said.text or said.refusal:
        blocks.append({"type": "text", "text": said.text or said.refusal})
    for at, (name, arguments) in enumerate(said.calls, start=1):
        blocks.append({"type": "tool_use", "id": f"toolu_{at}", "name": name or _tool(body), "input": _json(arguments)})
    ending = "refusal" if said.refusal else _ANTHROPIC_ENDINGS.get(said.finish, said.finish)
    frame = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    usage = {"input_tokens": USAGE["prompt_tokens"], "output_tokens": USAGE["completion_tokens"]}
    return {**frame, "content": blocks, "stop_reason": ending, "usage": usage}


def _anthropic_events(said: Said, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    whole = _anthropic(said, body)
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for at, block in enumerate(whole["content"]):
        kind = block["type"]
        if kind == "tool_use":
            begun, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": _text(block["input"])}
        elif kind == "thinking":
            begun, delta = {**block, "thinking": ""}, {"type": "thinking_delta", "thinking": block["thinking"]}
        else:
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": at, "content_block": begun}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": USAGE["completion_tokens"]}}
    yield {"type": "message_stop"}


# Google's generateContent

_GOOGLE_ENDINGS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def _google(said: Said, body: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": said.thoughts, "thought": True}] if said.thoughts else []
    parts += [{"text": said.text}] if said.text else []
    parts += [{"functionCall": {"name": name or _tool(body), "args": _json(text)}} for name, text in said.calls]
    ending = "PROHIBITED_CONTENT" if said.refusal else _GOOGLE_ENDINGS.get(said.finish, said.finish)
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": ending, "index": 0}
    usage = dict(zip(("promptTokenCount", "candidatesTokenCount", "totalTokenCount"), USAGE.values(), strict=True))
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-test"}


def _json(arguments: str) -> Any:
    """The arguments of a call where the protocol carries a value: broken JSON cannot be sent there."""
    return json.loads(arguments)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.script.next_reply(body)(self, body)

    @property
    def script(self) -> OpenAIServer:
        return self.server.script  # type: ignore[attr-defined, no-any-return]

    def send(self, status: int, payload: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """Send one JSON object."""
        self._send(status, json.dumps(payload).encode(), {"content-type": "application/json", **(headers or {})})

    def stream(self, events: Iterator[dict[str, Any]] | Sequence[dict[str, Any] | str]) -> None:
        """Send server-sent events; text goes out as it is."""
        lines = []
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            lines.append(f"{name}data: {_text(event)}\n\n")
        self._send(200, "".join(lines).encode(), {"content-type": "text/event-stream"})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        # A connection that is kept would outlive the event loop of the test that opened it.
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""
