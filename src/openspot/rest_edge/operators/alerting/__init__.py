"""Operators' alerts in the console: what is raised, where alerts go, and tries of the way."""
