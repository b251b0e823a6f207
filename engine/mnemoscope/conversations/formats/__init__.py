"""Every format of conversation files that can be read, and what is known and refused by name."""

from .chat_apps import CHATGPT, CLAUDE, DEEPSEEK, GROK, LIBRECHAT, OPEN_WEBUI
from .coding_agents import CLAUDE_CODE, CODEX, COPILOT_CHAT, GEMINI_CLI
from .datasets import LOCOMO, SHAREGPT
from .google import AI_STUDIO, GEMINI_ACTIVITY, GEMINI_HTML, GOOGLE_CONTENTS
from .kinds import Format, JsonFormat, RecordFormat, TextFormat
from .messengers import DISCORD, MESSENGER, SLACK, TELEGRAM
from .model_apis import ANTHROPIC, LANGCHAIN, OPENAI, OPENAI_RESPONSES
from .subtitles import SUBRIP, WEBVTT
from .tables import CSV
from .tracing import LANGGRAPH, LANGSMITH
from .transcripts import MARKDOWN, PLAIN_TEXT
from .whatsapp import WHATSAPP

__all__ = ["FORMATS", "JSON_FORMATS", "RECORD_FORMATS", "TEXT_FORMATS"]

FORMATS: tuple[Format, ...] = (
    CHATGPT,
    CLAUDE,
    GEMINI_ACTIVITY,
    GEMINI_HTML,
    AI_STUDIO,
    GROK,
    DEEPSEEK,
    OPEN_WEBUI,
    LIBRECHAT,
    CLAUDE_CODE,
    CODEX,
    GEMINI_CLI,
    COPILOT_CHAT,
    WHATSAPP,
    TELEGRAM,
    SLACK,
    DISCORD,
    MESSENGER,
    WEBVTT,
    SUBRIP,
    LANGSMITH,
    LANGGRAPH,
    GOOGLE_CONTENTS,
    OPENAI_RESPONSES,
    SHAREGPT,
    LOCOMO,
    LANGCHAIN,
    ANTHROPIC,
    OPENAI,
    CSV,
    MARKDOWN,
    PLAIN_TEXT,
)
"""Every format that can be read; the first that recognises a file reads it, so the general ones come last."""

JSON_FORMATS = tuple(row for row in FORMATS if isinstance(row, JsonFormat))
RECORD_FORMATS = tuple(row for row in FORMATS if isinstance(row, RecordFormat))
TEXT_FORMATS = tuple(row for row in FORMATS if isinstance(row, TextFormat))
