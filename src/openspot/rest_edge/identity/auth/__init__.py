"""Registering, logging in and out, and what a token of a mail proves (Document A 5)."""
