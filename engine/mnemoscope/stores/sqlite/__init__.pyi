from .adapter import SqliteAdapter as SqliteAdapter
from .connection import FileConnection as FileConnection
from .connection import open_sqlite as open_sqlite
from .write_log import WriteLog as WriteLog

__all__ = ["FileConnection", "SqliteAdapter", "WriteLog", "open_sqlite"]
