"""From a request to candidates, a ranking, a result and its explanation."""
