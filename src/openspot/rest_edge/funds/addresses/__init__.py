"""Saved withdrawal addresses of the caller."""
