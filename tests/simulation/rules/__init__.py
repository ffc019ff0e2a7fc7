"""What the complete rules of orders promise, stated once more and checked against the engine's journal and events."""
