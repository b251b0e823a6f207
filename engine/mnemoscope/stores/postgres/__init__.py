"""The official `PostgresStore`, read and written with SQL of our own."""
