"""API keys of users: create, list, rotate, revoke (Document A 5, Document B 4.1)."""
