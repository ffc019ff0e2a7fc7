"""Sessions: how they begin, which there are, and how they end in all processes."""
