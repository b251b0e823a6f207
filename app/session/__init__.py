"""What a page works on: the connection, its engine, the scope, the settings."""
