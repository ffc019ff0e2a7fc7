"""Completed orders that a broker of record reports."""
