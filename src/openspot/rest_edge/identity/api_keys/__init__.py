"""API keys of users: create, list, rotate, revoke (facts A5-12 to A5-16 and B4.1-80 to B4.1-83)."""
