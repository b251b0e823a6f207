"""What a provider's error means: the class of failure, and what of an answer came with it.

Providers' packages are not imported: their errors are told apart by the names of their classes, by HTTP status and by
the fields that they share.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

__all__ = ["answer_within", "failure_of", "is_unsupported", "seconds_to_wait"]


_BY_NAME = (
    ("LengthFinish", "truncated"),
    ("ContentFilter", "refused"),
    ("Refusal", "refused"),
    ("RateLimit", "rate_limited"),
    ("TooManyRequests", "rate_limited"),
    ("ResourceExhausted", "rate_limited"),
    ("Throttling", "rate_limited"),
    ("Timeout", "timed_out"),
    ("DeadlineExceeded", "timed_out"),
)
_BY_STATUS = {408: "timed_out", 429: "rate_limited", 504: "timed_out", 529: "rate_limited"}
_UNSUPPORTED = frozenset({400, 404, 405, 415, 422, 501})


def failure_of(error: BaseException) -> str:
    """The class of `ModelError` that an error of a provider's client belongs to."""
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    if getattr(error, "code", None) == "content_filter":
        return "refused"
    for word, failure in _BY_NAME:
        if word in names:
            return failure
    return _BY_STATUS.get(_status(error) or 0, "provider_error")


def is_unsupported(error: BaseException) -> bool:
    """Whether the request was turned down unread, so that asking in a simpler way may help."""
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    is_too_long = "ContextOverflow" in names or getattr(error, "code", None) == "context_length_exceeded"
    if failure_of(error) != "provider_error" or is_too_long:
        return False
    return isinstance(error, NotImplementedError) or _status(error) in _UNSUPPORTED


def answer_within(error: BaseException) -> AIMessage | None:
    """The unfinished answer that an error carries, as OpenAI's client raises one that was cut off or filtered."""
    completion: Any = getattr(error, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return None
    choice, usage = choices[0], getattr(completion, "usage", None)
    counted = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    answer = AIMessage(content=choice.message.content or "", response_metadata={"finish_reason": choice.finish_reason})
    if isinstance(counted[0], int) and isinstance(counted[1], int):
        answer.usage_metadata = {
            "input_tokens": counted[0],
            "output_tokens": counted[1],
            "total_tokens": counted[0] + counted[1],
        }
    return answer


def seconds_to_wait(error: BaseException) -> str | None:
    """How long the provider asks to wait before the next request, as it says it."""
    for told in _told_by(error):
        headers = getattr(getattr(told, "response", None), "headers", None)
        wait = headers.get("retry-after") if headers is not None else None
        if isinstance(wait, str):
            return wait
    return None


def _status(error: BaseException) -> int | None:
    for told in _told_by(error):
        response = getattr(told, "response", None)
        places = ((told, "status_code"), (response, "status_code"), (told, "code"))
        status = next((found for place, name in places if isinstance(found := getattr(place, name, None), int)), None)
        if status is not None:
            return status
    return None


def _told_by(error: BaseException) -> tuple[BaseException, ...]:
    """The error and its cause: Google's client wraps the one that holds the response."""
    return (error,) if error.__cause__ is None else (error, error.__cause__)
