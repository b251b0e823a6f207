from .adapter import PostgresAdapter as PostgresAdapter
from .connection import open_postgres as open_postgres
from .writing import lock as lock

__all__ = ["PostgresAdapter", "lock", "open_postgres"]
