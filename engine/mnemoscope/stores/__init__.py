"""One adapter a store; `base` says what an adapter does."""
