"""Verification of the caller: levels, basic information, the provider's webhook."""
