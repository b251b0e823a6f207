"""What a recall returns, ranked and explained."""
