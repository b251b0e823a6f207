"""Facts and decisions by rules, without a model."""
