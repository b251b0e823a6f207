"""The frame around pages, and the server under them."""
