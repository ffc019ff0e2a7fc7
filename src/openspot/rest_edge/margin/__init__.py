"""Margin accounts of users: each route sends one request to the margin risk service."""
