"""Registering, logging in and out, and the proof by a token of a mail (facts B4.1-31 to B4.1-37)."""
