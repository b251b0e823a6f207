from .checkpointers import open_checkpointer as open_checkpointer
from .checkpoints import Thread as Thread
from .checkpoints import list_threads as list_threads
from .checkpoints import read_thread as read_thread
from .conversation import Conversation as Conversation
from .conversation import Unreadable as Unreadable
from .json_stream import JsonFault as JsonFault
from .json_stream import json_items as json_items
from .messages import Transcript as Transcript
from .messages import moment_of as moment_of
from .messages import read_messages as read_messages
from .reader import FORMATS as FORMATS
from .reader import read_conversations as read_conversations
from .reader import recognise as recognise
from .samples import ExpectedMemory as ExpectedMemory
from .samples import SampleConversation as SampleConversation
from .samples import load_samples as load_samples
from .samples import read_sample as read_sample
from .samples import write_sample as write_sample

__all__ = [
    "FORMATS",
    "Conversation",
    "ExpectedMemory",
    "JsonFault",
    "SampleConversation",
    "Thread",
    "Transcript",
    "Unreadable",
    "json_items",
    "list_threads",
    "load_samples",
    "moment_of",
    "open_checkpointer",
    "read_conversations",
    "read_messages",
    "read_sample",
    "read_thread",
    "recognise",
    "write_sample",
]
