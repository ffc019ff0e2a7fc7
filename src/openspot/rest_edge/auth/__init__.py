"""Users, their passwords and their sessions (Document A 5)."""
