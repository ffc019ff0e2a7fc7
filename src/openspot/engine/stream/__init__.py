"""The engine's events: in memory, on disk, and as JSON."""
