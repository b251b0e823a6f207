"""One plan: looked at, corrected, committed."""
