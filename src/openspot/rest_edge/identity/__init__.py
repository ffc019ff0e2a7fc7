"""The wing of users' identity: accounts, passwords, sessions, second factor, API keys."""
