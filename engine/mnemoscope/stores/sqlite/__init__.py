"""The official `SqliteStore`, read and written with SQL of our own."""
