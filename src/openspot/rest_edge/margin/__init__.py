"""Margin accounts of users. Each route sends one request to the margin risk service."""
