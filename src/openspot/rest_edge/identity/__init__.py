"""Who users are and how they prove it: accounts, passwords, sessions, second factor, API keys."""
