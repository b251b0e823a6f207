"""What agents use: tools, nodes, middleware, managers."""
