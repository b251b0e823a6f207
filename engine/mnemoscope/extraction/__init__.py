"""From a conversation to facts."""
