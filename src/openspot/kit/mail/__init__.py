"""Mails: what they are made of, and the way to the mail server."""
