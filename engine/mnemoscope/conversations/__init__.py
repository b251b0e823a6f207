"""Messages out of any shape, file or checkpointer."""
