"""Operators' alerts: what goes wrong on the platform, by mail and to a webhook."""
