"""Content blocks of a message: which of them are text, and what the others are called when left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .text import shown

__all__ = ["BLOCK_LABELS", "CALL_TYPES", "text_of"]

CALL_TYPES = frozenset(
    {
        "tool_use",
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "function_call",
        "server_tool_use",
        "server_tool_call",
    }
)
"""Types of the blocks by which a model calls a tool."""

BLOCK_LABELS: Mapping[str, str] = {
    **dict.fromkeys(CALL_TYPES, "tool call"),
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "tool_result": "tool output",
    "server_tool_result": "tool output",
    "web_search_tool_result": "tool output",
    "function_call_output": "tool output",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "reasoning": "thinking",
    "reasoning_content": "thinking",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "text-plain": "file",
    "refusal": "refusal",
}
"""What a block that is not text is counted as, by its type."""

_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})


def text_of(content: object, left_out: Counter[str], *, joined_by: str) -> str:
    """The text of a message's content; every block that is not text is counted in `left_out`.

    Raises:
        TypeError: the content, or a block of it, is neither text nor a mapping.
    """
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = [_block_text(block, left_out) for block in blocks]
    return joined_by.join(text for text in texts if text)


def _block_text(block: object, left_out: Counter[str]) -> str:
    if block is None:
        return ""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        raise TypeError(f"its content holds {shown(block)}; allowed are text and content blocks.")
    kind, text = block.get("type"), block.get("text")
    if isinstance(text, str) and (kind is None or isinstance(kind, str)) and kind in _TEXT_TYPES:
        return text
    left_out[BLOCK_LABELS.get(str(kind), "other block")] += 1
    return ""
