"""Clients of the matching engine, and the settings by which they find it."""
