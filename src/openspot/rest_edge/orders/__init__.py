"""Orders: place, look up, cancel (Document A 1.3, 1.4, 2.1)."""
